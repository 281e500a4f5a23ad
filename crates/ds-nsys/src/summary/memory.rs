//! Copies and sets by kind: their time and their size.

use std::fmt;

use super::named::{Owner, ScopeReader};
use crate::error::Result;
use crate::grouped::{Grouped, Merge};
use crate::query::{Scope, Selection};
use crate::rows::{Column, Needed};
use crate::samples::{DurationSummary, Samples, SizeSummary, Summary};
use crate::trace::Trace;
use crate::units::Nanos;

/// Between what memory a copy went: `ENUM_CUDA_MEMCPY_OPER`, whose codes never changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CopyKind {
    /// Host to device.
    HostToDevice,
    /// Device to host.
    DeviceToHost,
    /// Host to array.
    HostToArray,
    /// Array to host.
    ArrayToHost,
    /// Array to array.
    ArrayToArray,
    /// Array to device.
    ArrayToDevice,
    /// Device to array.
    DeviceToArray,
    /// Within one device.
    DeviceToDevice,
    /// Host to host.
    HostToHost,
    /// Between two devices.
    PeerToPeer,
    /// A unified-memory migration from host to device: no copy that the program asked for.
    UnifiedHostToDevice,
    /// A unified-memory migration from device to host.
    UnifiedDeviceToHost,
    /// A unified-memory migration between devices.
    UnifiedDeviceToDevice,
    /// A code that no known release uses.
    Other(i64),
}

impl CopyKind {
    pub(crate) fn from_code(code: i64) -> Self {
        match code {
            1 => Self::HostToDevice,
            2 => Self::DeviceToHost,
            3 => Self::HostToArray,
            4 => Self::ArrayToHost,
            5 => Self::ArrayToArray,
            6 => Self::ArrayToDevice,
            7 => Self::DeviceToArray,
            8 => Self::DeviceToDevice,
            9 => Self::HostToHost,
            10 => Self::PeerToPeer,
            11 => Self::UnifiedHostToDevice,
            12 => Self::UnifiedDeviceToHost,
            13 => Self::UnifiedDeviceToDevice,
            other => Self::Other(other),
        }
    }

    /// Whether the driver moved pages on its own.
    #[must_use]
    pub fn is_migration(self) -> bool {
        matches!(
            self,
            Self::UnifiedHostToDevice | Self::UnifiedDeviceToHost | Self::UnifiedDeviceToDevice
        )
    }
}

impl fmt::Display for CopyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HostToDevice => "Host-to-Device",
            Self::DeviceToHost => "Device-to-Host",
            Self::HostToArray => "Host-to-Array",
            Self::ArrayToHost => "Array-to-Host",
            Self::ArrayToArray => "Array-to-Array",
            Self::ArrayToDevice => "Array-to-Device",
            Self::DeviceToArray => "Device-to-Array",
            Self::DeviceToDevice => "Device-to-Device",
            Self::HostToHost => "Host-to-Host",
            Self::PeerToPeer => "Peer-to-Peer",
            Self::UnifiedHostToDevice => "Unified Host-to-Device",
            Self::UnifiedDeviceToHost => "Unified Device-to-Host",
            Self::UnifiedDeviceToDevice => "Unified Device-to-Device",
            Self::Other(code) => return write!(f, "kind {code}"),
        })
    }
}

/// What was done to memory; displayed as `nsys stats` calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryOperation {
    /// A copy.
    Copy(CopyKind),
    /// A set.
    Set,
}

impl fmt::Display for MemoryOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Copy(kind) => write!(f, "[CUDA memcpy {kind}]"),
            Self::Set => f.write_str("[CUDA memset]"),
        }
    }
}

/// Time and size of the operations of one kind.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MemorySummary {
    /// The kind.
    pub operation: MemoryOperation,
    /// The part of the trace.
    pub scope: Scope,
    /// Their durations.
    pub time: DurationSummary,
    /// Their sizes.
    pub size: SizeSummary,
}

