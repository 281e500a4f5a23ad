//! Everything that the gates ask for, gathered in one go.

use std::collections::BTreeSet;

use crate::analysis::api::{CallCounts, HostCalls};
use crate::analysis::steps::{self, StepOptions, Steps};
use crate::analysis::work::column;
use crate::busy::{Busy, DeviceBusy, GpuWork, Interval};
use crate::error::Result;
use crate::ids::ProcessKey;
use crate::kineto::Kineto;
use crate::launch::Launches;
use crate::query::Window;
use crate::rows::Needed;
use crate::summary::KERNEL_TABLE;
use crate::trace::{CaptureSettings, Diagnostic, ExportVersion, Gpu, Trace};
use crate::units::Nanos;

/// What is known of the session's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionEnd {
    /// The export says when the session ended.
    Recorded(Nanos),
    /// It does not; this is when the last call of the CUDA API ended.
    LastCall(Nanos),
}

impl SessionEnd {
    pub(super) fn time(self) -> Nanos {
        match self {
            Self::Recorded(time) | Self::LastCall(time) => time,
        }
    }
}

#[derive(Debug)]
pub(super) struct Evidence {
    pub(super) version: ExportVersion,
    pub(super) capture: CaptureSettings,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) gpus: Vec<Gpu>,
    pub(super) calls: HostCalls,
    pub(super) busy: Busy,
    /// Work that belongs to a node of a graph.
    pub(super) node_rows: u64,
    /// Kernels that start before the call that launched them.
    pub(super) early_kernels: u64,
    pub(super) window: Window,
    pub(super) session_end: Option<SessionEnd>,
    pub(super) steps: Steps,
    /// What the file says about itself, where PyTorch's profiler wrote it.
    pub(super) kineto: Option<Kineto>,
    /// Processes with GPU work anywhere in the session, of which the window may show the launches alone.
    pub(super) delivering: BTreeSet<ProcessKey>,
    /// When there is GPU work, where the window itself holds none.
    pub(super) work_elsewhere: Option<Interval>,
}

impl Evidence {
    pub(super) fn gather(trace: &Trace, options: &StepOptions) -> Result<Self> {
        let window = options.window;
        // First, since it takes most memory: what it needs is released before the timelines are built.
        let (node_rows, early_kernels) = kernel_evidence(trace, window)?;
        let mut calls = HostCalls::read(trace, window)?;
        let busy = trace.busy(window)?;
        let whole = match window {
            Window::ALL => None,
            _ => Some(trace.busy(Window::ALL)?),
        };
        let anywhere = || working(whole.as_ref().unwrap_or(&busy));
        let is_empty = working(&busy).next().is_none();
        let work_elsewhere = anywhere()
            .filter(|_| is_empty)
            .filter_map(DeviceBusy::span)
            .reduce(|a, b| Interval {
                start: a.start.min(b.start),
                end: a.end.max(b.end),
            });
        let delivering = anywhere().map(|rank| rank.device.process).collect();
        if is_empty && work_elsewhere.is_none() && window != Window::ALL {
            // Why a capture is empty is a question to all of its calls, whichever part was asked for.
            calls = HostCalls::read(trace, Window::ALL)?;
        }
        let steps = steps::find(trace, options, &calls, &busy)?;
        let recorded = trace.session_duration()?.map(SessionEnd::Recorded);
        Ok(Self {
            version: trace.version().clone(),
            capture: trace.capture().clone(),
            diagnostics: trace.diagnostics()?,
            gpus: trace.gpus()?,
            session_end: recorded.or(calls.last.map(SessionEnd::LastCall)),
            calls,
            busy,
            node_rows,
            early_kernels,
            window,
            steps,
            kineto: trace.kineto().cloned(),
            delivering,
            work_elsewhere,
        })
    }

    /// How many operations of one kind there were on all devices.
    pub(super) fn rows(&self, kind: GpuWork) -> u64 {
        let devices = self.busy.devices.iter();
        devices
            .filter_map(|device| device.work.get(&kind))
            .map(|work| work.count)
            .sum()
    }

    /// How many operations there were at all.
    pub(super) fn all_rows(&self) -> u64 {
        GpuWork::ALL.into_iter().map(|kind| self.rows(kind)).sum()
    }

    pub(super) fn dropped_rows(&self) -> u64 {
        self.busy.devices.iter().map(DeviceBusy::dropped).sum()
    }

    /// Calls of all processes within the window.
    pub(super) fn all_calls(&self) -> CallCounts {
        let counts = self.calls.counts.values();
        counts.fold(CallCounts::default(), |sum, counts| sum.plus(*counts))
    }

    /// The devices that did any work.
    pub(super) fn ranks(&self) -> impl Iterator<Item = &DeviceBusy> {
        working(&self.busy)
    }

    /// Whether GPU work arrived at all, in the window or elsewhere.
    pub(super) fn has_work_anywhere(&self) -> bool {
        self.all_rows() > 0 || self.work_elsewhere.is_some()
    }

    /// The messages that hold one of the texts, each once, with single spaces.
    pub(super) fn quotes(&self, texts: &[&str]) -> Vec<String> {
        let mut quotes = Vec::new();
        for diagnostic in &self.diagnostics {
            if texts.iter().any(|wanted| diagnostic.text.contains(wanted)) {
                let words: Vec<&str> = diagnostic.text.split_whitespace().collect();
                let quote = words.join(" ");
                if !quotes.contains(&quote) {
                    quotes.push(quote);
                }
            }
        }
        quotes
    }
}

/// The devices that did any work.
fn working(busy: &Busy) -> impl Iterator<Item = &DeviceBusy> {
    let devices = busy.devices.iter();
    devices.filter(|device| !device.busy.is_empty())
}

/// Kernels that belong to a graph's node, and those that start before their launch.
fn kernel_evidence(trace: &Trace, window: Window) -> Result<(u64, u64)> {
    let launches = Launches::of(trace, &[KERNEL_TABLE])?;
    let columns = [
        column("start", Needed::Always),
        column("end", Needed::Always),
        column("globalPid", Needed::IfThere),
        column("correlationId", Needed::IfThere),
        column("graphNodeId", Needed::IfThere),
    ];
    let parts = trace.fold_parts(
        KERNEL_TABLE,
        &columns,
        <(u64, u64)>::default,
        |(nodes, early), fields| {
            let (start, end): (i64, i64) = (fields.get(0)?, fields.get(1)?);
            if (start == 0 && end == 0) || end < start || !window.holds(Nanos(start), Nanos(end)) {
                return Ok(());
            }
            *nodes += u64::from(fields.get::<Option<i64>>(4)?.is_some());
            let process = ProcessKey::of(fields.get::<Option<i64>>(2)?.unwrap_or_default());
            let call = fields
                .get::<Option<i64>>(3)?
                .and_then(|correlation| launches.slot(process, correlation))
                .and_then(|slot| launches.call(slot));
            *early += u64::from(call.is_some_and(|call| start < call.start));
            Ok(())
        },
    )?;
    let parts = parts.unwrap_or_default();
    Ok(parts
        .into_iter()
        .fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1)))
}
