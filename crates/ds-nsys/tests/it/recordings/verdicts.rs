//! Whether the recordings can be trusted, and compared.

use ds_nsys::{
    CaptureBound, CheckOptions, DiffOptions, ExpectedTpot, FracNanos, GateId, GateState, Note,
    Outcome, Purpose, Refusal, Side, Trace, Verdict,
};

use super::{printed, recording};

#[track_caller]
fn verdict(trace: &Trace, purpose: Purpose, options: &CheckOptions) -> Verdict {
    trace.check(Some(purpose), options).expect("readable")
}

#[track_caller]
fn state(verdict: &Verdict, id: GateId) -> GateState {
    verdict.gate(id).expect("all gates are answered").state
}

/// Every recording serves the analysis of decode steps. What bounds it is asked of the process that the others wait for:
/// of `tp_node` that is the slow rank, although the fast one, which does little but wait, is busy for longer.
#[test]
fn recordings_are_good_for_what_their_mode_shows() {
    for (name, pid, bound) in [
        ("two_graph", 831, CaptureBound::WithinGraphs),
        ("two_node", 1041, CaptureBound::Host),
        ("tp_graph", 655, CaptureBound::WithinGraphs),
        ("tp_graph_rank0", 1212, CaptureBound::WithinGraphs),
        ("tp_graph_rank1", 1452, CaptureBound::WithinGraphs),
        ("tp_node", 942, CaptureBound::Kernel),
        // Traced alone, each rank says what it waits for itself.
        ("tp_node_rank0", 1657, CaptureBound::Communication),
        ("tp_node_rank1", 1927, CaptureBound::Kernel),
    ] {
        let trace = recording(name);
        let found = verdict(&trace, Purpose::Decode, &CheckOptions::default());
        assert_eq!(found.outcome, Outcome::Pass, "{name}: {:#?}", found.gates);
        let finding = found.bound.expect("steps have a bound");
        assert_eq!(
            (finding.device.process.pid(), finding.bound),
            (pid, bound),
            "{name}"
        );
        let found = verdict(&trace, Purpose::Kernels, &CheckOptions::default());
        let expected = if name.contains("graph") {
            (Outcome::Retry, Some(GateId::G1))
        } else {
            (Outcome::Pass, None)
        };
        assert_eq!((found.outcome, found.decisive), expected, "{name}");
    }
}

/// Two ranks are expected, and the time per token that they printed; a report of one rank lacks the other.
#[test]
fn ranks_and_time_per_token_are_held_against_what_ran() {
    for (name, missing) in [
        ("two_graph", false),
        ("two_node", false),
        ("tp_graph", false),
        ("tp_node", false),
        ("tp_graph_rank0", true),
        ("tp_node_rank1", true),
    ] {
        let trace = recording(name);
        let tpot = printed(name).iter().map(|rank| rank.tpot).sum::<f64>() / 2.0;
        let expecting = |tpot: f64| CheckOptions {
            expected_ranks: Some(2),
            expected_tpot: Some(ExpectedTpot {
                per_token: FracNanos(tpot * 1e6),
                tokens_per_step: 1.0,
            }),
            ..CheckOptions::default()
        };
        let found = verdict(&trace, Purpose::Timing, &expecting(tpot));
        assert_eq!(state(&found, GateId::G0), GateState::Pass, "{name}");
        assert_eq!(state(&found, GateId::G9), GateState::Pass, "{name}");
        let coverage = if missing {
            GateState::Fail
        } else {
            GateState::Pass
        };
        assert_eq!(state(&found, GateId::G5), coverage, "{name}");
        // The program that starts two ranks uses no GPU itself: the profiler complains, and that is fine.
        let complains = found
            .notes
            .iter()
            .any(|note| matches!(note, Note::ProcessWithoutCuda { .. }));
        assert_eq!(complains, !missing, "{name}");
        let unused = Note::UnusedGpus {
            used: 1,
            present: 2,
        };
        assert_eq!(found.notes.contains(&unused), missing, "{name}");

        let found = verdict(&trace, Purpose::Timing, &expecting(tpot * 1.5));
        assert_eq!(state(&found, GateId::G9), GateState::Fail, "{name}");
    }
}

#[test]
fn levels_of_graph_tracing_are_not_compared() {
    for (graph, node) in [("two_graph", "two_node"), ("tp_graph", "tp_node")] {
        let found = recording(graph)
            .diff(&recording(node), &DiffOptions::default())
            .expect("readable");
        assert_eq!(
            found.refusals,
            [Refusal::GraphModesDiffer { whole: Side::First }],
            "{graph}"
        );
        assert_eq!(found.differences, None);
    }
}
