//! Where steps begin, by every anchor that a rank has.

use std::collections::BTreeMap;

use super::idle_gap::{self, Ordinary};
use super::{StepMethod, StepTokens};
use crate::analysis::api::HostCalls;
use crate::analysis::work::{
    OWN, RankWork, Replay, WORK_TABLES, device_of, interval_of, work_columns,
};
use crate::error::Result;
use crate::grouped::{Grouped, Merge};
use crate::ids::DeviceKey;
use crate::launch::{LaunchRanges, Launches};
use crate::nvtx::Ranges;
use crate::query::Window;
use crate::trace::Trace;

/// Fewer steps than this are no pattern: their median says little.
const FEWEST_STEPS: usize = 8;

/// Where steps begin by one anchor.
#[derive(Debug, Clone)]
pub(super) struct Beginnings {
    pub(super) method: StepMethod,
    /// Ascending.
    pub(super) starts: Vec<i64>,
    /// When the host began with the first step, where that is known; else when its work began.
    pub(super) from: i64,
    /// Where the work of the last step ends.
    pub(super) end: i64,
    /// The tokens of each step, where the program annotates them.
    pub(super) tokens: Option<Vec<StepTokens>>,
}

/// All anchors of a rank, the best first.
pub(super) fn of_rank(
    rank: &RankWork,
    annotated: Option<Beginnings>,
    calls: &HostCalls,
) -> Vec<Beginnings> {
    let process = rank.device.process;
    let mut found: Vec<Beginnings> = annotated.into_iter().collect();
    found.extend(of_graphs(&rank.replays).map(|(first, mut anchor)| {
        if let Some(call) = calls.graph_launches.get(&(process, first.correlation)) {
            anchor.from = *call;
        }
        anchor
    }));
    let first = found
        .iter()
        .filter_map(|anchor| anchor.starts.first())
        .min();
    // Loading leaves gaps of its own; a step range or a graph launch tells best when it is over.
    let module_load = calls.module_loads.get(&process);
    let after_start_up = first.or(module_load).copied().unwrap_or(i64::MIN);
    let busy = rank.busy.as_slice();
    let busy = &busy[busy.partition_point(|interval| interval.start.0 < after_start_up)..];
    let ordinary = if rank.graph_level {
        Ordinary::None
    } else {
        Ordinary::Median
    };
    if let Some(starts) = idle_gap::beginnings(busy, ordinary)
        && let (Some(first), Some(last)) = (starts.first(), busy.last())
    {
        found.push(Beginnings {
            method: StepMethod::IdleGap,
            from: *first,
            starts,
            end: last.end.0,
            tokens: None,
        });
    }
    found
}

/// Steps by launches of graphs.
///
/// A step may be one launch or several, of different graphs in a fixed order. So where a graph hardly ever follows itself,
/// only the launches of the most frequent one begin a step. The launch that begins the first one comes along.
fn of_graphs(replays: &[Replay]) -> Option<(Replay, Beginnings)> {
    let repeats = replays
        .windows(2)
        .filter(|pair| pair[0].graph == pair[1].graph)
        .count();
    let mut launches: BTreeMap<Option<i64>, usize> = BTreeMap::new();
    for replay in replays {
        *launches.entry(replay.graph).or_default() += 1;
    }
    let in_turn = launches.len() > 1 && repeats * 4 < replays.len();
    // Of graphs launched equally often the first one begins the step.
    let most = launches.values().max()?;
    let leader = replays
        .iter()
        .map(|replay| replay.graph)
        .find(|graph| launches.get(graph) == Some(most))?;
    let beginning: Vec<&Replay> = replays
        .iter()
        .filter(|replay| !in_turn || replay.graph == leader)
        .collect();
    if beginning.len() < FEWEST_STEPS {
        return None;
    }
    let first = **beginning.first()?;
    let anchor = Beginnings {
        method: StepMethod::GraphLaunch,
        from: first.start,
        starts: beginning.iter().map(|replay| replay.start).collect(),
        end: replays.iter().map(|replay| replay.end).max()?,
        tokens: None,
    };
    Some((first, anchor))
}

