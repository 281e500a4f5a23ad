//! The gates, one function each.

use super::emptiness::Emptiness;
use super::evidence::{Evidence, SessionEnd};
use super::kineto;
use super::{CheckOptions, Gate, GateId, GateRole, GateState, Measure, Purpose};
use crate::analysis::stats::share_of_count;
use crate::analysis::steps::{PrefillEvidence, StepSeries};
use crate::busy::GpuWork;
use crate::ids::DeviceKey;
use crate::trace::{GraphTracing, Trigger};
use crate::units::{Nanos, Share};

/// A capture whose GPU was silent for a larger part of the session than this did not catch the work. Of ten recorded
/// captures the one that missed it was silent for 60.7 %, the others for 16.7 % at most.
const SILENT_AT_MOST: Share = Share(1.0 / 3.0);
/// More rows without usable times than this mean that the collection went wrong.
pub(super) const BAD_TIMES_AT_MOST: Share = Share(0.001);
/// Steps are regular when the median distance from their median is at most this share of it. Decode loops recorded on an
/// H200 show 0.1 to 3.3 %.
const IRREGULAR_AT_MOST: Share = Share(0.25);
/// More prompt processing than this makes a decode figure one of something else.
const PREFILL_AT_MOST: Share = Share(0.05);
/// The modelled step may differ from the measured time per token by this share, as in gpu-perf-tune's decode budget.
const TPOT_WITHIN: Share = Share(0.15);

/// Messages by which the profiler says that events are missing.
const MISSING_EVENTS: [&str; 2] = [
    "Not all CUDA events might have been collected",
    "Some CUPTI events might be missing",
];
const STARTED: &str = "Profiling has started";
const STOPPED: &str = "Profiling has stopped";

/// Messages by which CUPTI refuses to work.
const CUPTI_REFUSALS: [&str; 4] = [
    "CUPTI_ERROR_INVALID_DEVICE",
    "CUPTI_ERROR_NOT_INITIALIZED",
    "is not supported by this build",
    "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
];
/// A message by which CUPTI says that another tool holds it.
const CUPTI_HELD: [&str; 1] = ["MULTIPLE_SUBSCRIBERS"];
const CUPTI_STARTED: &str = "CUDA injection initialized successfully";

/// Answers all gates.
pub(super) fn answer(evidence: &Evidence, purpose: Purpose, options: &CheckOptions) -> Vec<Gate> {
    let answers = [
        cupti_init(evidence),
        graph_flag(evidence, purpose),
        not_in_the_file(
            GateId::G2,
            "the export does not say whether requests arrived during the capture",
            "compare the server's token counters at both ends of the capture",
        ),
        Answer::new(
            GateId::G3,
            GateState::Unknown,
            "the size of the report is not in its export, and says little",
        ),
        kernel_rows(evidence),
        rank_coverage(evidence, options),
        truncation(evidence),
        decode_pattern(evidence),
        prefill_contamination(evidence),
        tpot_reconcile(evidence, options),
        not_in_the_file(
            GateId::G10,
            "one capture does not show what tracing cost",
            "measure the time per token with and without the profiler",
        ),
        injection_conflict(evidence),
        not_in_the_file(
            GateId::G12,
            "the export does not say whether it was copied whole",
            "compare size and hash at both ends of the copy",
        ),
        idle(evidence),
    ];
    answers
        .into_iter()
        .map(|answer| match &evidence.kineto {
            Some(facts) => kineto::instead(answer, facts, evidence, options),
            None => answer,
        })
        .map(|answer| {
            let asked_for = answer.id == GateId::G9 && options.expected_tpot.is_some();
            let role = if purpose.needs(answer.id) || asked_for {
                GateRole::Needed
            } else {
                GateRole::Informative
            };
            Gate {
                id: answer.id,
                state: answer.state,
                role,
                measured: answer.measured,
                threshold: answer.threshold,
                reason: answer.reason,
                action: answer.action,
            }
        })
        .collect()
}

