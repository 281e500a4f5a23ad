//! What the calls of the CUDA API were for, under the names of both of its levels.

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasherDefault;

use super::work::column;
use crate::error::Result;
use crate::grouped::{IdHasher, Merge};
use crate::ids::{ProcessKey, ThreadKey};
use crate::query::Window;
use crate::rows::Needed;
use crate::summary::RUNTIME_TABLE;
use crate::trace::Trace;
use crate::units::Nanos;

/// What a call was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ApiFunction {
    /// It launched one kernel.
    KernelLaunch,
    /// It launched a CUDA graph.
    GraphLaunch,
    /// It loaded or compiled a module.
    ModuleLoad,
    /// It waited for the GPU.
    Synchronization,
    /// Anything else.
    Other,
}

impl ApiFunction {
    /// Runtime functions begin with `cuda`, driver functions with `cu`; both may end in a version.
    fn of(name: &str) -> Self {
        let Some(bare) = name
            .strip_prefix("cuda")
            .or_else(|| name.strip_prefix("cu"))
        else {
            return Self::Other;
        };
        let versionless = bare.split('_').next().unwrap_or(bare);
        if bare.starts_with("GraphLaunch") {
            Self::GraphLaunch
        } else if bare.starts_with("LaunchKernel") || bare.starts_with("LaunchCooperativeKernel") {
            Self::KernelLaunch
        } else if bare.starts_with("ModuleLoad") || bare.starts_with("LibraryLoad") {
            Self::ModuleLoad
        } else if versionless.ends_with("Synchronize") {
            Self::Synchronization
        } else {
            Self::Other
        }
    }
}

/// One call.
#[derive(Debug, Clone, Copy)]
pub(super) struct ApiCall {
    pub(super) process: ProcessKey,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) correlation: i64,
    pub(super) function: ApiFunction,
}

/// Folds all calls into one value per thread, in the order of their rows; empty when the export has none.
pub(super) fn fold_calls<A: Send>(
    trace: &Trace,
    new: impl Fn() -> A + Sync,
    step: impl Fn(&mut A, ApiCall) + Sync,
) -> Result<Vec<A>> {
    let functions = functions(trace)?;
    let columns = [
        column("start", Needed::Always),
        column("end", Needed::Always),
        column("nameId", Needed::Always),
        column("globalTid", Needed::IfThere),
        column("correlationId", Needed::IfThere),
    ];
    let parts = trace.fold_parts(RUNTIME_TABLE, &columns, new, |state, fields| {
        let name: i64 = fields.get(2)?;
        let thread = fields.get::<Option<i64>>(3)?.unwrap_or_default();
        let call = ApiCall {
            process: ThreadKey::of(thread).process(),
            start: fields.get(0)?,
            end: fields.get(1)?,
            correlation: fields.get::<Option<i64>>(4)?.unwrap_or_default(),
            function: functions.get(&name).copied().unwrap_or(ApiFunction::Other),
        };
        step(state, call);
        Ok(())
    })?;
    Ok(parts.unwrap_or_default())
}

/// The functions that are told apart, by the string ids of their names.
type Functions = HashMap<i64, ApiFunction, BuildHasherDefault<IdHasher>>;

fn functions(trace: &Trace) -> Result<Functions> {
    let mut functions = Functions::default();
    trace.for_each(
        "StringIds",
        &[
            column("id", Needed::Always),
            column("value", Needed::Always),
        ],
        |fields| {
            if let Some(name) = fields.text(1)?
                && let function = ApiFunction::of(&name)
                && function != ApiFunction::Other
            {
                functions.insert(fields.get(0)?, function);
            }
            Ok(())
        },
    )?;
    Ok(functions)
}

/// How many calls a process made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CallCounts {
    pub(super) all: u64,
    pub(super) kernel_launches: u64,
    pub(super) graph_launches: u64,
}

