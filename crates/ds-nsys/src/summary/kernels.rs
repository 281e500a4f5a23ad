//! Kernel time by name.

use std::sync::Arc;

use super::named::{Grouping, Named, NamedRows, Owner, sum_up};
use crate::error::Result;
use crate::query::{Scope, Selection};
use crate::samples::DurationSummary;
use crate::trace::Trace;

/// Which of a kernel's names is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KernelNaming {
    /// With template arguments and parameters.
    #[default]
    Demangled,
    /// The bare name.
    Base,
    /// As the linker knows it.
    Mangled,
}

impl KernelNaming {
    /// The column with these names. Exports before 2022.1 lack mangled names; `nsys stats` then shows demangled ones.
    pub(crate) fn column_of(self, trace: &Trace) -> &'static str {
        match self {
            Self::Base => "shortName",
            Self::Mangled if trace.schema().has_column(KERNEL_TABLE, "mangledName") => {
                "mangledName"
            }
            Self::Demangled | Self::Mangled => "demangledName",
        }
    }
}

/// The time that kernels of one name took.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct KernelSummary {
    /// The kernel's name.
    pub name: Arc<str>,
    /// The part of the trace.
    pub scope: Scope,
    /// Its durations.
    pub time: DurationSummary,
}

/// The table of kernels.
pub(crate) const KERNEL_TABLE: &str = "CUPTI_ACTIVITY_KIND_KERNEL";

impl Trace {
    /// Kernel time by name, most first; `None` when the export has no kernels.
    ///
    /// Kernels inside CUDA graphs are among them only if the capture traced graph nodes.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read.
    pub fn kernel_summary(
        &self,
        naming: KernelNaming,
        selection: Selection,
    ) -> Result<Option<Vec<KernelSummary>>> {
        let Some(named) = kernel_rows(self, naming, selection)? else {
            return Ok(None);
        };
        let kernels = named
            .into_iter()
            .map(|named| KernelSummary {
                name: named.name,
                scope: named.scope,
                time: named.summary.into(),
            })
            .collect();
        Ok(Some(kernels))
    }
}

/// Kernel time by name, in the order of the report: total descending, instances ascending, name ascending.
pub(crate) fn kernel_rows(
    trace: &Trace,
    naming: KernelNaming,
    selection: Selection,
) -> Result<Option<Vec<Named>>> {
    let rows = NamedRows {
        table: KERNEL_TABLE,
        name: naming.column_of(trace),
        owner: Owner::Stream,
        event_class: None,
        grouping: Grouping::Shown,
    };
    let named = sum_up(trace, rows, selection, |name| name)?;
    Ok(named.map(|mut named| {
        // Stable: names and scopes, by which the rows come sorted, decide the rest.
        named.sort_by(|a, b| {
            b.summary
                .total
                .cmp(&a.summary.total)
                .then(a.summary.count.cmp(&b.summary.count))
        });
        named
    }))
}