/// A gate before its role is known.
pub(super) struct Answer {
    pub(super) id: GateId,
    pub(super) state: GateState,
    pub(super) measured: Option<Measure>,
    pub(super) threshold: Option<Measure>,
    pub(super) reason: String,
    pub(super) action: Option<String>,
}

impl Answer {
    pub(super) fn new(id: GateId, state: GateState, reason: impl Into<String>) -> Self {
        Self {
            id,
            state,
            measured: None,
            threshold: None,
            reason: reason.into(),
            action: None,
        }
    }

    pub(super) fn measured(mut self, measured: Measure) -> Self {
        self.measured = Some(measured);
        self
    }

    pub(super) fn against(mut self, threshold: Measure) -> Self {
        self.threshold = Some(threshold);
        self
    }

    pub(super) fn action(mut self, action: impl Into<String>) -> Self {
        self.action = Some(action.into());
        self
    }

    /// What to do when the gate fails.
    fn otherwise(self, action: &str) -> Self {
        match self.state {
            GateState::Fail => self.action(action),
            GateState::Pass | GateState::Unknown => self,
        }
    }
}

fn pass_if(passes: bool) -> GateState {
    if passes {
        GateState::Pass
    } else {
        GateState::Fail
    }
}

fn not_in_the_file(id: GateId, reason: &str, action: &str) -> Answer {
    Answer::new(id, GateState::Unknown, reason).action(action)
}

fn cupti_init(evidence: &Evidence) -> Answer {
    let refusals = evidence.quotes(&CUPTI_REFUSALS);
    if evidence.has_work_anywhere() {
        Answer::new(GateId::G0, GateState::Pass, "CUPTI delivered GPU work")
    } else if let [first, ..] = refusals.as_slice() {
        let reason = format!("the profiler says: \"{first}\"");
        Answer::new(GateId::G0, GateState::Fail, reason)
            .action("use a profiler whose CUDA version is not newer than the driver's")
    } else if !evidence.quotes(&[CUPTI_STARTED]).is_empty() {
        let reason = "the profiler says that its CUDA part started";
        Answer::new(GateId::G0, GateState::Pass, reason)
    } else {
        let reason = "nothing in the export says whether CUPTI started";
        Answer::new(GateId::G0, GateState::Unknown, reason)
            .action("look for CUPTI messages on the program's console")
    }
}

fn graph_flag(evidence: &Evidence, purpose: Purpose) -> Answer {
    let claimed = evidence.capture.graph_tracing();
    let whole = evidence.rows(GpuWork::Graph);
    let nodes = evidence.node_rows;
    let launched = evidence.all_calls().graph_launches;
    let word = |mode| Measure::Word(mode_name(mode).to_owned());
    let contradiction = match claimed {
        Some(GraphTracing::Graph) if nodes > 0 => Some("graph nodes among the kernels"),
        Some(GraphTracing::Node) if whole > 0 => Some("graphs traced as a whole"),
        _ => None,
    };
    if let Some(mode) = claimed
        && let Some(found) = contradiction
    {
        let reason = format!(
            "the capture claims {} mode and holds {found}",
            mode_name(mode)
        );
        return Answer::new(GateId::G1, GateState::Fail, reason)
            .measured(word(mode))
            .action("capture again with one `--cuda-graph-trace`");
    }
    let by_data = if nodes > 0 {
        Some(GraphTracing::Node)
    } else if whole > 0 {
        Some(GraphTracing::Graph)
    } else {
        None
    };
    let Some(mode) = by_data else {
        if launched == 0 {
            let reason = "no CUDA graph was launched";
            return Answer::new(GateId::G1, GateState::Pass, reason);
        }
        let reason = format!("{launched} graph launches, and nothing of what ran in them");
        let state = pass_if(purpose != Purpose::Kernels);
        return Answer::new(GateId::G1, state, reason).action(NODE_MODE);
    };
    if purpose == Purpose::Kernels && mode == GraphTracing::Graph {
        let reason = format!(
            "{whole} graph launches were traced as a whole: the kernels inside are not told apart"
        );
        return Answer::new(GateId::G1, GateState::Fail, reason)
            .measured(word(mode))
            .against(word(GraphTracing::Node))
            .action(NODE_MODE);
    }
    let reason = match mode {
        GraphTracing::Node => format!("{nodes} kernels belong to nodes of graphs"),
        GraphTracing::Graph => format!("{whole} graph launches were traced as a whole"),
    };
    Answer::new(GateId::G1, GateState::Pass, reason).measured(word(mode))
}

