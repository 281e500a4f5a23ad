//! Whether several traces can be of one run.

use super::collectives::Matching;
use crate::busy::Interval;
use crate::error::Result;
use crate::rows::records;
use crate::trace::Trace;
use crate::units::Nanos;

records! {
    struct SessionStart: "TARGET_INFO_SESSION_START_TIME" {
        utc: Option<i64> = "utcEpochNs",
    }
}

/// What follows for collectives from when the traces were recorded.
///
/// An export that does not say when contradicts nothing: whoever gives the traces says that they belong together.
pub(super) fn matching(traces: &[&Trace]) -> Result<Matching> {
    let sessions = traces
        .iter()
        .map(|trace| session(trace))
        .collect::<Result<Vec<_>>>()?;
    let known: Vec<Interval> = sessions.into_iter().flatten().collect();
    let last_start = known.iter().map(|session| session.start).max();
    let first_end = known.iter().map(|session| session.end).min();
    let are_apart = last_start
        .zip(first_end)
        .is_some_and(|(start, end)| start > end);
    Ok(if are_apart {
        Matching::RecordedApart
    } else {
        Matching::InOrder
    })
}

/// When a session was, in nanoseconds since 1970 by the host's clock; `None` where the export does not say.
fn session(trace: &Trace) -> Result<Option<Interval>> {
    let mut start = None;
    trace.for_each_record(|row: SessionStart| start = start.or(row.utc))?;
    let duration = trace.session_duration()?;
    // A session without extent is none that anything could lie outside of.
    let duration = duration.filter(|duration| *duration > Nanos::ZERO);
    Ok(start
        .map(Nanos)
        .zip(duration)
        .map(|(start, duration)| Interval {
            start,
            end: start + duration,
        }))
}
