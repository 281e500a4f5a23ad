//! Kernel summaries.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::summary::{SummaryRow, print, time_columns};
use super::{Cell, Heading, NvtxNames, Output, Report, ReportOptions};
use crate::error::Result;
use crate::grouped::{Grouped, Merge as _};
use crate::ids::ProcessKey;
use crate::launch::{LaunchRanges, Launches, Near, Shares, without_near};
use crate::nvtx::Ranges;
use crate::rows::{Column, Fields};
use crate::samples::{Samples, Summary};
use crate::summary::{KERNEL_TABLE, kernel_rows};
use crate::trace::Trace;
use crate::units::Nanos;

const BY_NAME: Heading = Heading {
    report: "cuda_gpu_kern_sum",
    title: "CUDA GPU Kernel Summary",
    columns: time_columns!["Instances"; "Name"],
};

const BY_SHAPE: Heading = Heading {
    report: "cuda_gpu_kern_gb_sum",
    title: "CUDA GPU Kernel/Grid/Block Summary",
    columns: time_columns!["Instances"; "GridXYZ", "BlockXYZ", "Name"],
};

/// Kernels of one printed name, and of one shape where shapes are told apart.
pub(super) struct KernelGroup {
    pub(super) name: String,
    shape: Shape,
    pub(super) figures: Summary,
}

pub(super) fn by_name(
    trace: &Trace,
    report: Report,
    options: ReportOptions,
    output: &mut Output<'_>,
) -> Result<()> {
    let groups = named_groups(trace, report, options)?;
    let rows: Vec<_> = groups
        .iter()
        .map(|group| SummaryRow {
            figures: group.figures,
            behind: vec![Cell::text(&group.name)],
        })
        .collect();
    print(BY_NAME, &rows, output)
}

pub(super) fn by_shape(
    trace: &Trace,
    report: Report,
    options: ReportOptions,
    output: &mut Output<'_>,
) -> Result<()> {
    let groups = grouped(trace, report, options, Shapes::Apart)?;
    let rows: Vec<_> = groups
        .iter()
        .map(|group| {
            let shape = [&group.shape.grid, &group.shape.block]
                .map(|xyz| Cell::Text(Cow::Owned(dimensions(xyz))));
            let [grid, block] = shape;
            SummaryRow {
                figures: group.figures,
                behind: vec![grid, block, Cell::text(&group.name)],
            }
        })
        .collect();
    print(BY_SHAPE, &rows, output)
}

/// Kernels by printed name, in the order of the report.
pub(super) fn named_groups(
    trace: &Trace,
    report: Report,
    options: ReportOptions,
) -> Result<Vec<KernelGroup>> {
    if report.nvtx_names == NvtxNames::Prefix {
        return grouped(trace, report, options, Shapes::Together);
    }
    // The one report that people run on the largest files reads three columns and hashes one.
    let rows = kernel_rows(trace, report.naming, options.selection())?.unwrap_or_default();
    let groups = rows.into_iter().map(|row| KernelGroup {
        name: row.name.to_string(),
        shape: Shape::default(),
        figures: row.summary,
    });
    Ok(groups.collect())
}

/// Whether kernels of different grids and blocks are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shapes {
    Together,
    Apart,
}

/// Grid and block of a kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Shape {
    grid: [i64; 3],
    block: [i64; 3],
}

impl Shape {
    fn read(fields: &Fields<'_, '_>, first: usize) -> Result<Self> {
        let xyz = |at: usize| -> Result<[i64; 3]> {
            Ok([fields.get(at)?, fields.get(at + 1)?, fields.get(at + 2)?])
        };
        Ok(Self {
            grid: xyz(first)?,
            block: xyz(first + 3)?,
        })
    }
}

/// Three numbers of width 4 with blanks between them, as `nsys stats` prints grids and blocks.
fn dimensions([x, y, z]: &[i64; 3]) -> String {
    format!("{x:>4} {y:>4} {z:>4}")
}

/// The range names that stand before kernel names.
pub(super) struct Prefixes {
    ranges: Ranges,
}

impl Prefixes {
    /// The names; `None` when they are not asked for.
    pub(super) fn of(trace: &Trace, report: Report) -> Result<Option<Self>> {
        if report.nvtx_names == NvtxNames::Off {
            return Ok(None);
        }
        let ranges = trace.ranges()?.unwrap_or_default();
        Ok(Some(Self { ranges }))
    }

