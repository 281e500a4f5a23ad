//! The gates that a trace of PyTorch's profiler answers otherwise than an export does.

use super::evidence::Evidence;
use super::gates::{Answer, BAD_TIMES_AT_MOST};
use super::{CheckOptions, GateId, GateState, Measure};
use crate::analysis::stats::share_of_count;
use crate::kineto::Kineto;

const PROFILE_AGAIN: &str =
    "profile again with `ProfilerActivity.CUDA`, in the process that launches the work";

/// The answer for such a trace; the export's where it holds for both.
pub(super) fn instead(
    answer: Answer,
    facts: &Kineto,
    evidence: &Evidence,
    options: &CheckOptions,
) -> Answer {
    match answer.id {
        GateId::G0 => cupti_init(answer, facts, evidence),
        GateId::G1 if answer.action.is_some() => answer.action(PROFILE_AGAIN),
        GateId::G3 => Answer::new(
            GateId::G3,
            GateState::Unknown,
            "no report stands behind a trace of PyTorch's profiler",
        ),
        GateId::G4 if answer.state == GateState::Fail => kernel_rows(answer, facts),
        GateId::G5 => rank_coverage(answer, facts, evidence, options),
        GateId::G6 => truncation(answer, facts, evidence),
        GateId::G9 => tpot_reconcile(answer, options),
        GateId::G10 => Answer::new(
            GateId::G10,
            GateState::Unknown,
            "PyTorch's profiler slows the host, and the file does not say by how much",
        )
        .action("measure the time per token with and without the profiler"),
        _ => answer,
    }
}

fn cupti_init(answer: Answer, facts: &Kineto, evidence: &Evidence) -> Answer {
    // 13000 is 13.0.
    let major = |version: Option<i64>| version.map(|version| version / 1000);
    let (runtime, driver) = (
        major(facts.cuda_runtime_version),
        major(facts.cuda_driver_version),
    );
    if evidence.all_rows() == 0
        && let Some((runtime, driver)) = runtime.zip(driver)
        && runtime > driver
    {
        let reason = format!(
            "no GPU work, and CUDA {runtime} ran on a driver that knows {driver} at most: CUPTI then does not start"
        );
        return Answer::new(GateId::G0, GateState::Fail, reason)
            .action("use a build of PyTorch whose CUDA version is not newer than the driver's");
    }
    match answer.action {
        Some(_) => answer.action("look for `CUPTI_ERROR` in the program's log"),
        None => answer,
    }
}

fn kernel_rows(answer: Answer, facts: &Kineto) -> Answer {
    if facts.is_of_front_end {
        return answer.action("take the files of the workers: this one is of the front end");
    }
    answer.action(PROFILE_AGAIN)
}

/// One file holds one rank. How the others did, only their files say.
fn rank_coverage(
    answer: Answer,
    facts: &Kineto,
    evidence: &Evidence,
    options: &CheckOptions,
) -> Answer {
    let seen = evidence.ranks().count();
    let world = facts.distributed.world_size.filter(|size| *size > 1);
    let expected = options.expected_ranks.map(|ranks| ranks as u64);
    if answer.state == GateState::Fail && !(seen > 0 && expected > Some(seen as u64)) {
        return match answer.action {
            Some(_) => answer.action(PROFILE_AGAIN),
            None => answer,
        };
    }
    let (Some(of), true) = (expected.or(world), seen > 0) else {
        return answer;
    };
    if of <= seen as u64 {
        return answer;
    }
    let rank = facts
        .distributed
        .rank
        .map_or_else(|| "one rank".to_owned(), |rank| format!("rank {rank}"));
    // Whoever asks for all ranks is not served by one; otherwise the question is about this file.
    let state = if expected.is_some() {
        GateState::Unknown
    } else {
        GateState::Pass
    };
    let reason = format!("{rank} of {of} has GPU work; the others have files of their own");
    let answer = Answer::new(GateId::G5, state, reason).measured(Measure::Count(seen as u64));
    match expected {
        Some(expected) => answer
            .against(Measure::Count(expected))
            .action("put the files of all ranks side by side with `trace ranks`"),
        None => answer,
    }
}

fn truncation(answer: Answer, facts: &Kineto, evidence: &Evidence) -> Answer {
    if let Some(cut) = &facts.cut_off {
        let reason = format!("the file ends after {} of JSON: {}", cut.after, cut.reason);
        return Answer::new(GateId::G6, GateState::Fail, reason)
            .action("copy the file again, or profile again and wait until it is written");
    }
    let lost = facts.events.unreadable + facts.events.untimed;
    let used = evidence.all_rows() + facts.events.calls + facts.events.annotations;
    match share_of_count(lost, used + lost) {
        Some(share) if share > BAD_TIMES_AT_MOST => {
            let reason = format!(
                "{} events cannot be understood and {} have no time, of {}",
                facts.events.unreadable,
                facts.events.untimed,
                used + lost
            );
            Answer::new(GateId::G6, GateState::Fail, reason)
                .measured(Measure::Share(share))
                .against(Measure::Share(BAD_TIMES_AT_MOST))
                .action("profile again, with another release of PyTorch if it repeats")
        }
        _ => answer,
    }
}

/// The deviation is shown and decides nothing: the profiler lengthens the steps and not the benchmark's tokens.
fn tpot_reconcile(answer: Answer, options: &CheckOptions) -> Answer {
    if options.expected_tpot.is_none() || answer.state == GateState::Unknown {
        return answer;
    }
    let reason = format!(
        "{}; PyTorch's profiler lengthens steps, so they neither confirm nor contradict it",
        answer.reason
    );
    Answer {
        state: GateState::Unknown,
        reason,
        ..answer
    }
    .action("compare with a capture of Nsight Systems in graph mode")
}
