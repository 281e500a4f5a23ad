//! What a reader of the capture should know beside the gates.

use std::fmt;

use super::evidence::Evidence;
use crate::analysis::steps::StepMethod;
use crate::busy::GpuWork;
use crate::ids::DeviceKey;
use crate::trace::GraphTracing;
use crate::units::Share;

/// A finding that decides nothing.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// Prompt processing takes part of the busy time: step figures are over the other steps.
    PrefillAmongSteps {
        /// The rank.
        device: DeviceKey,
        /// How many steps processed prompts.
        steps: usize,
        /// The share of busy time between the first step and the last.
        share_of_busy: Share,
    },
    /// How a rank launches its work.
    LaunchesPerStep {
        /// The rank.
        device: DeviceKey,
        /// The median number of graph launches of a step.
        graphs: f64,
        /// The median number of kernels of a step launched one by one.
        eager: f64,
    },
    /// Two anchors give different steps.
    AnchorsDisagree {
        /// The rank.
        device: DeviceKey,
        /// The anchor used.
        used: StepMethod,
        /// The smaller median as a share of the larger.
        agreement: Share,
    },
    /// Graphs were traced as a whole: busy is an upper figure, and their kernels are not told apart.
    GraphsAsAWhole {
        /// How many graph launches.
        launches: u64,
    },
    /// Rows without usable times were left out.
    RowsDropped {
        /// How many.
        rows: u64,
    },
    /// Some GPUs of the machine did no work.
    UnusedGpus {
        /// GPUs with work, where each process's devices are different ones; otherwise devices of processes with work.
        used: usize,
        /// GPUs that the export lists.
        present: usize,
    },
    /// The export holds fewer CUDA events than the profiler says it collected: it was filtered or cut.
    FewerRowsThanCollected {
        /// Rows of the export.
        rows: u64,
        /// Events that the profiler collected.
        collected: u64,
    },
    /// The profiler says that NVTX ranges are missing.
    RangesMissing {
        /// In its own words.
        quote: String,
    },
    /// The profiler calls the start of one process broken, while others delivered.
    ProcessWithoutCuda {
        /// In its own words.
        quote: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |device: &DeviceKey| format!("{}, device {}", device.process, device.ordinal);
        match self {
            Self::PrefillAmongSteps {
                device,
                steps,
                share_of_busy,
            } => write!(
                f,
                "{}: {steps} steps with prompt processing take {share_of_busy} of busy time; step figures are over the others",
                place(device)
            ),
            Self::LaunchesPerStep {
                device,
                graphs,
                eager,
            } => write!(
                f,
                "{}: {graphs} graph launches and {eager} kernels launched one by one in a step",
                place(device)
            ),
            Self::AnchorsDisagree {
                device,
                used,
                agreement,
            } => write!(
                f,
                "{}: steps by {used} and by the next anchor agree to {agreement} only",
                place(device)
            ),
            Self::GraphsAsAWhole { launches } => write!(
                f,
                "{launches} graph launches were traced as a whole: busy time is an upper figure, and the split by kernel is \
                 not available"
            ),
            Self::RowsDropped { rows } => write!(
                f,
                "{rows} rows of GPU work have no usable times and were left out"
            ),
            Self::UnusedGpus { used, present } => {
                write!(f, "{used} of {present} GPUs did any work")
            }
            Self::FewerRowsThanCollected { rows, collected } => write!(
                f,
                "the export holds {rows} CUDA events, the profiler collected {collected}: it was filtered or cut"
            ),
            Self::RangesMissing { quote } => {
                write!(
                    f,
                    "NVTX ranges may be missing; the profiler says: \"{quote}\""
                )
            }
            Self::ProcessWithoutCuda { quote } => write!(
                f,
                "one process delivered no CUDA events, others did; the profiler says: \"{quote}\""
            ),
        }
    }
}

/// Two anchors that agree to less than this describe different things. Those of decode loops recorded on
/// an H200 agree to 98.9 % and more.
const ANCHORS_AGREE_ABOVE: f64 = 0.9;

