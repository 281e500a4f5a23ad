//! The flags of a capture: which release knows which, and what takes the place of one that is refused.

use std::fmt;

use super::version::NsysVersion;
use super::words::{Refusal, Refused};

/// What a capture is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// Trace CUDA and NVTX.
    Trace,
    /// Take no samples of the CPU: kernel times need none, and they make traces large.
    NoSampling,
    /// Trace no context switches, for the same reason.
    NoContextSwitches,
    /// Trace CUDA graphs node by node, so that the kernels in them have names.
    GraphNodes,
    /// Sample the metrics of one GPU.
    GpuMetrics(u32),
    /// Wait so many seconds before the trace begins.
    Delay(u32),
    /// End the trace after so many seconds.
    Duration(u32),
    /// Leave the program alone when the trace ends.
    LetLive,
}

/// One way to ask for a wish.
struct Spelling {
    wish: fn(Wish) -> Option<String>,
    /// The releases that are asked like this: from the first to before the second.
    releases: (NsysVersion, NsysVersion),
    /// What is lost with a spelling that is not the best one.
    lost: Option<&'static str>,
}

const ALWAYS: (NsysVersion, NsysVersion) = (NsysVersion::new(0, 0, 0), NEVER);
const NEVER: NsysVersion = NsysVersion::new(u16::MAX, 0, 0);
/// How both names of the flag of the GPU metrics begin.
const METRICS: &str = "--gpu-metrics-device";
/// Between 2023.4.4, whose help has `--gpu-metrics-device`, and 2025.3.2, which took `--gpu-metrics-devices`. Where in
/// between the name changed is not known; the other spelling follows where the first is refused.
const METRICS_RENAMED: NsysVersion = NsysVersion::new(2025, 1, 0);

/// Every spelling, the best first. All flags but that of the GPU metrics stand in the help of 2022.4.2 and of 2023.4.4,
/// and 2025.3.1 and 2025.3.2 took them; which earlier release brought each is not known, and one that lacks a flag says so.
const SPELLINGS: [Spelling; 10] = [
    Spelling {
        wish: |wish| (wish == Wish::Trace).then(|| "--trace=cuda,nvtx".to_owned()),
        releases: ALWAYS,
        lost: None,
    },
    Spelling {
        wish: |wish| (wish == Wish::NoSampling).then(|| "--sample=none".to_owned()),
        releases: ALWAYS,
        lost: None,
    },
    Spelling {
        wish: |wish| (wish == Wish::NoContextSwitches).then(|| "--cpuctxsw=none".to_owned()),
        releases: ALWAYS,
        lost: None,
    },
    Spelling {
        wish: |wish| (wish == Wish::GraphNodes).then(|| "--cuda-graph-trace=node".to_owned()),
        releases: ALWAYS,
        lost: None,
    },
    Spelling {
        wish: |wish| (wish == Wish::GraphNodes).then(|| "--cuda-graph-trace=graph".to_owned()),
        releases: ALWAYS,
        lost: Some("kernels inside CUDA graphs have no names, and busy time is an upper figure"),
    },
    Spelling {
        wish: |wish| match wish {
            Wish::GpuMetrics(gpu) => Some(format!("--gpu-metrics-devices={gpu}")),
            _ => None,
        },
        releases: (METRICS_RENAMED, NEVER),
        lost: None,
    },
    Spelling {
        wish: |wish| match wish {
            Wish::GpuMetrics(gpu) => Some(format!("--gpu-metrics-device={gpu}")),
            _ => None,
        },
        releases: ALWAYS,
        lost: None,
    },
    Spelling {
        wish: |wish| match wish {
            Wish::Delay(seconds) => Some(format!("--delay={seconds}")),
            _ => None,
        },
        releases: ALWAYS,
        lost: None,
    },
    Spelling {
        wish: |wish| match wish {
            Wish::Duration(seconds) => Some(format!("--duration={seconds}")),
            _ => None,
        },
        releases: ALWAYS,
        lost: None,
    },
    Spelling {
        wish: |wish| (wish == Wish::LetLive).then(|| "--kill=none".to_owned()),
        releases: ALWAYS,
        lost: None,
    },
];

