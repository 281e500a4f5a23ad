//! Where a pipeline's time goes: NVTX ranges folded by the element that marked them.
//!
//! DeepStream writes counters into range names, so every batch has a name of its own. Which element marks what follows
//! from the published sources of DeepStream 9.1; a range that fits none of them keeps its domain as its owner.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::{RangeName, RangeStyle, Ranges, Sweep};
use crate::busy::{GRAPH_TABLE, Interval, Intervals};
use crate::error::Result;
use crate::ids::{ProcessKey, ThreadKey};
use crate::launch::{LaunchRanges, Launches, Near};
use crate::query::Window;
use crate::rows::Column;
use crate::summary::{KERNEL_TABLE, MEMCPY_TABLE, MEMSET_TABLE};
use crate::trace::Trace;
use crate::units::{Nanos, Share};

/// The kind of element that marked a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Plugin {
    /// Gst-nvinfer.
    Infer,
    /// TensorRT, which runs inside an inference element.
    TensorRt,
    /// Gst-nvdspreprocess.
    Preprocess,
    /// Gst-nvtracker.
    Tracker,
    /// Gst-nvstreammux.
    Mux,
    /// Gst-nvdsosd.
    Osd,
    /// Gst-nvdewarper.
    Dewarper,
    /// Gst-dsexample.
    Example,
    /// Something else: the program itself, a library, an element without known ranges.
    Other,
}

/// Who marked a range.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RangeOwner {
    /// The kind of element.
    pub plugin: Plugin,
    /// Which one of that kind: a unique id, an element's name, a domain; empty for the default domain.
    pub instance: Arc<str>,
}

impl fmt::Display for RangeOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plugin = match self.plugin {
            Plugin::Infer => "nvinfer",
            Plugin::TensorRt => "TensorRT",
            Plugin::Preprocess => "nvdspreprocess",
            Plugin::Tracker => "nvtracker",
            Plugin::Mux => "nvstreammux",
            Plugin::Osd => "nvdsosd",
            Plugin::Dewarper => "nvdewarper",
            Plugin::Example => "dsexample",
            Plugin::Other => "other",
        };
        f.write_str(plugin)?;
        if self.instance.is_empty() {
            Ok(())
        } else {
            write!(f, " ({})", self.instance)
        }
    }
}

/// Ranges of one owner under one folded name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoldedRange {
    /// The text with `N` in the place of counters.
    pub text: String,
    /// How the ranges were marked.
    pub style: RangeStyle,
    /// How many there are.
    pub count: u64,
    /// The sum of their durations.
    pub total: Nanos,
    /// The sum without the time in ranges nested inside; `None` for start/end ranges, which belong to no stack.
    pub self_time: Option<Nanos>,
    /// The sum of the durations of GPU work launched inside and in no range further inside.
    pub gpu_time: Nanos,
}

/// The time of one owner on one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadTime {
    /// The thread on which the ranges began.
    pub thread: ThreadKey,
    /// The time in which the thread was inside at least one of the owner's ranges.
    pub covered: Nanos,
    /// The sum of self times of push/pop ranges.
    pub self_time: Nanos,
}

/// The time of one owner.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginTime {
    /// Who.
    pub owner: RangeOwner,
    /// By folded name, the most time first.
    pub ranges: Vec<FoldedRange>,
    /// By thread.
    pub threads: Vec<ThreadTime>,
    /// The time in which any thread was inside one of the owner's ranges; never more than the session.
    pub covered: Nanos,
    /// The sum of self times over threads; may exceed the session when several threads work at once.
    pub self_time: Nanos,
    /// The sum of the durations of GPU work launched directly by this owner.
    pub gpu_time: Nanos,
}

impl PluginTime {
    /// The share of the wall time in which the owner was at work.
    #[must_use]
    pub fn share_of(&self, wall: Nanos) -> Option<Share> {
        self.covered.share_of(wall)
    }
}