impl CallCounts {
    pub(super) fn launches(self) -> u64 {
        self.kernel_launches + self.graph_launches
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            kernel_launches: self.kernel_launches + other.kernel_launches,
            graph_launches: self.graph_launches + other.graph_launches,
        }
    }
}

/// What the host did, as far as steps and gates ask for it.
#[derive(Debug, Default)]
pub(super) struct HostCalls {
    /// Calls within the window, by process.
    pub(super) counts: BTreeMap<ProcessKey, CallCounts>,
    /// When the last call within the window ended.
    pub(super) last: Option<Nanos>,
    /// When each process last loaded or compiled a module: until then it starts up.
    pub(super) module_loads: BTreeMap<ProcessKey, i64>,
    /// When each graph launch was called, by process and correlation id.
    pub(super) graph_launches: BTreeMap<(ProcessKey, i64), i64>,
}

impl HostCalls {
    pub(super) fn read(trace: &Trace, window: Window) -> Result<Self> {
        let parts = fold_calls(trace, Self::default, |calls, call| calls.take(call, window))?;
        let mut all = Self::default();
        parts.into_iter().for_each(|part| all.merge(part));
        Ok(all)
    }

    fn take(&mut self, call: ApiCall, window: Window) {
        let mut counts = CallCounts {
            all: 1,
            ..CallCounts::default()
        };
        match call.function {
            ApiFunction::KernelLaunch => counts.kernel_launches = 1,
            ApiFunction::GraphLaunch => {
                counts.graph_launches = 1;
                let key = (call.process, call.correlation);
                self.graph_launches.insert(key, call.start);
            }
            ApiFunction::ModuleLoad => {
                later(&mut self.module_loads, call.process, call.end);
            }
            ApiFunction::Synchronization | ApiFunction::Other => {}
        }
        if window.holds(Nanos(call.start), Nanos(call.end)) {
            let sum = self.counts.entry(call.process).or_default();
            *sum = sum.plus(counts);
            self.last = self.last.max(Some(Nanos(call.end)));
        }
    }
}

impl Merge for HostCalls {
    fn merge(&mut self, other: Self) {
        for (process, counts) in other.counts {
            let sum = self.counts.entry(process).or_default();
            *sum = sum.plus(counts);
        }
        self.last = self.last.max(other.last);
        for (process, end) in other.module_loads {
            later(&mut self.module_loads, process, end);
        }
        self.graph_launches.extend(other.graph_launches);
    }
}

/// Keeps the later of the known time and a further one.
fn later(times: &mut BTreeMap<ProcessKey, i64>, process: ProcessKey, time: i64) {
    let latest = times.entry(process).or_insert(time);
    *latest = time.max(*latest);
}

#[cfg(test)]
mod tests {
    use super::ApiFunction;

    #[test]
    fn functions_of_both_levels_are_known() {
        for (name, expected) in [
            ("cudaLaunchKernel_v7000", ApiFunction::KernelLaunch),
            ("cudaLaunchKernelExC_v11060", ApiFunction::KernelLaunch),
            ("cuLaunchKernelEx", ApiFunction::KernelLaunch),
            (
                "cudaLaunchCooperativeKernel_v9000",
                ApiFunction::KernelLaunch,
            ),
            ("cudaGraphLaunch_v10000", ApiFunction::GraphLaunch),
            ("cuGraphLaunch", ApiFunction::GraphLaunch),
            ("cuLibraryLoadData", ApiFunction::ModuleLoad),
            ("cuModuleLoadDataEx", ApiFunction::ModuleLoad),
            (
                "cudaStreamSynchronize_ptsz_v7000",
                ApiFunction::Synchronization,
            ),
            ("cuCtxSynchronize", ApiFunction::Synchronization),
            ("cudaMemcpyAsync_v3020", ApiFunction::Other),
            ("cudaGraphInstantiateWithFlags_v11040", ApiFunction::Other),
        ] {
            assert_eq!(ApiFunction::of(name), expected, "{name}");
        }
    }
}