/// Texts of ranges that mean one step, lower-case and without counters.
const STEP_TEXTS: [&str; 8] = [
    "step",
    "decode",
    "decode_step",
    "decode step",
    "generation_step",
    "forward_step",
    "profilerstep",
    "engine_step",
];

/// What the text of a range says about steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepText {
    /// One step with these tokens.
    Annotated(StepTokens),
    /// One step.
    Plain,
}

/// Reads `execute_context_<n>(<tokens>)_generation_<n>(<tokens>)`, as vLLM annotates its steps, and plain step names.
fn step_text(text: &str) -> Option<StepText> {
    if let Some(rest) = text.strip_prefix("execute_context_") {
        let (_, rest) = rest.split_once('(')?;
        let (context, rest) = rest.split_once(')')?;
        let (_, rest) = rest.strip_prefix("_generation_")?.split_once('(')?;
        let (generation, _) = rest.split_once(')')?;
        return Some(StepText::Annotated(StepTokens {
            context: context.parse().ok()?,
            generation: generation.parse().ok()?,
        }));
    }
    let plain = text
        .trim_end_matches(|c: char| c.is_ascii_digit() || "#_ :[]()=".contains(c))
        .to_ascii_lowercase();
    STEP_TEXTS
        .contains(&plain.as_str())
        .then_some(StepText::Plain)
}

/// When the work of one range began and ended on a device.
#[derive(Debug, Default)]
struct Projected(Option<(i64, i64)>);

impl Merge for Projected {
    fn merge(&mut self, other: Self) {
        if let Some((start, end)) = other.0 {
            let (first, last) = self.0.get_or_insert((start, end));
            *first = start.min(*first);
            *last = end.max(*last);
        }
    }
}

/// Steps by ranges, on every device that their calls launched work on.
pub(super) fn of_ranges(trace: &Trace, window: Window) -> Result<BTreeMap<DeviceKey, Beginnings>> {
    let Some(mut ranges) = trace.ranges()? else {
        return Ok(BTreeMap::new());
    };
    let texts: Vec<Option<StepText>> = ranges
        .names
        .iter()
        .map(|name| step_text(&name.text))
        .collect();
    ranges.ranges.retain(|range| texts[range.name].is_some());
    if ranges.ranges.len() < FEWEST_STEPS {
        return Ok(BTreeMap::new());
    }
    // Annotations say more than names, so where there are any only they count.
    let annotated = |range: &crate::nvtx::Range| match texts[range.name] {
        Some(StepText::Annotated(tokens)) => Some(tokens),
        _ => None,
    };
    let has_annotations = ranges.ranges.iter().any(|range| annotated(range).is_some());
    if has_annotations {
        ranges.ranges.retain(|range| annotated(range).is_some());
    }
    let mut projected = project(trace, window, &ranges)?;
    projected.retain(|_, ranges| ranges.len() >= FEWEST_STEPS);
    let anchors = projected.into_iter().filter_map(|(device, mut on_gpu)| {
        on_gpu.sort_unstable();
        let range_of = |work: &OnGpu| &ranges.ranges[work.range];
        let beginnings = Beginnings {
            method: if has_annotations {
                StepMethod::Annotation
            } else {
                StepMethod::Range
            },
            from: range_of(on_gpu.first()?).start,
            end: on_gpu.iter().map(|work| work.end).max()?,
            tokens: on_gpu
                .iter()
                .map(|work| annotated(range_of(work)))
                .collect(),
            starts: on_gpu.into_iter().map(|work| work.start).collect(),
        };
        Some((device, beginnings))
    });
    Ok(anchors.collect())
}

/// The work of one range on one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct OnGpu {
    start: i64,
    end: i64,
    /// The position of the range.
    range: usize,
}

