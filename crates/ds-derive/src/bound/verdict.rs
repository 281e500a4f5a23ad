//! Reads the table of bounds from the top and weighs what it finds.
//!
//! A row of the table matches when a signal that can carry it alone is met and nothing measured speaks against it. A
//! row with evidence on both sides is no match: it is reported as a contradiction, and the reading goes on.

use std::fmt;

use super::thresholds::{THRESHOLDS, Threshold};
use super::{BoundKind, IdleBasis, Ratio, Signal, Signals};

/// How much a verdict can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// The signals contradict each other, or too few were measured.
    Inconclusive,
    /// One weak signal.
    Low,
    /// One strong signal, or several with one against.
    Medium,
    /// Two independent signals and none against.
    High,
}

impl fmt::Display for Certainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inconclusive => "inconclusive",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        })
    }
}

/// A signal held against its threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// The row of the table.
    pub threshold: Threshold,
    /// What was measured.
    pub value: Ratio,
    /// Whether it meets the threshold.
    pub met: bool,
    /// What an idle share is a share of; `None` for every other signal.
    pub basis: Option<IdleBasis>,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Threshold {
            signal,
            relation,
            limit,
            ..
        } = self.threshold;
        let basis = match self.basis {
            None => "",
            Some(IdleBasis::MedianStep) => ", share of the median step",
            Some(IdleBasis::GpuActiveSpan) => ", share of the GPU-active span",
        };
        let met = if self.met { "met" } else { "not met" };
        write!(
            f,
            "{signal}{basis}: {} ({relation} {limit:.0}: {met})",
            self.value
        )
    }
}

/// A row of the table that has evidence on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// The bound.
    pub kind: BoundKind,
    /// What speaks for it and against it.
    pub evidence: Vec<Evidence>,
}

/// What bounds the pipeline, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// What bounds it.
    pub kind: BoundKind,
    /// How much that can be relied on.
    pub certainty: Certainty,
    /// The signals of the row that matched, met or not.
    pub evidence: Vec<Evidence>,
    /// Rows above or below it whose evidence contradicts itself.
    pub contradictions: Vec<Contradiction>,
    /// Rows further down that match as well; the first match wins.
    pub also: Vec<BoundKind>,
    /// Signals of the table that were not measured.
    pub missing: Vec<Signal>,
}

/// What a row says.
enum Finding {
    /// Nothing.
    Silent,
    /// It matches, with this certainty.
    Match(Certainty),
    /// It has evidence on both sides.
    Contradicted,
}

