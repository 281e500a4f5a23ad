//! What holds a capture's work back.

use std::fmt;

use super::evidence::Evidence;
use super::shares::{BusyShares, WorkBasis};
use crate::analysis::api::{ApiFunction, fold_calls};
use crate::analysis::steps::{StepBound, StepSeries};
use crate::busy::{DeviceBusy, GpuWork};
use crate::error::Result;
use crate::ids::DeviceKey;
use crate::query::Window;
use crate::trace::Trace;
use crate::units::{FracNanos, Nanos, Share};

/// What holds the work back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaptureBound {
    /// Copies.
    Copies,
    /// Calls that wait for the GPU while it is mostly idle.
    Synchronization,
    /// The host: the GPU waits for it.
    Host,
    /// Communication with other ranks.
    Communication,
    /// Kernels.
    Kernel,
    /// Kernels or communication: graphs traced as a whole do not show which.
    WithinGraphs,
}

impl fmt::Display for CaptureBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Copies => "memcpy-bound",
            Self::Synchronization => "sync-bound",
            Self::Host => "host-bound",
            Self::Communication => "comm-bound",
            Self::Kernel => "kernel-bound",
            Self::WithinGraphs => "kernel- or comm-bound",
        })
    }
}

/// A bound and the figure it follows from.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BoundFinding {
    /// The rank that worked longest. Time in which it only communicated is left out, since much of that is waiting for
    /// the rank that still works.
    pub device: DeviceKey,
    /// What bounds it.
    pub bound: CaptureBound,
    /// The share that decided: copies of the work's time, waiting calls of all calls' time, exposed communication of the
    /// median step's busy time, or idle time.
    pub share: Share,
    /// The share from which on it decides.
    pub threshold: Share,
}

/// Copies above this share of the time bound the work; the threshold of NVIDIA's published DeepStream profiling guide.
const COPIES_ABOVE: Share = Share(0.15);
/// Waiting calls above this share of all calls' time bound the work of an idle GPU; from the same guide.
const WAITING_ABOVE: Share = Share(0.30);
/// Idle time above this share means that the GPU waits for the host. The same share as for steps.
const IDLE_ABOVE: Share = Share(0.40);

/// The bound of the rank that worked longest; `None` without work whose extent is known.
pub(super) fn of(
    trace: &Trace,
    evidence: &Evidence,
    shares: &[BusyShares],
) -> Result<Option<BoundFinding>> {
    let longest = evidence
        .ranks()
        .max_by_key(|rank| rank.busy_time() - communicating_only(evidence, rank.device));
    let Some(rank) = longest else {
        return Ok(None);
    };
    let Some((basis, part, busy)) = shares
        .iter()
        .find(|shares| shares.device == rank.device)
        .and_then(|shares| {
            let (basis, part) = shares.work?;
            Some((basis, part, shares.of_work?))
        })
    else {
        return Ok(None);
    };
    let finding = |bound, share, threshold| BoundFinding {
        device: rank.device,
        bound,
        share,
        threshold,
    };
    let window = Window {
        from: part.start,
        to: part.end,
    };
    let copies = copy_time(rank, window).share_of(part.duration());
    if let Some(copies) = copies
        && copies > COPIES_ABOVE
    {
        return Ok(Some(finding(CaptureBound::Copies, copies, COPIES_ABOVE)));
    }
    let idle = Share(1.0 - busy.0);
    if basis == WorkBasis::Steps {
        let of_steps = evidence
            .steps
            .found()
            .find(|(device, _)| *device == rank.device)
            .and_then(|(_, series)| {
                let (bound, share) = of_step(series)?;
                Some(finding(bound, share, IDLE_ABOVE))
            });
        return Ok(of_steps);
    }
    if idle > IDLE_ABOVE {
        let waiting = waiting_share(trace, rank.device, window)?;
        return Ok(Some(match waiting {
            Some(waiting) if waiting > WAITING_ABOVE => {
                finding(CaptureBound::Synchronization, waiting, WAITING_ABOVE)
            }
            _ => finding(CaptureBound::Host, idle, IDLE_ABOVE),
        }));
    }
    let bound = if rank.is_upper_figure() {
        CaptureBound::WithinGraphs
    } else {
        CaptureBound::Kernel
    };
    Ok(Some(finding(bound, idle, IDLE_ABOVE)))
}

/// What the median step waits for, and the share that says so: of exposed communication in its busy time, else of idle time
/// in the step. Both decide from the same share on.
fn of_step(series: &StepSeries) -> Option<(CaptureBound, Share)> {
    let share =
        |part: FracNanos, whole: FracNanos| (whole.0 > 0.0).then(|| Share(part.0 / whole.0));
    let idle = || share(series.idle.median, series.duration.median);
    Some(match series.bound {
        StepBound::Host => (CaptureBound::Host, idle()?),
        StepBound::Communication => {
            let (exposed, _) = series.communication?;
            (
                CaptureBound::Communication,
                share(exposed, series.busy.median)?,
            )
        }
        StepBound::Kernel => (CaptureBound::Kernel, idle()?),
        StepBound::WithinGraphs => (CaptureBound::WithinGraphs, idle()?),
    })
}

/// The time of a rank's steps in which nothing but communication ran, as far as graphs do not hide it.
fn communicating_only(evidence: &Evidence, device: DeviceKey) -> Nanos {
    let found = evidence.steps.found();
    found
        .filter(|(found, _)| *found == device)
        .flat_map(|(_, series)| &series.steps)
        .filter_map(|step| Some(step.communication?.exposed))
        .sum()
}

fn copy_time(rank: &DeviceBusy, window: Window) -> Nanos {
    rank.work.get(&GpuWork::Copy).map_or(Nanos::ZERO, |copies| {
        copies.intervals.within(window).total()
    })
}

/// The share of the process's time in CUDA calls that waiting for the GPU takes.
fn waiting_share(trace: &Trace, device: DeviceKey, window: Window) -> Result<Option<Share>> {
    let parts = fold_calls(trace, <(Nanos, Nanos)>::default, |(all, waiting), call| {
        let (start, end) = (Nanos(call.start), Nanos(call.end));
        if call.process == device.process && start <= end && window.holds(start, end) {
            let inside = end.min(window.to) - start.max(window.from);
            *all += inside;
            if call.function == ApiFunction::Synchronization {
                *waiting += inside;
            }
        }
    })?;
    let all: Nanos = parts.iter().map(|(all, _)| *all).sum();
    let waiting: Nanos = parts.iter().map(|(_, waiting)| *waiting).sum();
    Ok(waiting.share_of(all))
}