/// The table of copies.
pub(crate) const MEMCPY_TABLE: &str = "CUPTI_ACTIVITY_KIND_MEMCPY";
/// The table of sets.
pub(crate) const MEMSET_TABLE: &str = "CUPTI_ACTIVITY_KIND_MEMSET";

#[derive(Debug, Default)]
struct TimeAndSize {
    time: Samples,
    size: Samples,
}

impl Merge for TimeAndSize {
    fn merge(&mut self, other: Self) {
        self.time.merge(other.time);
        self.size.merge(other.size);
    }
}

/// Copies and sets of one kind, before units are attached.
pub(crate) struct MemoryFigures {
    pub(crate) operation: MemoryOperation,
    pub(crate) scope: Scope,
    pub(crate) time: Summary,
    pub(crate) size: Summary,
}

impl Trace {
    /// Time and size of copies and sets by kind, the most time first; `None` when the export has neither table.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read.
    pub fn memory_summary(&self, selection: Selection) -> Result<Option<Vec<MemorySummary>>> {
        let Some(figures) = self.memory_figures(selection)? else {
            return Ok(None);
        };
        let typed = figures.into_iter().map(|figures| MemorySummary {
            operation: figures.operation,
            scope: figures.scope,
            time: figures.time.into(),
            size: figures.size.into(),
        });
        Ok(Some(typed.collect()))
    }

    pub(crate) fn memory_figures(
        &self,
        selection: Selection,
    ) -> Result<Option<Vec<MemoryFigures>>> {
        let copies = self.sum_memory(MEMCPY_TABLE, "copyKind", selection)?;
        let sets = self.sum_memory(MEMSET_TABLE, "", selection)?;
        if copies.is_none() && sets.is_none() {
            return Ok(None);
        }
        let mut figures: Vec<_> = copies
            .into_iter()
            .chain(sets)
            .flat_map(Grouped::into_groups)
            .filter_map(|((operation, scope), samples)| {
                let (time, size) = samples.time.summary().zip(samples.size.summary())?;
                Some(MemoryFigures {
                    operation,
                    scope,
                    time,
                    size,
                })
            })
            .collect();
        figures.sort_by(|a, b| {
            let by_total = b.time.total.cmp(&a.time.total);
            by_total
                .then_with(|| a.operation.to_string().cmp(&b.operation.to_string()))
                .then(a.scope.cmp(&b.scope))
        });
        Ok(Some(figures))
    }

    /// Sums up one of the two tables; an empty name of the kind's column stands for sets.
    fn sum_memory(
        &self,
        table: &'static str,
        kind: &'static str,
        selection: Selection,
    ) -> Result<Option<Grouped<(MemoryOperation, Scope), TimeAndSize>>> {
        let scope = ScopeReader::at(4, Owner::Stream, selection.split);
        let is_copy = !kind.is_empty();
        let mut columns = vec![
            Column::always("start"),
            Column::always("end"),
            Column::always("bytes"),
            Column {
                name: kind,
                needed: if is_copy {
                    Needed::Always
                } else {
                    Needed::IfThere
                },
            },
        ];
        columns.extend(scope.columns());
        let parts = self.fold_parts(
            table,
            &columns,
            Grouped::<_, TimeAndSize>::default,
            |groups, fields| {
                let (start, end): (i64, i64) = (fields.get(0)?, fields.get(1)?);
                if !selection.window.holds(Nanos(start), Nanos(end)) {
                    return Ok(());
                }
                let operation = if is_copy {
                    MemoryOperation::Copy(CopyKind::from_code(fields.get(3)?))
                } else {
                    MemoryOperation::Set
                };
                let group = groups.entry((operation, scope.read(fields)?));
                group.time.push(end.saturating_sub(start));
                group.size.push(fields.get(2)?);
                Ok(())
            },
        )?;
        Ok(parts.map(Grouped::joined))
    }
}