/// One row: what it looks at, and what it says of a reading.
type Row = (BoundKind, fn(&Reading<'_>) -> Finding);

/// The rows, from the top. Host is apart: it holds only where none of these does.
const ROWS: [Row; 8] = [
    (BoundKind::EngineBuild, engine_build),
    (BoundKind::Memcpy, memcpy),
    (BoundKind::Decode, decode),
    (BoundKind::Compute, compute),
    (BoundKind::Bandwidth, bandwidth),
    (BoundKind::Tracker, tracker),
    (BoundKind::Sync, sync),
    (BoundKind::Paced, paced),
];

/// Says what bounds a pipeline. The first row that matches wins; nothing is invented where none does.
#[must_use]
pub fn bound(signals: &Signals) -> Bound {
    let reading = Reading(signals);
    let mut matches = Vec::new();
    let mut contradictions = Vec::new();
    let mut note = |kind, finding| match finding {
        Finding::Silent => {}
        Finding::Match(certainty) => matches.push((kind, certainty)),
        Finding::Contradicted => contradictions.push(Contradiction {
            kind,
            evidence: reading.evidence(kind),
        }),
    };
    for (kind, row) in ROWS {
        note(kind, row(&reading));
    }
    let none_above = matches.is_empty();
    if none_above && let Finding::Match(certainty) = host(&reading) {
        matches.push((BoundKind::Host, certainty));
    }
    let also: Vec<BoundKind> = matches.iter().skip(1).map(|(kind, _)| *kind).collect();
    let (kind, certainty) = match matches.first() {
        None => (BoundKind::Unknown, Certainty::Inconclusive),
        Some((kind, certainty)) if also.is_empty() => (*kind, *certainty),
        Some((kind, certainty)) => (*kind, lowered(*certainty)),
    };
    Bound {
        kind,
        certainty,
        evidence: reading.evidence(kind),
        contradictions,
        also,
        missing: reading.missing(),
    }
}

fn lowered(certainty: Certainty) -> Certainty {
    match certainty {
        Certainty::High => Certainty::Medium,
        Certainty::Medium | Certainty::Low => Certainty::Low,
        Certainty::Inconclusive => Certainty::Inconclusive,
    }
}

/// The signals, held against the table.
struct Reading<'a>(&'a Signals);

impl Reading<'_> {
    fn evidence(&self, kind: BoundKind) -> Vec<Evidence> {
        let rows = THRESHOLDS.iter().filter(|row| row.kind == kind);
        rows.filter_map(|row| self.hold_against(row)).collect()
    }

    fn hold_against(&self, threshold: &Threshold) -> Option<Evidence> {
        let value = self.0.read(threshold.signal)?;
        let basis = self.0.gpu_idle.map(|idle| idle.of);
        Some(Evidence {
            threshold: *threshold,
            value,
            met: threshold.is_met_by(value),
            basis: basis.filter(|_| threshold.signal == Signal::GpuIdle),
        })
    }

    /// Whether a signal meets the threshold that a row has for it; `None` if it was not measured.
    fn met(&self, kind: BoundKind, signal: Signal) -> Option<bool> {
        let row = THRESHOLDS
            .iter()
            .find(|row| row.kind == kind && row.signal == signal)?;
        Some(self.hold_against(row)?.met)
    }

    fn missing(&self) -> Vec<Signal> {
        let mut missing: Vec<Signal> = THRESHOLDS
            .iter()
            .map(|row| row.signal)
            .filter(|signal| self.0.read(*signal).is_none())
            .collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }
}

/// Two signals of which either carries a row alone and neither refutes the other.
fn either(one: Option<bool>, other: Option<bool>) -> Finding {
    match (one, other) {
        (Some(true), Some(true)) => Finding::Match(Certainty::High),
        (Some(true), _) | (_, Some(true)) => Finding::Match(Certainty::Medium),
        _ => Finding::Silent,
    }
}

/// A signal that carries a row alone, and one that confirms it or casts doubt on it.
fn confirmed(carries: Option<bool>, confirms: Option<bool>) -> Finding {
    match (carries, confirms) {
        (Some(true), Some(true)) => Finding::Match(Certainty::High),
        (Some(true), None) => Finding::Match(Certainty::Medium),
        (Some(true), Some(false)) => Finding::Match(Certainty::Low),
        (Some(false) | None, _) => Finding::Silent,
    }
}

fn engine_build(reading: &Reading<'_>) -> Finding {
    let met = |signal| reading.met(BoundKind::EngineBuild, signal);
    either(met(Signal::BuilderShare), met(Signal::ModuleLoadShare))
}

/// Copies carry it; a pipeline below its plateau confirms it, one at its plateau copies beside its work.
fn memcpy(reading: &Reading<'_>) -> Finding {
    let met = |signal| reading.met(BoundKind::Memcpy, signal);
    confirmed(met(Signal::MemcpyShare), met(Signal::E2eOfPlateau))
}

/// Busy decoders carry it. A rate near the ceiling does unless the decoders are seen to be free, and so, weakly, does
/// the step from one stream to two.
fn decode(reading: &Reading<'_>) -> Finding {
    let met = |signal| reading.met(BoundKind::Decode, signal) == Some(true);
    let (near_ceiling, doubles) = (met(Signal::E2eOfDecodeCeiling), met(Signal::SweepOneOfTwo));
    match reading.met(BoundKind::Decode, Signal::DecoderUtilisation) {
        Some(true) if near_ceiling || doubles => Finding::Match(Certainty::High),
        Some(true) => Finding::Match(Certainty::Medium),
        Some(false) if near_ceiling || doubles => Finding::Contradicted,
        None if near_ceiling && doubles => Finding::Match(Certainty::High),
        None if near_ceiling => Finding::Match(Certainty::Medium),
        None if doubles => Finding::Match(Certainty::Low),
        Some(false) | None => Finding::Silent,
    }
}

