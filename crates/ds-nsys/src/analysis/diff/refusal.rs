//! Why two captures are not comparable.

use std::fmt;

use crate::analysis::check::{GateId, Outcome, Verdict};
use crate::error::Result;
use crate::kineto::Kineto;
use crate::trace::Trace;

/// One of the two traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The one compared with.
    First,
    /// The one compared.
    Second,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "first",
            Self::Second => "second",
        })
    }
}

/// A reason not to compare two captures.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// A capture cannot be trusted.
    GateNotPassed {
        /// Which capture.
        side: Side,
        /// The gate that decided.
        gate: GateId,
        /// Why it is not passed.
        reason: String,
    },
    /// Graphs were traced as a whole in one capture and by node in the other: the two cost the program differently, and
    /// the kernels of one are hidden.
    GraphModesDiffer {
        /// The capture whose graphs were traced as a whole.
        whole: Side,
    },
    /// Two profilers made the captures, and each slows the program in its own way.
    ProfilersDiffer {
        /// The capture that PyTorch's profiler made.
        kineto: Side,
    },
    /// PyTorch's profiler made both, and recorded more in one of them, at a cost to the program.
    ProfilerOptionsDiffer {
        /// What it recorded in the first capture.
        first: String,
        /// What it recorded in the second capture.
        second: String,
    },
    /// The captures ran on different GPUs.
    GpusDiffer {
        /// Names of the first capture's GPUs.
        first: String,
        /// Names of the second capture's GPUs.
        second: String,
    },
    /// Different numbers of ranks worked.
    RanksDiffer {
        /// Ranks of the first capture.
        first: usize,
        /// Ranks of the second capture.
        second: usize,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GateNotPassed { side, gate, reason } => {
                write!(
                    f,
                    "the {side} capture does not pass {gate} {}: {reason}",
                    gate.name()
                )
            }
            Self::GraphModesDiffer { whole } => write!(
                f,
                "only the {whole} capture traced graphs as a whole: capture both with the same `--cuda-graph-trace`"
            ),
            Self::ProfilersDiffer { kineto } => write!(
                f,
                "only the {kineto} capture was made by PyTorch's profiler, whose steps are longer and busy shares smaller: \
                 capture both with the same profiler"
            ),
            Self::ProfilerOptionsDiffer { first, second } => write!(
                f,
                "PyTorch's profiler ran with {first} in the first capture and with {second} in the second: capture both with \
                 the same options"
            ),
            Self::GpusDiffer { first, second } => {
                write!(f, "the captures ran on {first} and on {second}")
            }
            Self::RanksDiffer { first, second } => {
                write!(
                    f,
                    "{first} ranks worked in the first capture, {second} in the second"
                )
            }
        }
    }
}

pub(super) fn of(first: (&Trace, &Verdict), second: (&Trace, &Verdict)) -> Result<Vec<Refusal>> {
    let mut refusals = Vec::new();
    for (side, verdict) in [(Side::First, first.1), (Side::Second, second.1)] {
        if verdict.outcome != Outcome::Pass
            && let Some(gate) = verdict.decisive.and_then(|id| verdict.gate(id))
        {
            refusals.push(Refusal::GateNotPassed {
                side,
                gate: gate.id,
                reason: gate.reason.clone(),
            });
        }
    }
    let as_a_whole = |verdict: &Verdict| verdict.shares.iter().any(|rank| rank.is_upper_figure);
    match (as_a_whole(first.1), as_a_whole(second.1)) {
        (true, false) => refusals.push(Refusal::GraphModesDiffer { whole: Side::First }),
        (false, true) => refusals.push(Refusal::GraphModesDiffer {
            whole: Side::Second,
        }),
        (true, true) | (false, false) => {}
    }
    match (first.0.kineto(), second.0.kineto()) {
        (Some(_), None) => refusals.push(Refusal::ProfilersDiffer {
            kineto: Side::First,
        }),
        (None, Some(_)) => refusals.push(Refusal::ProfilersDiffer {
            kineto: Side::Second,
        }),
        (Some(a), Some(b)) if a.options != b.options => {
            refusals.push(Refusal::ProfilerOptionsDiffer {
                first: options(a),
                second: options(b),
            });
        }
        (Some(_), Some(_)) | (None, None) => {}
    }
    let gpus = |trace: &Trace| -> Result<String> {
        let mut names: Vec<String> = trace
            .gpus()?
            .into_iter()
            .filter_map(|gpu| gpu.name)
            .collect();
        names.sort_unstable();
        names.dedup();
        Ok(names.join(", "))
    };
    let names = (gpus(first.0)?, gpus(second.0)?);
    // An export that does not name its GPUs contradicts nothing.
    if !names.0.is_empty() && !names.1.is_empty() && names.0 != names.1 {
        refusals.push(Refusal::GpusDiffer {
            first: names.0,
            second: names.1,
        });
    }
    let ranks = (first.1.shares.len(), second.1.shares.len());
    if ranks.0 != ranks.1 {
        refusals.push(Refusal::RanksDiffer {
            first: ranks.0,
            second: ranks.1,
        });
    }
    Ok(refusals)
}

fn options(facts: &Kineto) -> String {
    let names: Vec<String> = facts
        .options
        .iter()
        .map(|option| format!("`{option}`"))
        .collect();
    if names.is_empty() {
        "no option".to_owned()
    } else {
        names.join(", ")
    }
}
