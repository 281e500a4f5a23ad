//! What a trace of PyTorch's profiler says about itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::event::Number;
use super::repair::repaired;
use crate::report::ReportKind;
use crate::trace::Warning;
use crate::units::{Bytes, Nanos};

/// What a trace of PyTorch's profiler says about itself and about how it was recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kineto {
    /// Which rank of how many wrote it.
    pub distributed: Distributed,
    /// The vLLM that was profiled.
    pub vllm_version: Option<String>,
    /// The version of CUPTI, the library under the profiler, in its own numbering.
    pub cupti_version: Option<i64>,
    /// The version of the CUDA runtime: 13000 is 13.0.
    pub cuda_runtime_version: Option<i64>,
    /// The newest CUDA version that the driver knows.
    pub cuda_driver_version: Option<i64>,
    /// What the profiler recorded beside operators and GPU work.
    pub options: BTreeSet<ProfilerOption>,
    /// How many events of each kind there are.
    pub events: EventCounts,
    /// The time that the profiler took for itself, as far as it says so.
    pub overhead: Nanos,
    /// Where the file ends early; `None` when it is whole.
    pub cut_off: Option<CutOff>,
    /// Whether its name says that a front end wrote it, which launches no GPU work.
    pub is_of_front_end: bool,
    /// How many processes made CUDA calls; more than one in files that somebody merged.
    pub processes: usize,
}

/// A rank among those that work together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Distributed {
    /// The rank, from `distributedInfo`, else from the file's name.
    pub rank: Option<u64>,
    /// How many ranks there are.
    pub world_size: Option<u64>,
    /// The library through which they communicate.
    pub backend: Option<String>,
}

/// Something that the profiler can record, each at a cost to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProfilerOption {
    /// Every Python call.
    Stacks,
    /// The shapes of every operator's inputs.
    Shapes,
    /// Every allocation.
    Memory,
    /// The operations of matrix products.
    Flops,
    /// The modules that operators belong to.
    Modules,
}

impl ProfilerOption {
    /// The name of the profiler's argument.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stacks => "with_stack",
            Self::Shapes => "record_shapes",
            Self::Memory => "profile_memory",
            Self::Flops => "with_flops",
            Self::Modules => "with_modules",
        }
    }

    fn named(name: &str) -> Option<Self> {
        let all = [
            Self::Stacks,
            Self::Shapes,
            Self::Memory,
            Self::Flops,
            Self::Modules,
        ];
        all.into_iter().find(|option| option.name() == name)
    }
}

impl fmt::Display for ProfilerOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How many events a trace holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventCounts {
    /// Kernels, copies and sets.
    pub gpu_work: u64,
    /// Calls of the CUDA runtime and driver.
    pub calls: u64,
    /// Ranges that the program annotates.
    pub annotations: u64,
    /// Operators.
    pub operators: u64,
    /// Python functions.
    pub python_functions: u64,
    /// Events that could not be understood, or lack what their kind needs. They are left out.
    pub unreadable: u64,
    /// GPU work, calls and annotations without a usable time. They are left out.
    pub untimed: u64,
}

/// Where a file ends before its end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CutOff {
    /// How much JSON, uncompressed, could be read.
    pub after: Bytes,
    /// What stopped the reading.
    pub reason: String,
}

impl Kineto {
    /// What makes times on the host longer than without the profiler, in words.
    ///
    /// How much is not in the file. Compared in public, the steps of a large model under vLLM were about six times as long. A
    /// small CUDA graph replayed on an H200 took 0.61 ms a step without the profiler, 0.68 and 0.83 ms with it, and 0.90 ms
    /// with stacks (median steps of the recordings of this crate's tests).
    #[must_use]
    pub fn distortion(&self) -> String {
        let mut causes: Vec<String> = self
            .options
            .iter()
            .map(|option| format!("`{option}`"))
            .collect();
        if self.events.python_functions > 0 {
            causes.push(format!(
                "{} Python calls recorded",
                self.events.python_functions
            ));
        }
        if self.overhead > Nanos::ZERO {
            causes.push(format!(
                "{:.3} ms of its own work recorded",
                self.overhead.as_millis_f64()
            ));
        }
        let causes = if causes.is_empty() {
            String::new()
        } else {
            format!(" ({})", causes.join(", "))
        };
        format!(
            "PyTorch's profiler slows the host{causes}: busy shares and step times are distorted; the order of kernels, gap \
             medians and token counts can be used"
        )
    }

    /// What a reader of any figure should know.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let mut warnings = vec![Warning::Distorted {
            how: self.distortion(),
        }];
        warnings.extend(self.cut_off.clone().map(Warning::CutOff));
        let EventCounts {
            unreadable,
            untimed,
            ..
        } = self.events;
        if unreadable > 0 || untimed > 0 {
            warnings.push(Warning::EventsLeftOut {
                unreadable,
                untimed,
            });
        }
        if self.processes > 1 {
            warnings.push(Warning::SeveralProcesses {
                processes: self.processes,
            });
        }
        if self.is_of_front_end {
            warnings.push(Warning::OfFrontEnd);
        }
        warnings
    }

    /// Why no trace of PyTorch's profiler can answer a report; `None` where it can.
    #[must_use]
    pub fn cannot_answer(report: ReportKind) -> Option<&'static str> {
        match report {
            ReportKind::OsrtSum => {
                Some("PyTorch's profiler records no calls of the operating system's runtime")
            }
            ReportKind::UmSum => {
                Some("PyTorch's profiler does not record which addresses of unified memory migrate")
            }
            ReportKind::NvtxStartendSum => {
                Some("annotations of PyTorch's profiler are pushed and popped, never started by id")
            }
            _ => None,
        }
    }
}