/// A busy GPU and a rate at the plateau carry it together. What the kernels are and how many multiprocessors they use
/// supports it or takes from it; a GPU that waits for its memory refutes it.
fn compute(reading: &Reading<'_>) -> Finding {
    let met = |signal| reading.met(BoundKind::Compute, signal);
    let support = [met(Signal::MatrixShare), met(Signal::SmActive)];
    let doubted = support.contains(&Some(false));
    let finding = match (met(Signal::GpuBusy), met(Signal::E2eOfPlateau)) {
        (Some(true), Some(true)) if doubted => Finding::Match(Certainty::Medium),
        (Some(true), Some(true)) => Finding::Match(Certainty::High),
        (Some(true), Some(false)) | (Some(false), Some(true)) => Finding::Contradicted,
        (Some(true), None) | (None, Some(true)) if doubted => Finding::Match(Certainty::Low),
        (Some(true), None) | (None, Some(true)) if support.contains(&Some(true)) => {
            Finding::Match(Certainty::Medium)
        }
        (Some(true), None) | (None, Some(true)) => Finding::Match(Certainty::Low),
        _ => Finding::Silent,
    };
    match (finding, bandwidth(reading)) {
        (Finding::Match(_), Finding::Match(_)) => Finding::Contradicted,
        (finding, _) => finding,
    }
}

/// Both signals are needed: memory in use and multiprocessors that wait. A busy GPU confirms it.
fn bandwidth(reading: &Reading<'_>) -> Finding {
    let met = |signal| reading.met(BoundKind::Bandwidth, signal);
    match (met(Signal::Dram), met(Signal::SmActive)) {
        (Some(true), Some(true)) => match reading.met(BoundKind::Compute, Signal::GpuBusy) {
            Some(true) => Finding::Match(Certainty::High),
            Some(false) | None => Finding::Match(Certainty::Medium),
        },
        _ => Finding::Silent,
    }
}

fn tracker(reading: &Reading<'_>) -> Finding {
    let met = |signal| reading.met(BoundKind::Tracker, signal);
    either(
        met(Signal::TrackerOfInfer),
        met(Signal::TrackerOutputOfInput),
    )
}

/// Both signals are needed: calls that wait, and a GPU that does nothing meanwhile. A busy GPU is rightly waited for.
fn sync(reading: &Reading<'_>) -> Finding {
    let met = |signal| reading.met(BoundKind::Sync, signal);
    match (met(Signal::SyncShare), met(Signal::GpuIdle)) {
        (Some(true), Some(true)) => match reading.met(BoundKind::Host, Signal::E2eOfPlateau) {
            Some(true) => Finding::Match(Certainty::High),
            Some(false) | None => Finding::Match(Certainty::Medium),
        },
        _ => Finding::Silent,
    }
}

fn paced(reading: &Reading<'_>) -> Finding {
    let met = |signal| reading.met(BoundKind::Paced, signal) == Some(true);
    let known_rate = met(Signal::OffSourceRate) || met(Signal::OffSinkRate);
    match (known_rate, met(Signal::WindowsAtOneRate)) {
        (true, true) => Finding::Match(Certainty::High),
        (true, false) | (false, true) => Finding::Match(Certainty::Medium),
        (false, false) => Finding::Silent,
    }
}

/// An idle GPU carries it; a rate below the plateau confirms it. At the plateau the sweep was bound by the host too.
fn host(reading: &Reading<'_>) -> Finding {
    let met = |signal| reading.met(BoundKind::Host, signal);
    confirmed(met(Signal::GpuIdle), met(Signal::E2eOfPlateau))
}
