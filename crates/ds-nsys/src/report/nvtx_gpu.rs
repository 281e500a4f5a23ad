//! NVTX ranges and the GPU work that was launched inside them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Cell, Heading, Output, Report, ReportOptions};
use crate::error::Result;
use crate::grouped::{Grouped, Merge};
use crate::ids::{ProcessKey, ThreadKey};
use crate::launch::{LaunchRanges, Near, Share, Shares, without_near};
use crate::nvtx::{RangeStyle, Ranges, Sweep};
use crate::rows::Column;
use crate::samples::Samples;
use crate::summary::{KERNEL_TABLE, MEMCPY_TABLE, MEMSET_TABLE};
use crate::trace::Trace;
use crate::units::Nanos;

const KERNELS: Heading = Heading {
    report: "nvtx_kern_sum",
    title: "NVTX Range Kernel Summary",
    columns: &[
        "NVTX Range",
        "Style",
        "PID",
        "TID",
        "NVTX Inst",
        "Kern Inst",
        "Total Time (ns)",
        "Avg (ns)",
        "Med (ns)",
        "Min (ns)",
        "Max (ns)",
        "StdDev (ns)",
        "Kernel Name",
    ],
};

const PROJECTION: Heading = Heading {
    report: "nvtx_gpu_proj_sum",
    title: "NVTX GPU Projection Summary",
    columns: &[
        "Range",
        "Style",
        "Total Proj Time (ns)",
        "Total Range Time (ns)",
        "Range Instances",
        "Proj Avg (ns)",
        "Proj Med (ns)",
        "Proj Min (ns)",
        "Proj Max (ns)",
        "Proj StdDev (ns)",
        "Total GPU Ops",
        "Avg GPU Ops",
        "Avg Range Lvl",
        "Avg Num Child",
    ],
};

/// Kernels of one name inside ranges of one name.
#[derive(Debug, Default)]
struct Inside {
    /// Durations, once for every range that holds the kernel.
    times: Samples,
    /// How many kernels there are, each counted once.
    kernels: u64,
    /// Which of the ranges of that name hold any of them.
    instances: Marks,
}

impl Merge for Inside {
    fn merge(&mut self, other: Self) {
        self.times.merge(other.times);
        self.kernels += other.kernels;
        self.instances.merge(other.instances);
    }
}

/// A set of small numbers, one bit each: most ranges of a name hold the same kernels, and a set of positions would take
/// several bytes for each pair of range and kernel.
#[derive(Debug, Default)]
struct Marks(Vec<u64>);

impl Marks {
    fn insert(&mut self, number: u32) {
        let (word, bit) = ((number / u64::BITS) as usize, number % u64::BITS);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << bit;
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

impl Merge for Marks {
    fn merge(&mut self, other: Self) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }
}

/// The range's name and style, the thread, and the kernel name's string id.
type KernelKey = (Option<(usize, RangeStyle)>, Option<ThreadKey>, Option<i64>);

/// What a row shows of them: the range's name and style, the thread, and the kernel's name.
type ShownKey<'a> = (&'a str, Option<RangeStyle>, Option<ThreadKey>, String);

