//! What the calls of the CUDA API were for, under the names of both of its levels.

use std::collections::HashMap;

use crate::error::Result;
use crate::ids::{ProcessKey, ThreadKey};
use crate::rows::records;
use crate::trace::Trace;

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

/// Visits all calls in the order of their rows; false when the export has none.
pub(super) fn for_each_call(trace: &Trace, mut visit: impl FnMut(ApiCall)) -> Result<bool> {
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
    let there = trace.for_each_record(|row: Call| {
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
    match failed {
        Some(error) => Err(error),
        None => Ok(there),
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