const NODE_MODE: &str = "needs node mode: capture with `--cuda-graph-trace=node`";

fn mode_name(mode: GraphTracing) -> &'static str {
    match mode {
        GraphTracing::Graph => "graph",
        GraphTracing::Node => "node",
    }
}

fn kernel_rows(evidence: &Evidence) -> Answer {
    if let Some(emptiness) = Emptiness::of(evidence) {
        return Answer::new(GateId::G4, GateState::Fail, emptiness.to_string())
            .measured(Measure::Count(0))
            .against(Measure::Count(1))
            .action(emptiness.action(evidence));
    }
    let kernels = evidence.rows(GpuWork::Kernel);
    let graphs = evidence.rows(GpuWork::Graph);
    let (count, reason) = if kernels == 0 && graphs > 0 {
        (
            graphs,
            "graphs only: busy time is there, a split by kernel is not".to_owned(),
        )
    } else if kernels == 0 {
        let copies = evidence.rows(GpuWork::Copy) + evidence.rows(GpuWork::Set);
        (copies, "copies and sets only".to_owned())
    } else {
        (kernels, format!("{kernels} kernels, {graphs} graphs"))
    };
    Answer::new(GateId::G4, GateState::Pass, reason)
        .measured(Measure::Count(count))
        .against(Measure::Count(1))
}

fn rank_coverage(evidence: &Evidence, options: &CheckOptions) -> Answer {
    let seen = evidence.ranks().count();
    let measured = Measure::Count(seen as u64);
    let silent: Vec<String> = evidence
        .calls
        .counts
        .iter()
        .filter(|(process, calls)| calls.launches() > 0 && !evidence.delivering.contains(process))
        .map(|(process, calls)| format!("{process} ({} launches)", calls.launches()))
        .collect();
    if seen == 0 {
        let reason = match evidence.work_elsewhere {
            Some(_) => "no rank has GPU work in the window",
            None => "no rank has GPU work",
        };
        return Answer::new(GateId::G5, GateState::Fail, reason).measured(measured);
    }
    if !silent.is_empty() {
        let reason = format!("launches without any GPU work: {}", silent.join(", "));
        return Answer::new(GateId::G5, GateState::Fail, reason)
            .measured(measured)
            .action("start workers with spawn, or add `--trace-fork-before-exec=true`");
    }
    let Some(expected) = options.expected_ranks else {
        let reason = "every process that launched has GPU work; how many ranks there should be was not given";
        return Answer::new(GateId::G5, GateState::Pass, reason).measured(measured);
    };
    let reason = format!("{seen} of {expected} ranks have GPU work");
    Answer::new(GateId::G5, pass_if(seen >= expected), reason)
        .measured(measured)
        .against(Measure::Count(expected as u64))
        .otherwise(
            "trace the missing workers too: start them with spawn, one report for all or one for \
             each",
        )
}