/// The time of all owners.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginTimes {
    /// By owner, the most covered time first.
    pub plugins: Vec<PluginTime>,
    /// Ranges that were still open at the end; they count until the last time of any range.
    pub open: u64,
    /// Start/end ranges that ended on another thread than they began on.
    pub crossing: u64,
}

/// Names of the counters that DeepStream 9.1 and its predecessors write into range names.
const COUNTERS: [&str; 4] = ["batch_num=", "Batch=", "SubBatchId=", "Frame="];

/// Puts `N` in the place of every counter's number.
fn folded(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, counter)) = COUNTERS
        .iter()
        .filter_map(|c| rest.find(c).map(|at| (at, *c)))
        .min_by_key(|(at, c)| (*at, c.len()))
    {
        let (before, number) = rest.split_at(at + counter.len());
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        result.push_str(before);
        result.push_str(if digits == 0 { "" } else { "N" });
        rest = &number[digits..];
    }
    result.push_str(rest);
    result
}

/// Who marks ranges of such a name.
fn owner(name: &RangeName) -> RangeOwner {
    let (plugin, instance) = match &name.domain {
        Some(domain) => owner_by_domain(domain),
        None => owner_by_text(&name.text),
    };
    RangeOwner {
        plugin,
        instance: Arc::from(instance),
    }
}

fn owner_by_domain(domain: &str) -> (Plugin, &str) {
    let known = [
        ("GstNvInfer: ", Plugin::Infer),
        ("GstNvDsPreProcess: ", Plugin::Preprocess),
        ("GstNvDsExample: ", Plugin::Example),
    ];
    if let Some((instance, plugin)) = known
        .iter()
        .find_map(|(prefix, plugin)| Some((domain.strip_prefix(prefix)?, *plugin)))
    {
        return (plugin, instance);
    }
    match domain {
        "TensorRT" => (Plugin::TensorRt, ""),
        "nvstreammux" => (Plugin::Mux, ""),
        _ => (Plugin::Other, domain),
    }
}

/// Elements without a domain of their own begin a range's name with their own name.
fn owner_by_text(text: &str) -> (Plugin, &str) {
    if text.starts_with("TensorRT:") {
        return (Plugin::TensorRt, "");
    }
    for (marker, plugin) in [
        ("_nvtracker_", Plugin::Tracker),
        ("_m_collectingBuffers(", Plugin::Mux),
        ("_m_acquireBufferFromPool(", Plugin::Mux),
    ] {
        if let Some((element, _)) = text.split_once(marker) {
            return (plugin, element);
        }
    }
    if let Some((element, behind)) = text.split_once("_(Frame=") {
        let plugin = if behind.ends_with(")_Scale") {
            Plugin::Dewarper
        } else {
            Plugin::Osd
        };
        return (plugin, element);
    }
    (Plugin::Other, "")
}

/// What is collected of one owner.
#[derive(Debug, Default)]
struct Collected {
    ranges: BTreeMap<(String, RangeStyle), FoldedTime>,
    threads: BTreeMap<ThreadKey, (Vec<Interval>, Nanos)>,
}

#[derive(Debug, Default)]
struct FoldedTime {
    count: u64,
    total: Nanos,
    self_time: Nanos,
    gpu_time: Nanos,
}