/// A GPU that the process sees.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Device {
    #[serde(default)]
    pub(super) id: Number,
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(rename = "totalGlobalMem", default)]
    pub(super) memory: Number,
    #[serde(rename = "numSms", default)]
    pub(super) sm_count: Number,
}

/// What stands outside of the events.
#[derive(Debug, Default)]
pub(super) struct Members {
    pub(super) facts: Kineto,
    pub(super) devices: Vec<Device>,
    /// What times count from, in nanoseconds since 1970.
    pub(super) base: Option<i64>,
    /// Whether any member was one that Kineto writes.
    pub(super) is_kineto: bool,
    /// Names of processes.
    pub(super) process_names: BTreeMap<i64, String>,
}

#[derive(Debug, Deserialize)]
struct DistributedInfo {
    #[serde(default)]
    rank: Number,
    #[serde(default)]
    world_size: Number,
    #[serde(default)]
    backend: Option<String>,
}

impl Members {
    /// Takes one member of the outer object.
    pub(super) fn take(&mut self, name: &[u8], value: &[u8]) {
        let Ok(name) = std::str::from_utf8(name) else {
            return;
        };
        let facts = &mut self.facts;
        let mut known = true;
        match name {
            "schemaVersion" | "traceName" | "trace_id" => {}
            "baseTimeNanoseconds" => self.base = read::<Number>(value).and_then(|base| base.0),
            "cupti_version" => facts.cupti_version = number(value),
            "cuda_runtime_version" => facts.cuda_runtime_version = number(value),
            "cuda_driver_version" => facts.cuda_driver_version = number(value),
            "vllm_version" => facts.vllm_version = read(value),
            "deviceProperties" => self.devices = read(value).unwrap_or_default(),
            "distributedInfo" => {
                if let Some(info) = read::<DistributedInfo>(value) {
                    let count = |number: Number| number.0.and_then(|n| u64::try_from(n).ok());
                    facts.distributed = Distributed {
                        rank: count(info.rank),
                        world_size: count(info.world_size),
                        backend: info.backend,
                    };
                }
            }
            other => match ProfilerOption::named(other) {
                Some(option) => {
                    if is_set(value) {
                        facts.options.insert(option);
                    }
                }
                None => known = false,
            },
        }
        self.is_kineto |= known;
    }
}

/// `1`, `true` and both in quotes.
fn is_set(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value);
    matches!(text.trim_matches('"'), "1" | "true" | "True")
}

fn number(value: &[u8]) -> Option<i64> {
    read::<Number>(value)?.0
}

fn read<T: DeserializeOwned>(value: &[u8]) -> Option<T> {
    serde_json::from_slice(value)
        .ok()
        .or_else(|| serde_json::from_str(&repaired(value)).ok())
}

/// The rank that a file's name holds, such as `dp0_pp0_tp1_dcp0_ep1_rank1.1712345678.pt.trace.json.gz`.
pub(super) fn rank_of_name(name: &str) -> Option<u64> {
    let (_, rest) = name.rsplit_once("rank")?;
    let rest = rest.trim_start_matches(['_', '-']);
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Members, ProfilerOption, rank_of_name};

    #[test]
    fn ranks_in_names() {
        for (name, rank) in [
            (
                "dp0_pp0_tp1_dcp0_ep1_rank1.1712345678.pt.trace.json.gz",
                Some(1),
            ),
            ("rank12.pt.trace.json", Some(12)),
            ("host-rank-3.json", Some(3)),
            ("worker.pt.trace.json", None),
            ("frank.json", None),
        ] {
            assert_eq!(rank_of_name(name), rank, "{name}");
        }
    }

    #[test]
    fn members_as_pytorch_2_11_writes_them() {
        let mut members = Members::default();
        for (name, value) in [
            ("with_stack", "1"),
            ("record_shapes", "0"),
            ("cuda_driver_version", "13000"),
            (
                "distributedInfo",
                r#"{"backend": "nccl", "rank": 3, "world_size": 8, "pg_config": [{"ranks": [0]}]}"#,
            ),
            (
                "deviceProperties",
                r#"[{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "numSms": 132}]"#,
            ),
            ("baseTimeNanoseconds", "1790857026000000000"),
            ("something", "NaN"),
        ] {
            members.take(name.as_bytes(), value.as_bytes());
        }
        assert!(members.is_kineto);
        assert_eq!(members.base, Some(1_790_857_026_000_000_000));
        assert_eq!(members.devices[0].sm_count.0, Some(132));
        let facts = members.facts;
        assert_eq!(facts.distributed.rank, Some(3));
        assert_eq!(facts.distributed.world_size, Some(8));
        assert!(facts.options.contains(&ProfilerOption::Stacks));
        assert_eq!(facts.options.len(), 1);
        assert_eq!(facts.cuda_driver_version, Some(13_000));
    }
}