fn truncation(evidence: &Evidence) -> Answer {
    let quotes = evidence.quotes(&MISSING_EVENTS);
    if !quotes.is_empty() {
        let quoted: Vec<String> = quotes.iter().map(|quote| format!("\"{quote}\"")).collect();
        let reason = format!(
            "the capture is partial; the profiler says: {}",
            quoted.join(", ")
        );
        return Answer::new(GateId::G6, GateState::Fail, reason).action(
            "let the program end by itself, or end a capture range in it (`--capture-range-end=stop --kill=none`)",
        );
    }
    let (started, stopped) = (evidence.quotes(&[STARTED]), evidence.quotes(&[STOPPED]));
    if !started.is_empty() && stopped.is_empty() {
        let reason =
            "the profiler says that it started and not that it stopped: it was interrupted";
        return Answer::new(GateId::G6, GateState::Fail, reason)
            .action("capture again and let the profiler finish");
    }
    let bad = evidence.dropped_rows() + evidence.early_kernels;
    let all = evidence.all_rows() + evidence.dropped_rows();
    let Some(share) = share_of_count(bad, all) else {
        let reason = "no GPU work whose times could be judged";
        return Answer::new(GateId::G6, GateState::Unknown, reason);
    };
    let reason = format!(
        "{} rows without usable times and {} kernels before their launch, of {all}",
        evidence.dropped_rows(),
        evidence.early_kernels
    );
    Answer::new(GateId::G6, pass_if(share <= BAD_TIMES_AT_MOST), reason)
        .measured(Measure::Share(share))
        .against(Measure::Share(BAD_TIMES_AT_MOST))
        .otherwise("capture again, with another release of the profiler if it repeats")
}

/// The rank for which a figure is largest, and the figure.
fn worst(
    evidence: &Evidence,
    figure: impl Fn(&StepSeries) -> Option<Share>,
) -> Option<(DeviceKey, &StepSeries, Share)> {
    evidence
        .steps
        .found()
        .filter_map(|(device, series)| Some((device, series, figure(series)?)))
        .max_by(|a, b| a.2.0.total_cmp(&b.2.0))
}

fn decode_pattern(evidence: &Evidence) -> Answer {
    let Some((device, series, irregular)) =
        worst(evidence, |series| series.duration.irregularity())
    else {
        if evidence.work_elsewhere.is_some() {
            let reason = "no steps found: the window holds no GPU work";
            return Answer::new(GateId::G7, GateState::Fail, reason)
                .against(Measure::Share(IRREGULAR_AT_MOST));
        }
        let reason =
            "no steps found: no step annotation, no repeated graph launch, no dominant idle gap";
        return Answer::new(GateId::G7, GateState::Fail, reason)
            .against(Measure::Share(IRREGULAR_AT_MOST))
            .action("capture while one stream generates tokens, for a few hundred of them");
    };
    let reason = format!(
        "{}, device {}: {} steps by {}, {:.3} ms in the median",
        device.process,
        device.ordinal,
        series.steps.len(),
        series.method,
        series.duration.median.0 / 1e6
    );
    Answer::new(GateId::G7, pass_if(irregular <= IRREGULAR_AT_MOST), reason)
        .measured(Measure::Share(irregular))
        .against(Measure::Share(IRREGULAR_AT_MOST))
        .otherwise("capture at a constant load")
}

fn prefill_contamination(evidence: &Evidence) -> Answer {
    // Annotations tell exactly which steps took a prompt, also where the prompt was short.
    let share = |series: &StepSeries| match series.prefill.evidence {
        PrefillEvidence::ContextTokens => {
            share_of_count(series.prefill.steps as u64, series.steps.len() as u64)
        }
        PrefillEvidence::LaunchesOutsideGraphs | PrefillEvidence::OtherKernels => {
            series.prefill.share_of_busy
        }
    };
    let Some((_, series, prefill)) = worst(evidence, share) else {
        let reason = "no steps found, so there is nothing between them";
        return Answer::new(GateId::G8, GateState::Unknown, reason)
            .against(Measure::Share(PREFILL_AT_MOST));
    };
    let of = match series.prefill.evidence {
        PrefillEvidence::ContextTokens => "of the steps have context tokens",
        PrefillEvidence::LaunchesOutsideGraphs | PrefillEvidence::OtherKernels => {
            "of busy time between the first step and the last is prompt processing"
        }
    };
    Answer::new(
        GateId::G8,
        pass_if(prefill <= PREFILL_AT_MOST),
        format!("{prefill} {of}"),
    )
    .measured(Measure::Share(prefill))
    .against(Measure::Share(PREFILL_AT_MOST))
    .otherwise(
        "capture one stream that generates thousands of tokens from a short prompt, after its \
         prompt was processed",
    )
}

