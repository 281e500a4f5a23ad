//! Unified memory by the address that migrated.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::memory::{megabytes, whole};
use super::trace::throughput;
use super::{Cell, Heading, Output, Report, ReportOptions};
use crate::error::Result;
use crate::rows::records;
use crate::summary::CopyKind;
use crate::trace::Trace;
use crate::units::Nanos;

/// The blank before `GPU Page Faults` is the original's.
const HEADING: Heading = Heading {
    report: "um_sum",
    title: "Unified Memory Analysis Summary",
    columns: &[
        "Virtual Address",
        "HtoD Migration size (MB)",
        "DtoH Migration size (MB)",
        "CPU Page Faults",
        " GPU Page Faults",
        "Migration Throughput (MB/s)",
    ],
};

/// How many rows are printed when no number is asked for, as `nsys stats` documents it.
const DEFAULT_ROWS: usize = 10;

/// What happened at one address.
#[derive(Debug, Default)]
struct Pages {
    to_device: Option<i64>,
    to_host: Option<i64>,
    migration_time: i64,
    cpu_faults: Option<i64>,
    gpu_faults: Option<i64>,
}

impl Pages {
    /// Megabytes a second over both directions, where anything moved.
    fn throughput(&self) -> Cell<'static> {
        let moved = self
            .to_device
            .into_iter()
            .chain(self.to_host)
            .reduce(i64::saturating_add);
        moved.map_or(Cell::Empty, |bytes| throughput(bytes, self.migration_time))
    }
}

fn add(sum: &mut Option<i64>, more: i64) {
    *sum = Some(sum.unwrap_or_default().saturating_add(more));
}

records! {
    struct Migration: "CUPTI_ACTIVITY_KIND_MEMCPY" {
        start: i64 = "start",
        end: i64 = "end",
        bytes: i64 = "bytes",
        kind: i64 = "copyKind",
        address: Option<i64> = "virtualAddress",
    }
    struct CpuFault: "CUDA_UM_CPU_PAGE_FAULT_EVENTS" {
        start: i64 = "start",
        address: i64 = "address",
    }
    struct GpuFault: "CUDA_UM_GPU_PAGE_FAULT_EVENTS" {
        start: i64 = "start",
        address: i64 = "address",
        faults: i64 = "numberOfPageFaults",
    }
}

pub(super) fn by_address(
    trace: &Trace,
    report: Report,
    options: ReportOptions,
    output: &mut Output<'_>,
) -> Result<()> {
    let inside = |start: i64, end: i64| options.window.holds(Nanos(start), Nanos(end));
    let mut pages: BTreeMap<i64, Pages> = BTreeMap::new();
    trace.for_each_record(|row: Migration| {
        let kind = CopyKind::from_code(row.kind);
        let Some(address) = row.address.filter(|_| inside(row.start, row.end)) else {
            return;
        };
        let time = row.end.saturating_sub(row.start);
        match kind {
            CopyKind::UnifiedHostToDevice => {
                let page = pages.entry(address).or_default();
                add(&mut page.to_device, row.bytes);
                page.migration_time = page.migration_time.saturating_add(time);
            }
            CopyKind::UnifiedDeviceToHost => {
                let page = pages.entry(address).or_default();
                add(&mut page.to_host, row.bytes);
                page.migration_time = page.migration_time.saturating_add(time);
            }
            _ => {}
        }
    })?;
    trace.for_each_record(|row: CpuFault| {
        if inside(row.start, row.start) {
            add(&mut pages.entry(row.address).or_default().cpu_faults, 1);
        }
    })?;
    trace.for_each_record(|row: GpuFault| {
        if inside(row.start, row.start) {
            add(
                &mut pages.entry(row.address).or_default().gpu_faults,
                row.faults,
            );
        }
    })?;
    let rate = |cell: &Cell<'_>| match cell {
        Cell::Decimal { value, .. } => *value,
        _ => f64::NEG_INFINITY,
    };
    let mut rows: Vec<_> = pages
        .iter()
        .map(|(address, page)| (address, page, page.throughput()))
        .collect();
    // Stable: addresses, by which the rows come sorted, decide ties.
    rows.sort_by(|(.., a), (.., b)| rate(b).total_cmp(&rate(a)));
    let limit = report.rows.map_or(DEFAULT_ROWS, |rows| {
        usize::try_from(rows.get()).unwrap_or(usize::MAX)
    });
    output.heading(HEADING);
    for (address, page, throughput) in rows.into_iter().take(limit) {
        let size = |bytes: Option<i64>| bytes.map_or(Cell::Empty, |bytes| megabytes(whole(bytes)));
        output.row(&[
            Cell::Text(Cow::Owned(format!("0x{address:X}"))),
            size(page.to_device),
            size(page.to_host),
            Cell::integer_or_empty(page.cpu_faults),
            Cell::integer_or_empty(page.gpu_faults),
            throughput,
        ])?;
    }
    Ok(())
}
