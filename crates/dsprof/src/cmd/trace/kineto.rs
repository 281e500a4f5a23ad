//! What is particular about traces of PyTorch's profiler: questions they cannot answer, and ranks that lie in files.

use anyhow::Result;
use ds_nsys::{Kineto, ReportKind, Trace};

use crate::exit::Unusable;

/// Refuses a question about something that the profiler does not record.
pub(super) fn refuse(trace: &Trace, what: &str) -> Result<()> {
    if trace.kineto().is_none() {
        return Ok(());
    }
    let why = format!(
        "`{}`: PyTorch's profiler records no {what}; a capture of Nsight Systems can",
        trace.path().display()
    );
    Err(Unusable(why).into())
}

/// Why the trace cannot answer a report, where it is of the profiler and cannot.
pub(super) fn cannot_answer(trace: &Trace, report: ReportKind) -> Option<&'static str> {
    trace.kineto().and_then(|_| Kineto::cannot_answer(report))
}

/// Puts the files of ranks in the order of the ranks; others, and those of which that is not known, stay behind them in
/// the order in which they were given.
pub(super) fn in_rank_order(traces: &mut [Trace]) {
    traces.sort_by_key(|trace| rank(trace).unwrap_or(u64::MAX));
}

fn rank(trace: &Trace) -> Option<u64> {
    trace.kineto()?.distributed.rank
}

/// Which rank a file holds, in words; nothing where it does not say.
pub(super) fn label(trace: &Trace) -> String {
    let of = trace
        .kineto()
        .and_then(|facts| facts.distributed.world_size);
    match (rank(trace), of) {
        (Some(rank), Some(of)) => format!(" (rank {rank} of {of})"),
        (Some(rank), None) => format!(" (rank {rank})"),
        (None, _) => String::new(),
    }
}

/// What is wrong with a set of files that should be all ranks of one job, each in a sentence.
pub(super) fn incomplete(traces: &[Trace]) -> Vec<String> {
    let mut found = Vec::new();
    let mut ranks: Vec<u64> = traces.iter().filter_map(rank).collect();
    ranks.sort_unstable();
    let mut twice: Vec<u64> = ranks
        .windows(2)
        .filter(|pair| pair[0] == pair[1])
        .map(|pair| pair[0])
        .collect();
    twice.dedup();
    if !twice.is_empty() {
        found.push(format!(
            "several files are of rank {}: they are of different jobs or captures",
            list(&twice)
        ));
    }
    let mut sizes: Vec<u64> = traces
        .iter()
        .filter_map(|trace| trace.kineto()?.distributed.world_size)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    match sizes.as_slice() {
        [] => {}
        [size] => {
            let missing = (0..*size).filter(|rank| ranks.binary_search(rank).is_err());
            let count = missing.clone().count();
            // A mean over some of the ranks is none over all.
            if count > 0 && !ranks.is_empty() {
                let some: Vec<u64> = missing.take(SHOWN).collect();
                let more = if count > SHOWN { " and more" } else { "" };
                found.push(format!(
                    "{count} of {size} ranks are missing: {}{more}; figures over ranks are of the others only",
                    list(&some)
                ));
            }
        }
        several => found.push(format!(
            "the files speak of jobs of {} ranks: they are not of one job",
            list(several)
        )),
    }
    found
}

/// How many missing ranks are named one by one.
const SHOWN: usize = 16;

fn list(ranks: &[u64]) -> String {
    let words: Vec<String> = ranks.iter().map(ToString::to_string).collect();
    words.join(", ")
}