/// A time per token is a mean over a run, so it is the mean step that has to agree with it.
fn tpot_reconcile(evidence: &Evidence, options: &CheckOptions) -> Answer {
    let Some(expected) = options.expected_tpot else {
        return not_in_the_file(
            GateId::G9,
            "no measured time per token was given",
            "give the time per token of a run without the profiler",
        );
    };
    let deviation = |series: &StepSeries| {
        let modelled = series.duration.mean.0 / expected.tokens_per_step;
        let deviation = (modelled - expected.per_token.0).abs() / expected.per_token.0;
        deviation.is_finite().then_some(Share(deviation))
    };
    let Some((device, series, deviation)) = worst(evidence, deviation) else {
        let reason = "no steps found that a time per token could be compared with";
        return Answer::new(GateId::G9, GateState::Unknown, reason)
            .against(Measure::Share(TPOT_WITHIN));
    };
    let reason = format!(
        "{}, device {}: {:.3} ms a step in the mean and {} tokens a step against {:.3} ms a token",
        device.process,
        device.ordinal,
        series.duration.mean.0 / 1e6,
        expected.tokens_per_step,
        expected.per_token.0 / 1e6
    );
    Answer::new(GateId::G9, pass_if(deviation <= TPOT_WITHIN), reason)
        .measured(Measure::Share(deviation))
        .against(Measure::Share(TPOT_WITHIN))
        .otherwise("check that both describe the same load, and how many tokens a step yields")
}

fn injection_conflict(evidence: &Evidence) -> Answer {
    match evidence.quotes(&CUPTI_HELD).first() {
        Some(quote) => Answer::new(
            GateId::G11,
            GateState::Fail,
            format!("the profiler says: \"{quote}\""),
        )
        .action("stop the other tool that profiles this GPU, and capture again"),
        None => not_in_the_file(
            GateId::G11,
            "the export does not say whether another tool held CUPTI",
            "look at `CUDA_INJECTION64_PATH` and at DCGM's profiling before the capture",
        ),
    }
}

fn idle(evidence: &Evidence) -> Answer {
    let Some(last) = evidence
        .ranks()
        .filter_map(|rank| rank.span())
        .map(|span| span.end)
        .max()
    else {
        let reason = "no GPU work after which silence could be measured";
        return Answer::new(GateId::G13, GateState::Unknown, reason)
            .against(Measure::Share(SILENT_AT_MOST));
    };
    let silent = evidence.session_end.and_then(|end| {
        let from = evidence.window.from.max(Nanos::ZERO);
        let to = end.time().min(evidence.window.to);
        let silent = (to - last).max(Nanos::ZERO);
        Some((silent, silent.share_of(to - from)?))
    });
    let Some((silent, share)) = silent else {
        let reason = "the export does not say how long the session was";
        return Answer::new(GateId::G13, GateState::Unknown, reason)
            .against(Measure::Share(SILENT_AT_MOST));
    };
    let until = match evidence.session_end {
        Some(SessionEnd::LastCall(_)) => "the last CUDA call",
        _ => "the session's end",
    };
    let reason = format!(
        "no GPU work in the last {:.3} ms before {until}; the capture was ended by {}",
        silent.as_millis_f64(),
        trigger_name(evidence)
    );
    Answer::new(GateId::G13, pass_if(share <= SILENT_AT_MOST), reason)
        .measured(Measure::Share(share))
        .against(Measure::Share(SILENT_AT_MOST))
        .otherwise("start the load before the capture, and end the capture while it runs")
}

fn trigger_name(evidence: &Evidence) -> String {
    match evidence.capture.stop_trigger() {
        None if evidence.kineto.is_some() => "the program's call".to_owned(),
        None => "nothing that the export names".to_owned(),
        Some(Trigger::Immediate) => "`Immediate`".to_owned(),
        Some(Trigger::Manual) => "`Manual`".to_owned(),
        Some(Trigger::Delayed) => "`Delayed`".to_owned(),
        Some(Trigger::Other(word)) => format!("`{word}`"),
    }
}