/// The work that was launched within ranges, by device.
fn project(
    trace: &Trace,
    window: Window,
    ranges: &Ranges,
) -> Result<BTreeMap<DeviceKey, Vec<OnGpu>>> {
    let launches = Launches::of(trace, &WORK_TABLES)?;
    let around = LaunchRanges::new(&launches, ranges);
    let columns = work_columns(&["correlationId"]);
    let mut found: Grouped<(DeviceKey, usize), Projected> = Grouped::default();
    for table in WORK_TABLES {
        let parts = trace.fold_parts(
            table,
            &columns,
            Grouped::<(DeviceKey, usize), Projected>::default,
            |found, fields| {
                let (Some(interval), Some(correlation)) = (
                    interval_of(fields, window)?,
                    fields.get::<Option<i64>>(OWN)?,
                ) else {
                    return Ok(());
                };
                let device = device_of(fields)?;
                // Step ranges may lie within each other: the outermost one is the step.
                let range = launches
                    .slot(device.process, correlation)
                    .and_then(|slot| around.around(slot).first().copied());
                if let Some(range) = range {
                    found
                        .entry((device, range as usize))
                        .merge(Projected(Some((interval.start.0, interval.end.0))));
                }
                Ok(())
            },
        )?;
        let parts = Grouped::joined(parts.unwrap_or_default());
        for (key, projected) in parts.into_groups() {
            found.entry(key).merge(projected);
        }
    }
    let mut by_device: BTreeMap<DeviceKey, Vec<OnGpu>> = BTreeMap::new();
    for ((device, range), projected) in found.into_groups() {
        if let Some((start, end)) = projected.0 {
            by_device
                .entry(device)
                .or_default()
                .push(OnGpu { start, end, range });
        }
    }
    Ok(by_device)
}

#[cfg(test)]
mod tests {
    use super::{Replay, StepText, StepTokens, of_graphs, step_text};

    #[test]
    fn texts_that_mean_a_step() {
        for (text, expected) in [
            (
                "execute_context_2(512)_generation_30(30)",
                Some(StepText::Annotated(StepTokens {
                    context: 512,
                    generation: 30,
                })),
            ),
            (
                "execute_context_0(0)_generation_8(8)",
                Some(StepText::Annotated(StepTokens {
                    context: 0,
                    generation: 8,
                })),
            ),
            ("decode_step", Some(StepText::Plain)),
            ("ProfilerStep#12", Some(StepText::Plain)),
            ("decode_step 17", Some(StepText::Plain)),
            ("execute_context_2", None),
            ("execute_context_2(x)_generation_1(1)", None),
            ("execute_context_2(5)_generation_1", None),
            ("py::decode", None),
            ("prefill", None),
            ("TensorRT:ExecutionContext::enqueue", None),
        ] {
            assert_eq!(step_text(text), expected, "{text}");
        }
    }

    fn replays(graphs: impl IntoIterator<Item = i64>) -> Vec<Replay> {
        let replay = |(at, graph)| Replay {
            start: i64::from(at) * 100,
            end: i64::from(at) * 100 + 90,
            correlation: i64::from(at),
            graph: Some(graph),
        };
        (0_i32..).zip(graphs).map(replay).collect()
    }

    #[test]
    fn graphs_that_take_turns_make_one_step_together() {
        let (first, found) =
            of_graphs(&replays([1, 2, 3].into_iter().cycle().take(60))).expect("steps");
        assert_eq!(first.correlation, 0);
        assert_eq!(found.starts.len(), 20);
        assert!(found.starts.windows(2).all(|pair| pair[1] - pair[0] == 300));
    }

    #[test]
    fn graphs_for_different_batches_are_steps_each() {
        let graphs = (0..60).map(|i| i / 10);
        let (_, found) = of_graphs(&replays(graphs)).expect("steps");
        assert_eq!(found.starts.len(), 60);
    }

    #[test]
    fn a_few_launches_are_no_pattern() {
        assert!(of_graphs(&replays([1; 7])).is_none());
    }
}
