//! Launch, queue and kernel time.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::kernels::Prefixes;
use super::{Cell, Heading, Output, Report, ReportOptions};
use crate::error::Result;
use crate::grouped::{Grouped, Merge};
use crate::ids::{ProcessKey, ThreadKey};
use crate::launch::{Near, Shares, without_near};
use crate::rows::Column;
use crate::samples::{Samples, Summary};
use crate::summary::{KERNEL_TABLE, without_version};
use crate::trace::Trace;
use crate::units::Nanos;

const HEADING: Heading = Heading {
    report: "cuda_kern_exec_sum",
    title: "CUDA Kernel Launch & Exec Time Summary",
    columns: &[
        "PID",
        "TID",
        "DevId",
        "Count",
        "QCount",
        "TAvg (ns)",
        "TMed (ns)",
        "TMin (ns)",
        "TMax (ns)",
        "TStdDev (ns)",
        "AAvg (ns)",
        "AMed (ns)",
        "AMin (ns)",
        "AMax (ns)",
        "AStdDev (ns)",
        "QAvg (ns)",
        "QMed (ns)",
        "QMin (ns)",
        "QMax (ns)",
        "QStdDev (ns)",
        "KAvg (ns)",
        "KMed (ns)",
        "KMin (ns)",
        "KMax (ns)",
        "KStdDev (ns)",
        "API Name",
        "Kernel Name",
    ],
};

/// The phases of the launches of one kernel.
#[derive(Debug, Default)]
struct Phases {
    /// From the start of the call to the end of the kernel, or of the call where that comes later.
    total: Samples,
    /// The call.
    call: Samples,
    /// From the end of the call to the start of the kernel, where the kernel did not start before.
    queue: Samples,
    /// The kernel.
    kernel: Samples,
}

impl Merge for Phases {
    fn merge(&mut self, other: Self) {
        self.total.merge(other.total);
        self.call.merge(other.call);
        self.queue.merge(other.queue);
        self.kernel.merge(other.kernel);
    }
}

/// Thread, device, string ids of call and kernel, and the range whose name stands before the kernel's.
type RawKey = (ThreadKey, i64, i64, Option<i64>, Option<usize>);

pub(super) fn summary(
    trace: &Trace,
    report: Report,
    options: ReportOptions,
    output: &mut Output<'_>,
) -> Result<()> {
    let prefixes = Prefixes::of(trace, report)?;
    let always = Column::always;
    let if_there = Column::if_there;
    let columns = [
        always("start"),
        always("end"),
        always(report.naming.column_of(trace)),
        always("deviceId"),
        if_there("globalPid"),
        if_there("correlationId"),
    ];
    let mut by_key: Grouped<RawKey, Phases> = Grouped::default();
    let mut shares = Shares::of(trace, &[KERNEL_TABLE])?;
    while let Some(share) = shares.next()? {
        let launches = &share.launches;
        let around = prefixes.as_ref().map(|prefixes| prefixes.around(launches));
        let parts = share.fold_parts(
            trace,
            KERNEL_TABLE,
            &columns,
            || (Grouped::<RawKey, Phases>::default(), Near::default()),
            |(groups, near), fields| {
                let (start, end): (i64, i64) = (fields.get(0)?, fields.get(1)?);
                if !options.window.holds(Nanos(start), Nanos(end)) {
                    return Ok(());
                }
                let process = ProcessKey::of(fields.get::<Option<i64>>(4)?.unwrap_or_default());
                let correlation: Option<i64> = fields.get(5)?;
                if !share.holds(correlation) {
                    return Ok(());
                }
                let slot = correlation
                    .and_then(|correlation| launches.slot_near(near, process, correlation));
                // A kernel whose call is not in the export has no phases.
                let Some((slot, call)) = slot.and_then(|slot| Some((slot, launches.call(slot)?)))
                else {
                    return Ok(());
                };
                let prefix = prefixes
                    .as_ref()
                    .zip(around.as_ref())
                    .and_then(|(prefixes, around)| prefixes.position(around, slot));
                let key = (
                    launches.thread(call),
                    fields.get(3)?,
                    launches.name(call),
                    fields.get(2)?,
                    prefix,
                );
                let phases = groups.entry(key);
                phases
                    .total
                    .push(end.max(call.end).saturating_sub(call.start));
                phases.call.push(call.end.saturating_sub(call.start));
                phases.kernel.push(end.saturating_sub(start));
                // A kernel that starts in the instant in which its call ends has waited for 0 ns, which counts.
                if start >= call.end {
                    phases.queue.push(start.saturating_sub(call.end));
                }
                Ok(())
            },
        )?;
        by_key.join(without_near(parts));
    }
    let mut by_name: BTreeMap<(ThreadKey, i64, String, String), Phases> = BTreeMap::new();
    for ((thread, device, call, kernel, prefix), phases) in by_key.into_groups() {
        let call = without_version(&trace.name(Some(call))?).to_owned();
        let kernel = trace.name(kernel)?;
        let kernel = match prefixes.as_ref().zip(prefix) {
            Some((prefixes, prefix)) => prefixes.prefixed(prefix, &kernel),
            None => kernel.to_string(),
        };
        by_name
            .entry((thread, device, call, kernel))
            .or_default()
            .merge(phases);
    }
    let mut rows: Vec<_> = by_name
        .into_iter()
        .filter_map(|(key, phases)| {
            let queue = phases.queue.summary();
            let ((total, call), kernel) = phases
                .total
                .summary()
                .zip(phases.call.summary())
                .zip(phases.kernel.summary())?;
            Some((
                key,
                [Some(total), Some(call), queue, Some(kernel)],
                total.mean,
            ))
        })
        .collect();
    // Stable: the keys, by which the rows come sorted, decide ties.
    rows.sort_by(|a, b| b.2.total_cmp(&a.2));
    output.heading(HEADING);
    for ((thread, device, call, kernel), phases, _) in &rows {
        let count = |figures: &Option<Summary>| {
            Cell::Integer(figures.map_or(0, |figures| {
                i64::try_from(figures.count).unwrap_or(i64::MAX)
            }))
        };
        let mut cells = vec![
            Cell::Integer(i64::from(thread.process().pid())),
            Cell::Integer(i64::from(thread.tid())),
            Cell::Integer(*device),
            count(&phases[0]),
            count(&phases[2]),
        ];
        cells.extend(phases.iter().flat_map(phase_cells));
        cells.push(Cell::Text(Cow::Borrowed(call)));
        cells.push(Cell::Text(Cow::Borrowed(kernel)));
        output.row(&cells)?;
    }
    Ok(())
}

/// Mean, median, least, most and deviation; of nothing only the deviation is printed, as 0.
fn phase_cells<'a>(figures: &Option<Summary>) -> [Cell<'a>; 5] {
    match figures {
        Some(figures) => [
            Cell::tenths(figures.mean),
            Cell::tenths(figures.median),
            Cell::Integer(figures.min),
            Cell::Integer(figures.max),
            Cell::tenths(figures.stddev),
        ],
        None => [
            Cell::Empty,
            Cell::Empty,
            Cell::Empty,
            Cell::Empty,
            Cell::tenths(0.0),
        ],
    }
}