pub(super) fn of(evidence: &Evidence) -> Vec<Note> {
    let mut notes = Vec::new();
    for (device, series) in evidence.steps.found() {
        if let Some(share_of_busy) = series.prefill.share_of_busy
            && series.prefill.steps > 0
        {
            notes.push(Note::PrefillAmongSteps {
                device,
                steps: series.prefill.steps,
                share_of_busy,
            });
        }
        notes.push(Note::LaunchesPerStep {
            device,
            graphs: series.graph_launches,
            eager: series.eager_launches,
        });
        if let Some(agreement) = series.agreement()
            && agreement.0 < ANCHORS_AGREE_ABOVE
        {
            notes.push(Note::AnchorsDisagree {
                device,
                used: series.method,
                agreement,
            });
        }
    }
    let graphs = evidence.rows(GpuWork::Graph);
    let launched = evidence.all_calls().graph_launches;
    if graphs > 0 {
        notes.push(Note::GraphsAsAWhole { launches: graphs });
    } else if launched > 0 && evidence.node_rows == 0 && traced_as_a_whole(evidence) {
        notes.push(Note::GraphsAsAWhole { launches: launched });
    }
    if evidence.dropped_rows() > 0 {
        notes.push(Note::RowsDropped {
            rows: evidence.dropped_rows(),
        });
    }
    notes.extend(unused_gpus(evidence));
    notes.extend(fewer_rows(evidence));
    let quoted = |texts: &[&str]| evidence.quotes(texts).into_iter();
    notes.extend(
        quoted(&["Not all NVTX events might have been collected"])
            .map(|quote| Note::RangesMissing { quote }),
    );
    if evidence.all_rows() > 0 {
        let texts = [
            "No CUDA events collected",
            "CUDA profiling might have not been started correctly",
        ];
        notes.extend(quoted(&texts).map(|quote| Note::ProcessWithoutCuda { quote }));
    }
    notes
}

fn traced_as_a_whole(evidence: &Evidence) -> bool {
    evidence.capture.graph_tracing() == Some(GraphTracing::Graph)
}

fn unused_gpus(evidence: &Evidence) -> Option<Note> {
    // Such a file lists all GPUs that the process sees, and holds the work of one rank.
    if evidence.kineto.is_some() {
        return None;
    }
    let mut used: Vec<Option<i64>> = evidence
        .ranks()
        .map(|rank| {
            let of_rank = (rank.device.process.pid(), rank.device.ordinal);
            let gpu = evidence
                .gpus
                .iter()
                .find(|gpu| gpu.ordinals.contains(&of_rank));
            gpu.map(|gpu| gpu.id)
        })
        .collect();
    used.sort_unstable();
    // Devices whose GPU is not known count one each.
    used.dedup_by(|a, b| a.is_some() && a == b);
    let (used, present) = (used.len(), evidence.gpus.len());
    (used > 0 && used < present).then_some(Note::UnusedGpus { used, present })
}

/// The profiler counts kernels, copies, sets and calls, not graphs and synchronisations (as ten captures of 2025.3 show).
fn fewer_rows(evidence: &Evidence) -> Option<Note> {
    let counted = |diagnostic: &crate::trace::Diagnostic| {
        let count = diagnostic
            .text
            .strip_prefix("Number of CUDA events collected:")?;
        count.trim().trim_end_matches('.').parse::<u64>().ok()
    };
    let collected: u64 = evidence.diagnostics.iter().filter_map(counted).sum();
    let rows = evidence.all_calls().all
        + [GpuWork::Kernel, GpuWork::Copy, GpuWork::Set]
            .into_iter()
            .map(|kind| evidence.rows(kind))
            .sum::<u64>()
        + evidence.dropped_rows();
    // Of a part of the session there is nothing to compare.
    let whole = evidence.window == crate::query::Window::ALL;
    (whole && rows < collected).then_some(Note::FewerRowsThanCollected { rows, collected })
}