impl Wish {
    /// The spellings that a release may know, the best first; those of the newest where the release is not known.
    fn spellings(self, version: Option<NsysVersion>) -> Vec<(String, Option<&'static str>)> {
        let newest = NsysVersion::new(u16::MAX - 1, 0, 0);
        let version = version.unwrap_or(newest);
        SPELLINGS
            .iter()
            .filter(|spelling| spelling.releases.0 <= version && version < spelling.releases.1)
            .filter_map(|spelling| Some(((spelling.wish)(self)?, spelling.lost)))
            .collect()
    }

    /// What is missing where nothing can be asked in its place; `None` for what a capture cannot do without.
    fn without(self) -> Option<&'static str> {
        match self {
            Self::NoSampling => Some("nsys samples the CPU as it is set up to"),
            Self::NoContextSwitches => Some("nsys traces context switches as it is set up to"),
            Self::GraphNodes => Some("CUDA graphs are traced as nsys is set up to"),
            Self::GpuMetrics(_) => {
                Some("SM activity and memory bandwidth in use are not known from the trace")
            }
            Self::LetLive => Some("nsys ends the program with SIGTERM"),
            Self::Trace | Self::Delay(_) | Self::Duration(_) => None,
        }
    }
}

/// Something that did not run as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fallback {
    /// What was asked for.
    pub asked: String,
    /// What ran in its place.
    pub ran: String,
    /// Why, in nsys's own words where it had some.
    pub because: String,
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "asked for {}, ran {}, because {}",
            self.asked, self.ran, self.because
        )
    }
}

/// The flags of one capture.
#[derive(Debug, Clone)]
pub(super) struct Flags {
    asked: Vec<Asked>,
}

#[derive(Debug, Clone)]
struct Asked {
    wish: Wish,
    /// What is asked, and behind it what may take its place, the best first.
    spellings: Vec<(String, Option<&'static str>)>,
}

impl Flags {
    /// What `version` can be asked for `wishes`, in their order; the newest set for a version that is not known.
    pub(super) fn fitted(wishes: &[Wish], version: Option<NsysVersion>) -> Self {
        let asked = wishes
            .iter()
            .map(|wish| Asked {
                wish: *wish,
                spellings: wish.spellings(version),
            })
            .collect();
        Self { asked }
    }

    /// The arguments.
    pub(super) fn arguments(&self) -> Vec<String> {
        self.asked
            .iter()
            .filter_map(|asked| Some(asked.spellings.first()?.0.clone()))
            .collect()
    }

    /// Whether graphs are traced node by node.
    pub(super) fn trace_graph_nodes(&self) -> bool {
        self.arguments()
            .iter()
            .any(|argument| argument == "--cuda-graph-trace=node")
    }

    /// Puts the next best in the place of the flag that nsys refused. `None` when the capture cannot do without it, or
    /// when it is none of these flags.
    pub(super) fn replace(&mut self, refusal: &Refusal) -> Option<Fallback> {
        let is_metrics = refusal.flag.starts_with(METRICS);
        let named = |asked: &Asked| {
            let spelling = asked.spellings.first();
            let is_same = |argument: &str| name(argument) == refusal.flag;
            spelling.is_some_and(|(argument, _)| is_same(argument))
                || (is_metrics && matches!(asked.wish, Wish::GpuMetrics(_)))
        };
        let at = self.asked.iter().position(named)?;
        self.next_best(at, &refusal.words, refusal.what)
    }

    /// Traces graphs as a whole where they were traced node by node.
    pub(super) fn whole_graphs(&mut self, because: &str) -> Option<Fallback> {
        let node_by_node = self.trace_graph_nodes();
        let at = self
            .asked
            .iter()
            .position(|asked| asked.wish == Wish::GraphNodes && node_by_node)?;
        self.next_best(at, because, Refused::Value)
    }