impl Trace {
    /// Where the time of a pipeline went, by the elements that mark ranges; `None` when the export has no NVTX events.
    ///
    /// Ranges that begin outside the window are left out.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read.
    pub fn plugin_times(&self, window: Window) -> Result<Option<PluginTimes>> {
        let Some(ranges) = self.ranges()? else {
            return Ok(None);
        };
        let self_times = self_times(&ranges);
        let gpu_times = self.gpu_times(&ranges)?;
        let names: Vec<_> = ranges
            .names
            .iter()
            .map(|name| (owner(name), folded(&name.text)))
            .collect();
        let mut owners: BTreeMap<&RangeOwner, Collected> = BTreeMap::new();
        let mut crossing = 0;
        for (at, range) in ranges.ranges.iter().enumerate() {
            if !(window.from.0..window.to.0).contains(&range.start) {
                continue;
            }
            crossing += u64::from(
                range
                    .end_thread
                    .is_some_and(|end| Some(end) != range.thread),
            );
            let (owner, text) = &names[range.name];
            let collected = owners.entry(owner).or_default();
            let folded = collected
                .ranges
                .entry((text.clone(), range.style))
                .or_default();
            folded.count += 1;
            folded.total += Nanos(range.duration());
            folded.self_time += self_times[at];
            folded.gpu_time += gpu_times[at];
            if let Some(thread) = range.thread {
                let (intervals, self_time) = collected.threads.entry(thread).or_default();
                intervals.push(Interval {
                    start: Nanos(range.start),
                    end: Nanos(range.end),
                });
                *self_time += self_times[at];
            }
        }
        let mut plugins: Vec<_> = owners
            .into_iter()
            .map(|(owner, collected)| plugin_time(owner.clone(), collected))
            .collect();
        // Stable: owners, by which the entries come sorted, decide ties.
        plugins.sort_by_key(|plugin| std::cmp::Reverse(plugin.covered));
        Ok(Some(PluginTimes {
            plugins,
            open: ranges.open,
            crossing,
        }))
    }

    /// For every range the GPU work that was launched in it and in no range further inside.
    fn gpu_times(&self, ranges: &Ranges) -> Result<Vec<Nanos>> {
        let tables = [KERNEL_TABLE, GRAPH_TABLE, MEMCPY_TABLE, MEMSET_TABLE];
        let launches = Launches::of(self, &tables)?;
        let around = LaunchRanges::new(&launches, ranges);
        let columns = [
            Column::always("start"),
            Column::always("end"),
            Column::if_there("globalPid"),
            Column::if_there("correlationId"),
        ];
        let mut times = vec![Nanos::ZERO; ranges.ranges.len()];
        for table in tables {
            let mut near = Near::default();
            self.for_each(table, &columns, |fields| {
                let (start, end): (i64, i64) = (fields.get(0)?, fields.get(1)?);
                let process = ProcessKey::of(fields.get::<Option<i64>>(2)?.unwrap_or_default());
                let slot = fields
                    .get::<Option<i64>>(3)?
                    .and_then(|id| launches.slot_near(&mut near, process, id));
                if let Some(range) = slot
                    .and_then(|slot| around.innermost(slot))
                    .filter(|_| start <= end)
                {
                    times[range as usize] += Nanos(end) - Nanos(start);
                }
                Ok(())
            })?;
        }
        Ok(times)
    }
}

/// The duration of every push/pop range without what is covered by ranges inside; 0 for start/end ranges.
fn self_times(ranges: &Ranges) -> Vec<Nanos> {
    let mut by_thread: BTreeMap<ThreadKey, Vec<usize>> = BTreeMap::new();
    for (at, range) in ranges.ranges.iter().enumerate() {
        if let Some(thread) = range.thread.filter(|_| range.style == RangeStyle::PushPop) {
            by_thread.entry(thread).or_default().push(at);
        }
    }
    let mut times = vec![Nanos::ZERO; ranges.ranges.len()];
    // Until when the children of a range, which come by start, have covered it so far.
    let mut covered_until = vec![i64::MIN; ranges.ranges.len()];
    for positions in by_thread.into_values() {
        Sweep::new(&ranges.ranges, positions).each_with_ancestors(|at, ancestors| {
            let range = &ranges.ranges[at];
            times[at] = Nanos(range.duration());
            if let Some(parent) = ancestors.last() {
                // Ranges of two domains may overlap without one enclosing the other: what both cover counts once.
                let uncovered = range.start.max(covered_until[*parent]);
                if range.end > uncovered {
                    times[*parent] = times[*parent] - (Nanos(range.end) - Nanos(uncovered));
                    covered_until[*parent] = range.end;
                }
            }
        });
    }
    times
}