/// Kernels by the ranges that enclose their launch; a kernel counts in every one of them.
pub(super) fn kernels(
    trace: &Trace,
    report: Report,
    options: ReportOptions,
    output: &mut Output<'_>,
) -> Result<()> {
    // Without NVTX events `nsys stats` prints nothing; without ranges among them it prints kernels outside of all.
    let Some(ranges) = trace.ranges()? else {
        return Ok(());
    };
    let printed = ranges.printed_names(options.style);
    let same_print = first_of_each(&printed);
    let key_of = |at: &u32| {
        let range = &ranges.ranges[*at as usize];
        (same_print[range.name], range.style)
    };
    let numbers = numbers_of_same_key(&ranges, key_of);
    let always = Column::always;
    let columns = [
        always("start"),
        always("end"),
        always(report.naming.column_of(trace)),
        Column::if_there("globalPid"),
        Column::if_there("correlationId"),
    ];
    let mut by_key: Grouped<KernelKey, Inside> = Grouped::default();
    let mut shares = Shares::of(trace, &[KERNEL_TABLE])?;
    while let Some(share) = shares.next()? {
        let launches = &share.launches;
        let around = LaunchRanges::new(launches, &ranges);
        let parts = share.fold_parts(
            trace,
            KERNEL_TABLE,
            &columns,
            || (Grouped::<KernelKey, Inside>::default(), Near::default()),
            |(groups, near), fields| {
                let (start, end): (i64, i64) = (fields.get(0)?, fields.get(1)?);
                if !options.window.holds(Nanos(start), Nanos(end)) {
                    return Ok(());
                }
                let process = ProcessKey::of(fields.get::<Option<i64>>(3)?.unwrap_or_default());
                let correlation: Option<i64> = fields.get(4)?;
                if !share.holds(correlation) {
                    return Ok(());
                }
                let slot = correlation
                    .and_then(|correlation| launches.slot_near(near, process, correlation));
                let call = slot.and_then(|slot| launches.call(slot));
                let (thread, name) = (call.map(|call| launches.thread(call)), fields.get(2)?);
                let duration = end.saturating_sub(start);
                let enclosing = slot.map_or(&[][..], |slot| around.around(slot));
                if enclosing.is_empty() {
                    let outside = groups.entry((None, thread, name));
                    outside.times.push(duration);
                    outside.kernels += 1;
                }
                for (nth, at) in enclosing.iter().enumerate() {
                    let key = key_of(at);
                    let inside = groups.entry((Some(key), thread, name));
                    inside.times.push(duration);
                    inside.kernels +=
                        u64::from(!enclosing[..nth].iter().any(|outer| key_of(outer) == key));
                    inside.instances.insert(numbers[*at as usize]);
                }
                Ok(())
            },
        )?;
        by_key.join(without_near(parts));
    }
    let mut rows: BTreeMap<ShownKey<'_>, Inside> = BTreeMap::new();
    for ((range, thread, kernel), inside) in by_key.into_groups() {
        let name = range.map_or("", |(name, _)| &printed[name]);
        let style = range.map(|(_, style)| style);
        let key = (name, style, thread, trace.name(kernel)?.to_string());
        rows.entry(key).or_default().merge(inside);
    }
    let mut rows: Vec<_> = rows
        .into_iter()
        .filter_map(|(key, inside)| {
            let figures = inside.times.summary()?;
            Some((key, figures, inside.kernels, inside.instances.count()))
        })
        .collect();
    // A thread's key orders by process first, then by thread.
    rows.sort_by(
        |((a_name, a_style, a_thread, _), a, ..), ((b_name, b_style, b_thread, _), b, ..)| {
            let by_range = (a_name, a_style, a_thread).cmp(&(b_name, b_style, b_thread));
            by_range.then(b.total.cmp(&a.total))
        },
    );
    output.heading(KERNELS);
    for ((name, style, thread, kernel), figures, kernels, instances) in &rows {
        output.row(&[
            Cell::text(name),
            Cell::Text(Cow::Owned(
                style.map(|style| style.to_string()).unwrap_or_default(),
            )),
            Cell::integer_or_empty(thread.map(|thread| i64::from(thread.process().pid()))),
            Cell::integer_or_empty(thread.map(|thread| i64::from(thread.tid()))),
            count(*instances),
            count(*kernels),
            Cell::Integer(figures.total),
            Cell::tenths(figures.mean),
            Cell::tenths(figures.median),
            Cell::Integer(figures.min),
            Cell::Integer(figures.max),
            Cell::tenths(figures.stddev),
            Cell::text(kernel),
        ])?;
    }
    Ok(())
}

/// For every name the first one that prints the same: two domains may print alike.
fn first_of_each(printed: &[String]) -> Vec<usize> {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    printed
        .iter()
        .enumerate()
        .map(|(at, name)| *first.entry(name).or_insert(at))
        .collect()
}

/// Numbers the ranges that share a key from 0 on.
fn numbers_of_same_key(ranges: &Ranges, key_of: impl Fn(&u32) -> (usize, RangeStyle)) -> Vec<u32> {
    let mut next: BTreeMap<(usize, RangeStyle), u32> = BTreeMap::new();
    (0..)
        .zip(&ranges.ranges)
        .map(|(at, _)| {
            let next = next.entry(key_of(&at)).or_default();
            std::mem::replace(next, *next + 1)
        })
        .collect()
}

fn count(count: u64) -> Cell<'static> {
    Cell::Integer(i64::try_from(count).unwrap_or(i64::MAX))
}

/// A range as the GPU saw it.
#[derive(Debug, Clone, Copy)]
struct Projected {
    start: i64,
    end: i64,
    operations: u64,
    level: u64,
    children: u64,
}

/// What one line of the projection sums up.
#[derive(Debug, Default)]
struct Projection {
    projected: Samples,
    range_time: i64,
    operations: u64,
    levels: u64,
    children: u64,
}