    fn next_best(&mut self, at: usize, because: &str, what: Refused) -> Option<Fallback> {
        let asked = &mut self.asked[at];
        let without = asked.wish.without()?;
        let (refused, _) = asked.spellings.remove(0);
        // Where the name was understood, the same under another name helps nothing.
        if what == Refused::Value {
            asked.spellings.retain(|(_, lost)| lost.is_some());
        }
        let ran = match asked.spellings.first() {
            Some((argument, Some(lost))) => format!("`{argument}` ({lost})"),
            Some((argument, None)) => format!("`{argument}`"),
            None => format!("without it ({without})"),
        };
        if asked.spellings.is_empty() {
            self.asked.remove(at);
        }
        Some(Fallback {
            asked: format!("`{refused}`"),
            ran,
            because: because.to_owned(),
        })
    }
}

/// The name of an argument, without its value.
fn name(argument: &str) -> &str {
    argument.split('=').next().unwrap_or(argument)
}

#[cfg(test)]
mod tests {
    use super::{Flags, Wish};
    use crate::stages::nsys::version::NsysVersion;
    use crate::stages::nsys::words::{Refusal, Refused};

    const ALL: [Wish; 5] = [
        Wish::Trace,
        Wish::NoSampling,
        Wish::NoContextSwitches,
        Wish::GraphNodes,
        Wish::GpuMetrics(1),
    ];

    fn refusal(flag: &str) -> Refusal {
        Refusal {
            flag: flag.to_owned(),
            what: Refused::Name,
            words: format!("unrecognised option '{flag}'"),
        }
    }

    #[track_caller]
    fn check(version: Option<NsysVersion>, metrics: &str) {
        assert_eq!(
            Flags::fitted(&ALL, version).arguments(),
            [
                "--trace=cuda,nvtx",
                "--sample=none",
                "--cpuctxsw=none",
                "--cuda-graph-trace=node",
                metrics
            ]
        );
    }

    #[test]
    fn flags_follow_the_version() {
        check(Some(NsysVersion::new(2023, 4, 4)), "--gpu-metrics-device=1");
        check(
            Some(NsysVersion::new(2025, 3, 2)),
            "--gpu-metrics-devices=1",
        );
        check(
            Some(NsysVersion::new(2040, 1, 1)),
            "--gpu-metrics-devices=1",
        );
        check(None, "--gpu-metrics-devices=1");
    }

    #[test]
    fn graphs_fall_back_to_whole_ones_and_then_to_what_nsys_does() {
        let mut flags = Flags::fitted(&ALL, None);
        let first = flags
            .replace(&refusal("--cuda-graph-trace"))
            .expect("whole graphs");
        assert_eq!(
            first.to_string(),
            "asked for `--cuda-graph-trace=node`, ran `--cuda-graph-trace=graph` (kernels inside CUDA graphs have no \
             names, and busy time is an upper figure), because unrecognised option '--cuda-graph-trace'"
        );
        let second = flags
            .replace(&refusal("--cuda-graph-trace"))
            .expect("nothing");
        assert!(second.ran.starts_with("without it"), "{second}");
        assert_eq!(flags.arguments().len(), 4);
        assert_eq!(flags.replace(&refusal("--cuda-graph-trace")), None);
    }

    #[test]
    fn metrics_are_asked_by_the_other_name() {
        let mut flags = Flags::fitted(&ALL, Some(NsysVersion::new(2025, 3, 2)));
        let other = flags
            .replace(&refusal("--gpu-metrics-devices"))
            .expect("another name");
        assert_eq!(other.ran, "`--gpu-metrics-device=1`");
        assert!(flags.replace(&refusal("--gpu-metrics-device")).is_some());
        assert_eq!(flags.arguments().len(), 4);
    }

    #[test]
    fn metrics_that_are_not_permitted_are_left_out_at_once() {
        let mut flags = Flags::fitted(&ALL, Some(NsysVersion::new(2025, 3, 2)));
        let refusal = Refusal {
            flag: "--gpu-metrics-device".to_owned(),
            what: Refused::Value,
            words: "ERR_NVGPUCTRPERM".to_owned(),
        };
        let fallback = flags.replace(&refusal).expect("a capture without");
        assert_eq!(fallback.asked, "`--gpu-metrics-devices=1`");
        assert!(fallback.ran.starts_with("without it"), "{fallback}");
        assert_eq!(flags.arguments().len(), 4);
    }

    #[test]
    fn a_capture_cannot_do_without_a_trace() {
        let mut flags = Flags::fitted(&ALL, None);
        assert_eq!(flags.replace(&refusal("--trace")), None);
        assert_eq!(flags.replace(&refusal("--output")), None);
    }
}