fn plugin_time(owner: RangeOwner, collected: Collected) -> PluginTime {
    let mut ranges: Vec<FoldedRange> = collected
        .ranges
        .into_iter()
        .map(|((text, style), time)| FoldedRange {
            text,
            style,
            count: time.count,
            total: time.total,
            self_time: (style == RangeStyle::PushPop).then_some(time.self_time),
            gpu_time: time.gpu_time,
        })
        .collect();
    ranges.sort_by_key(|range| std::cmp::Reverse(range.total));
    let mut everywhere = Vec::new();
    let mut threads = Vec::new();
    for (thread, (intervals, self_time)) in collected.threads {
        let covered = Intervals::union(intervals);
        everywhere.extend_from_slice(covered.as_slice());
        threads.push(ThreadTime {
            thread,
            covered: covered.total(),
            self_time,
        });
    }
    PluginTime {
        self_time: ranges.iter().filter_map(|range| range.self_time).sum(),
        gpu_time: ranges.iter().map(|range| range.gpu_time).sum(),
        covered: Intervals::union(everywhere).total(),
        owner,
        ranges,
        threads,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Plugin, folded, owner};
    use crate::nvtx::RangeName;

    #[test]
    fn counters_of_deepstream_fold_and_other_numbers_stay() {
        for (text, expected) in [
            ("queueInput batch_num=17", "queueInput batch_num=N"),
            (
                "tracker_nvtracker_process(SubBatchId=3 Frame=41)",
                "tracker_nvtracker_process(SubBatchId=N Frame=N)",
            ),
            (
                "m_collectingBuffers(Batch=0)",
                "m_collectingBuffers(Batch=N)",
            ),
            (
                "XlaCompile:#module=jit__psum,program_id=1#",
                "XlaCompile:#module=jit__psum,program_id=1#",
            ),
            ("layer 42", "layer 42"),
            ("Frame=", "Frame="),
        ] {
            assert_eq!(folded(text), expected);
        }
    }

    #[test]
    fn owners_follow_from_domain_or_text() {
        for (domain, text, plugin, instance) in [
            (
                Some("GstNvInfer: UID=2"),
                "convert_buf batch_num=1",
                Plugin::Infer,
                "UID=2",
            ),
            (
                Some("GstNvDsPreProcess: UID=5"),
                "buffer_process batch_num=1",
                Plugin::Preprocess,
                "UID=5",
            ),
            (
                Some("TensorRT"),
                "ExecutionContext::enqueue",
                Plugin::TensorRt,
                "",
            ),
            (
                None,
                "TensorRT:ExecutionContext::enqueue",
                Plugin::TensorRt,
                "",
            ),
            (
                None,
                "my_tracker_nvtracker_convert_buffer(Frame=9)",
                Plugin::Tracker,
                "my_tracker",
            ),
            (
                None,
                "mux0_m_collectingBuffers(Batch=9)",
                Plugin::Mux,
                "mux0",
            ),
            (
                None,
                "onscreendisplay_(Frame=9)",
                Plugin::Osd,
                "onscreendisplay",
            ),
            (
                None,
                "dewarper_(Frame=9)_Scale",
                Plugin::Dewarper,
                "dewarper",
            ),
            (Some("NCCL"), "ncclAllGather", Plugin::Other, "NCCL"),
            (None, "decode_step", Plugin::Other, ""),
        ] {
            let name = RangeName {
                domain: domain.map(Arc::from),
                text: Arc::from(text),
            };
            let found = owner(&name);
            assert_eq!(
                (found.plugin, &*found.instance),
                (plugin, instance),
                "{name:?}"
            );
        }
    }
}
