//! Time in calls of the CUDA API and of the operating system's runtime.

use std::sync::Arc;

use super::named::{Grouping, Named, NamedRows, Owner, sum_up};
use crate::error::Result;
use crate::query::{Scope, Selection};
use crate::samples::DurationSummary;
use crate::trace::Trace;

/// The time that calls of one function took.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ApiSummary {
    /// The function's name, without the version suffix of the CUDA runtime.
    pub name: Arc<str>,
    /// The part of the trace; calls have a process, but no device.
    pub scope: Scope,
    /// Its durations.
    pub time: DurationSummary,
}

impl ApiSummary {
    /// Whether the call waits for the GPU: the synchronising calls of both API levels.
    #[must_use]
    pub fn is_synchronization(&self) -> bool {
        // `cudaStreamSynchronize`, `cudaEventSynchronize`, `cudaDeviceSynchronize`, `cuCtxSynchronize` and their like;
        // with the suffix `_ptsz` the variant of the per-thread default stream.
        self.name
            .strip_suffix("_ptsz")
            .unwrap_or(&self.name)
            .ends_with("Synchronize")
    }
}

/// The table of CUDA API calls; runtime and driver share it.
pub(crate) const RUNTIME_TABLE: &str = "CUPTI_ACTIVITY_KIND_RUNTIME";

/// Calls of the operating system's runtime have this event class in `OSRT_API`.
const OSRT_EVENT_CLASS: i64 = 27;

/// Takes a suffix such as `_v7000` off: the CUDA version that introduced an entry point of the runtime.
///
/// Only exactly four digits are taken off, as `nsys stats` does: `_v2` and `_v11060` belong to the name.
pub(crate) fn without_version(name: &str) -> &str {
    let Some((stem, version)) = name.rsplit_once("_v") else {
        return name;
    };
    let four_digits = version.len() == 4 && version.bytes().all(|b| b.is_ascii_digit());
    if four_digits { stem } else { name }
}

impl Trace {
    /// Time in CUDA API calls by function, most first; `None` when the export has no calls.
    ///
    /// Split by device or stream it is split by process, which is all that a call knows.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read.
    pub fn api_summary(&self, selection: Selection) -> Result<Option<Vec<ApiSummary>>> {
        Ok(api_rows(self, selection, Grouping::Shown)?.map(typed))
    }

    /// Time in calls of the operating system's runtime by function, most first; `None` when the export has no calls.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read.
    pub fn os_runtime_summary(&self, selection: Selection) -> Result<Option<Vec<ApiSummary>>> {
        Ok(os_runtime_rows(self, selection)?.map(typed))
    }
}

fn typed(named: Vec<Named>) -> Vec<ApiSummary> {
    named
        .into_iter()
        .map(|named| ApiSummary {
            name: named.name,
            scope: named.scope,
            time: named.summary.into(),
        })
        .collect()
}

/// CUDA API calls by function, the most time first.
pub(crate) fn api_rows(
    trace: &Trace,
    selection: Selection,
    grouping: Grouping,
) -> Result<Option<Vec<Named>>> {
    let rows = NamedRows {
        table: RUNTIME_TABLE,
        name: "nameId",
        owner: Owner::Thread,
        event_class: None,
        grouping,
    };
    Ok(sum_up(trace, rows, selection, without_version)?.map(most_time_first))
}

/// Calls of the operating system's runtime by function, the most time first.
pub(crate) fn os_runtime_rows(trace: &Trace, selection: Selection) -> Result<Option<Vec<Named>>> {
    let rows = NamedRows {
        table: "OSRT_API",
        name: "nameId",
        owner: Owner::Thread,
        event_class: Some(OSRT_EVENT_CLASS),
        grouping: Grouping::Stored,
    };
    Ok(sum_up(trace, rows, selection, |name| name)?.map(most_time_first))
}

/// Stable: the order in which the groups come decides ties.
fn most_time_first(mut named: Vec<Named>) -> Vec<Named> {
    named.sort_by_key(|named| std::cmp::Reverse(named.summary.total));
    named
}

#[cfg(test)]
mod tests {
    use super::without_version;

    #[test]
    fn only_four_digits_are_a_version() {
        for (name, bare) in [
            ("cudaLaunchKernel_v7000", "cudaLaunchKernel"),
            ("cudaStreamSynchronize_v3020", "cudaStreamSynchronize"),
            ("cuMemAlloc_v2", "cuMemAlloc_v2"),
            ("cudaGraphLaunch_v10000", "cudaGraphLaunch_v10000"),
            ("cudaLaunchKernelExC_v11060", "cudaLaunchKernelExC_v11060"),
            ("cudaMalloc_v302a", "cudaMalloc_v302a"),
            ("cudaFree", "cudaFree"),
        ] {
            assert_eq!(without_version(name), bare);
        }
    }
}
