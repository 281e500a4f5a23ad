//! Why a capture holds no GPU work.

use std::fmt;

use super::evidence::Evidence;
use crate::busy::Interval;

/// The kinds of empty captures; each calls for another remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Emptiness {
    /// CUDA was not among the things to be traced.
    NotTraced,
    /// CUDA was to be traced, and not one call of it was seen.
    NoCudaEvents {
        /// What the profiler says about it, in its own words.
        quotes: Vec<String>,
    },
    /// The part of the session that was asked for holds none, and the session does.
    NotInWindow {
        /// From the first operation of the session to the end of the last.
        work: Interval,
    },
    /// The program launched work, and none of it arrived.
    NoDeviceRows {
        /// How many launches were seen.
        launches: u64,
        /// What the profiler says about it, in its own words.
        quotes: Vec<String>,
    },
}

/// Messages of the profiler that explain an empty capture, as far as they are stable over releases.
const TELLING: [&str; 9] = [
    "No CUDA events collected",
    "CUDA profiling might have not been started correctly",
    "Not all CUDA events might have been collected",
    "Installed CUDA driver version",
    "CUPTI_ERROR",
    "CUPTI error",
    "Hardware tracing",
    "Some CUPTI events might be missing",
    "is not supported by this build",
];

impl Emptiness {
    /// `None` when there is any GPU work.
    pub(super) fn of(evidence: &Evidence) -> Option<Self> {
        if evidence.all_rows() > 0 {
            return None;
        }
        if let Some(work) = evidence.work_elsewhere {
            return Some(Self::NotInWindow { work });
        }
        let quotes = || evidence.quotes(&TELLING);
        let calls = evidence.all_calls();
        if evidence.capture.cuda_traced() == Some(false) && calls.all == 0 {
            Some(Self::NotTraced)
        } else if calls.all == 0 {
            Some(Self::NoCudaEvents { quotes: quotes() })
        } else {
            Some(Self::NoDeviceRows {
                launches: calls.launches(),
                quotes: quotes(),
            })
        }
    }

    /// What to do about it.
    pub(super) fn action(&self, evidence: &Evidence) -> String {
        let raw_timestamps = evidence
            .version
            .product
            .as_ref()
            .is_some_and(|version| version.release() == RELEASE_WITH_RAW_TIMESTAMPS);
        match self {
            Self::NotTraced => "capture with `--trace=cuda,nvtx`".to_owned(),
            Self::NotInWindow { .. } => {
                "ask for a window in which the GPU worked, or for the whole session".to_owned()
            }
            Self::NoCudaEvents { .. } => {
                "profile the process that uses the GPU: start workers with spawn instead of fork, or add \
                 `--trace-fork-before-exec=true`; where the profiler names the driver, update the profiler"
                    .to_owned()
            }
            Self::NoDeviceRows { .. } if raw_timestamps => {
                "this release loses GPU rows on some hosts: set `CuptiUseRawGpuTimestamps=false` in its `config.ini`, or \
                 use another release"
                    .to_owned()
            }
            Self::NoDeviceRows { .. } => {
                let graphs = evidence.all_calls().graph_launches;
                let of_graphs = if graphs > 0 {
                    format!("; {graphs} of them launched CUDA graphs: try `--cuda-graph-trace=node`")
                } else {
                    String::new()
                };
                format!(
                    "let the program end by itself, or set `--cuda-flush-interval`; check that the worker processes are \
                     traced (`--trace-fork-before-exec=true`) and that no other tool holds CUPTI{of_graphs}"
                )
            }
        }
    }
}

/// The release in which users lost all GPU rows until raw timestamps were switched off (nsys-ai issue 160).
const RELEASE_WITH_RAW_TIMESTAMPS: (u32, u32, u32) = (2024, 6, 2);

impl fmt::Display for Emptiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |f: &mut fmt::Formatter<'_>, quotes: &[String]| {
            quotes
                .iter()
                .try_for_each(|quote| write!(f, "; the profiler says: \"{quote}\""))
        };
        match self {
            Self::NotTraced => f.write_str("CUDA was not traced"),
            Self::NotInWindow { work } => write!(
                f,
                "the window holds no GPU work; the session has some from {:.3} ms to {:.3} ms",
                work.start.as_millis_f64(),
                work.end.as_millis_f64()
            ),
            Self::NoCudaEvents { quotes } => {
                f.write_str("no CUDA call was seen: the process does not use CUDA, or tracing did not start in it")?;
                quoted(f, quotes)
            }
            Self::NoDeviceRows { launches, quotes } => {
                write!(
                    f,
                    "{launches} launches were seen and no GPU work: records were not flushed, or the work ran in another \
                     process"
                )?;
                quoted(f, quotes)
            }
        }
    }
}
