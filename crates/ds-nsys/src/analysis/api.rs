//! What the calls of the CUDA API were for, under the names of both of its levels.

use std::collections::{BTreeMap, HashMap};

use crate::error::Result;
use crate::ids::{ProcessKey, ThreadKey};
use crate::query::Window;
use crate::rows::records;
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
        let bare = name
            .strip_prefix("cuda")
            .or_else(|| name.strip_prefix("cu"))
            .unwrap_or(name);
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

/// Visits all calls in the order of their rows.
pub(super) fn for_each_call(trace: &Trace, mut visit: impl FnMut(ApiCall)) -> Result<()> {
    records! {
        struct Call: "CUPTI_ACTIVITY_KIND_RUNTIME" {
            start: i64 = "start",
            end: i64 = "end",
            thread: Option<i64> = "globalTid",
            correlation: Option<i64> = "correlationId",
            name: i64 = "nameId",
        }
    }
    let mut functions: HashMap<i64, ApiFunction> = HashMap::new();
    let mut failed = None;
    trace.for_each_record(|row: Call| {
        let function = functions.get(&row.name).copied().unwrap_or_else(|| {
            // The first error is kept; a name that cannot be read stands for no function.
            let function = trace
                .name(Some(row.name))
                .map(|name| ApiFunction::of(&name));
            let function = function.unwrap_or_else(|error| {
                failed.get_or_insert(error);
                ApiFunction::Other
            });
            functions.insert(row.name, function);
            function
        });
        visit(ApiCall {
            process: ThreadKey::of(row.thread.unwrap_or_default()).process(),
            start: row.start,
            end: row.end,
            correlation: row.correlation.unwrap_or_default(),
            function,
        });
    })?;
    failed.map_or(Ok(()), Err)
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
        let mut calls = Self::default();
        for_each_call(trace, |call| calls.take(call, window))?;
        Ok(calls)
    }

    fn take(&mut self, call: ApiCall, window: Window) {
        let mut counts = CallCounts {
            all: 1,
            ..CallCounts::default()
        };
        match call.function {
            ApiFunction::KernelLaunch => counts.kernel_launches += 1,
            ApiFunction::GraphLaunch => {
                counts.graph_launches += 1;
                let key = (call.process, call.correlation);
                self.graph_launches.insert(key, call.start);
            }
            ApiFunction::ModuleLoad => {
                let latest = self.module_loads.entry(call.process).or_insert(call.end);
                *latest = call.end.max(*latest);
            }
            ApiFunction::Synchronization | ApiFunction::Other => {}
        }
        if window.holds(Nanos(call.start), Nanos(call.end)) {
            let sum = self.counts.entry(call.process).or_default();
            sum.all += counts.all;
            sum.kernel_launches += counts.kernel_launches;
            sum.graph_launches += counts.graph_launches;
            self.last = self.last.max(Some(Nanos(call.end)));
        }
    }
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