/// Ranges projected on the GPU work launched inside them.
pub(super) fn projection(
    trace: &Trace,
    options: ReportOptions,
    output: &mut Output<'_>,
) -> Result<()> {
    let ranges = trace.ranges()?.unwrap_or_default();
    let mut projected: Vec<Option<Projected>> = vec![None; ranges.ranges.len()];
    let mut shares = Shares::of(trace, &WORK_TABLES)?;
    while let Some(share) = shares.next()? {
        let around = LaunchRanges::new(&share.launches, &ranges);
        project(&around, &gpu_times(trace, &share, options)?, &mut projected);
    }
    nest(&ranges, &mut projected);
    let printed = ranges.printed_names(options.style);
    let mut groups: BTreeMap<(&str, RangeStyle), Projection> = BTreeMap::new();
    for (range, projected) in ranges.ranges.iter().zip(projected) {
        let Some(projected) = projected else { continue };
        let group = groups
            .entry((&printed[range.name], range.style))
            .or_default();
        group
            .projected
            .push(projected.end.saturating_sub(projected.start));
        group.range_time = group.range_time.saturating_add(range.duration());
        group.operations += projected.operations;
        group.levels += projected.level;
        group.children += projected.children;
    }
    let mut rows: Vec<_> = groups
        .into_iter()
        .filter_map(|((name, style), mut group)| {
            let figures = std::mem::take(&mut group.projected).summary()?;
            Some((name, style, figures, group))
        })
        .collect();
    // Stable: names, by which the rows come sorted, decide ties.
    rows.sort_by_key(|(_, _, figures, _)| std::cmp::Reverse(figures.total));
    output.heading(PROJECTION);
    for (name, style, figures, group) in &rows {
        let mean = |sum: u64| Cell::tenths(ratio(sum, figures.count));
        output.row(&[
            Cell::text(name),
            Cell::Text(Cow::Owned(style.to_string())),
            Cell::Integer(figures.total),
            Cell::Integer(group.range_time),
            count(figures.count),
            Cell::tenths(figures.mean),
            Cell::tenths(figures.median),
            Cell::Integer(figures.min),
            Cell::Integer(figures.max),
            Cell::tenths(figures.stddev),
            count(group.operations),
            mean(group.operations),
            mean(group.levels),
            mean(group.children),
        ])?;
    }
    Ok(())
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the printed mean is a quotient of doubles by definition"
)]
fn ratio(sum: u64, count: u64) -> f64 {
    sum as f64 / count as f64
}

/// First start and last end of a launch's work.
type WorkTime = (i64, i64);

/// The time of a launch without work: the first operation replaces both ends. An `Option` would take half as much again.
const NO_WORK: WorkTime = (i64::MAX, i64::MIN);

/// The tables whose work is projected.
const WORK_TABLES: [&str; 3] = [KERNEL_TABLE, MEMCPY_TABLE, MEMSET_TABLE];

/// From the first start to the last end of the work of each launch; [`NO_WORK`] for those without any in the window.
///
/// All work of one launch is one operation: a graph launch counts once, however many nodes it runs.
fn gpu_times(trace: &Trace, share: &Share, options: ReportOptions) -> Result<Vec<WorkTime>> {
    let launches = &share.launches;
    let mut times: Vec<WorkTime> = vec![NO_WORK; launches.len()];
    let columns = [
        Column::always("start"),
        Column::always("end"),
        Column::if_there("globalPid"),
        Column::if_there("correlationId"),
    ];
    for table in WORK_TABLES {
        let mut near = Near::default();
        share.for_each(trace, table, &columns, |fields| {
            let (start, end): (i64, i64) = (fields.get(0)?, fields.get(1)?);
            let process = ProcessKey::of(fields.get::<Option<i64>>(2)?.unwrap_or_default());
            let slot = fields
                .get::<Option<i64>>(3)?
                .and_then(|correlation| launches.slot_near(&mut near, process, correlation));
            if let Some(slot) = slot.filter(|_| options.window.holds(Nanos(start), Nanos(end))) {
                let (first, last) = times[slot];
                times[slot] = (first.min(start), last.max(end));
            }
            Ok(())
        })?;
    }
    Ok(times)
}

/// Adds the work of some launches to the ranges around them; ranges without work stay `None`.
fn project(around: &LaunchRanges, times: &[WorkTime], projected: &mut [Option<Projected>]) {
    for (slot, time) in times.iter().enumerate() {
        let (start, end) = *time;
        if *time == NO_WORK {
            continue;
        }
        for at in around.around(slot) {
            let range = projected[*at as usize].get_or_insert(Projected {
                start,
                end,
                operations: 0,
                level: 0,
                children: 0,
            });
            range.start = range.start.min(start);
            range.end = range.end.max(end);
            range.operations += 1;
        }
    }
}

/// Fills in how deep each projected range lies, and how many projected ranges it holds.
fn nest(ranges: &Ranges, projected: &mut [Option<Projected>]) {
    let mut by_thread: BTreeMap<ThreadKey, Vec<usize>> = BTreeMap::new();
    for (at, range) in ranges.ranges.iter().enumerate() {
        if let Some(thread) = range.own_thread() {
            by_thread.entry(thread).or_default().push(at);
        }
    }
    for positions in by_thread.into_values() {
        Sweep::new(&ranges.ranges, positions).each_with_ancestors(|at, ancestors| {
            let Some(range) = &mut projected[at] else {
                return;
            };
            range.level = ancestors.len() as u64;
            let parent = ancestors
                .last()
                .and_then(|parent| projected[*parent].as_mut());
            if let Some(parent) = parent {
                parent.children += 1;
            }
        });
    }
}