    /// Finds the ranges around every launch.
    pub(super) fn around(&self, launches: &Launches) -> LaunchRanges {
        LaunchRanges::new(launches, &self.ranges)
    }

    /// The position of the name of the innermost range around a launch.
    pub(super) fn position(&self, around: &LaunchRanges, slot: usize) -> Option<usize> {
        let range = around.innermost(slot)?;
        Some(self.ranges.ranges[range as usize].name)
    }

    /// A kernel's name behind the range's text; the range's domain is not shown.
    pub(super) fn prefixed(&self, prefix: usize, name: &str) -> String {
        format!("{}/{name}", self.ranges.names[prefix].text)
    }
}

/// What kernels are grouped by: the range around them, their name's string id, their shape.
type GroupKey = (Option<usize>, Option<i64>, Shape);

fn grouped(
    trace: &Trace,
    report: Report,
    options: ReportOptions,
    shapes: Shapes,
) -> Result<Vec<KernelGroup>> {
    let prefixes = Prefixes::of(trace, report)?;
    let always = Column::always;
    let mut columns = vec![
        always("start"),
        always("end"),
        always(report.naming.column_of(trace)),
    ];
    columns.extend(["globalPid", "correlationId"].map(Column::if_there));
    if shapes == Shapes::Apart {
        columns.extend(["gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"].map(always));
    }
    type Groups = Grouped<GroupKey, Samples>;
    let step = |groups: &mut Groups, fields: &Fields<'_, '_>, prefix| -> Result<()> {
        let (start, end): (i64, i64) = (fields.get(0)?, fields.get(1)?);
        if !options.window.holds(Nanos(start), Nanos(end)) {
            return Ok(());
        }
        let shape = match shapes {
            Shapes::Together => Shape::default(),
            Shapes::Apart => Shape::read(fields, 5)?,
        };
        groups
            .entry((prefix, fields.get(2)?, shape))
            .push(end.saturating_sub(start));
        Ok(())
    };
    let mut by_key = Groups::default();
    if let Some(prefixes) = &prefixes {
        let mut shares = Shares::of(trace, &[KERNEL_TABLE])?;
        while let Some(share) = shares.next()? {
            let (launches, around) = (&share.launches, prefixes.around(&share.launches));
            let parts = share.fold_parts(
                trace,
                KERNEL_TABLE,
                &columns,
                || (Groups::default(), Near::default()),
                |(groups, near), fields| {
                    let correlation: Option<i64> = fields.get(4)?;
                    if !share.holds(correlation) {
                        return Ok(());
                    }
                    let process = ProcessKey::of(fields.get::<Option<i64>>(3)?.unwrap_or_default());
                    let prefix = correlation
                        .and_then(|correlation| launches.slot_near(near, process, correlation))
                        .and_then(|slot| prefixes.position(&around, slot));
                    step(groups, fields, prefix)
                },
            )?;
            by_key.join(without_near(parts));
        }
    } else {
        let parts =
            trace.fold_parts(KERNEL_TABLE, &columns, Groups::default, |groups, fields| {
                step(groups, fields, None)
            })?;
        by_key.join(parts.unwrap_or_default());
    }
    let mut by_name: BTreeMap<(String, Shape), Samples> = BTreeMap::new();
    for ((prefix, name, shape), samples) in by_key.into_groups() {
        let name = trace.name(name)?;
        let name = match prefixes.as_ref().zip(prefix) {
            Some((prefixes, prefix)) => prefixes.prefixed(prefix, &name),
            None => name.to_string(),
        };
        by_name.entry((name, shape)).or_default().merge(samples);
    }
    let mut groups: Vec<KernelGroup> = by_name
        .into_iter()
        .filter_map(|((name, shape), samples)| {
            samples.summary().map(|figures| KernelGroup {
                name,
                shape,
                figures,
            })
        })
        .collect();
    // Stable: names and shapes, by which the groups come sorted, decide the rest.
    groups.sort_by(|a, b| {
        b.figures
            .total
            .cmp(&a.figures.total)
            .then(a.figures.count.cmp(&b.figures.count))
    });
    Ok(groups)
}
