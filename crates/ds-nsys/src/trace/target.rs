//! What was captured on: processes, GPUs, and what the profiler itself had to say.

use crate::error::Result;
use crate::ids::ProcessKey;
use crate::rows::{Column, Needed, records};
use crate::trace::Trace;
use crate::units::{Bytes, Nanos};

/// A process of the capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its key in the events.
    pub key: ProcessKey,
    /// Its name, where known.
    pub name: Option<String>,
}

/// A GPU of the machine, whether it was used or not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gpu {
    /// The profiler's own number of the GPU.
    pub id: i64,
    /// The product's name.
    pub name: Option<String>,
    /// The GPU's own unique id.
    pub uuid: Option<String>,
    /// Memory on the device.
    pub memory: Option<Bytes>,
    /// Streaming multiprocessors.
    pub sm_count: Option<i64>,
    /// The processes that see this GPU as a CUDA device, by PID, and the ordinal each gives it; empty where unknown.
    pub ordinals: Vec<(u32, i64)>,
}

/// How grave a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// For the record.
    Info,
    /// Something may be missing.
    Warning,
    /// Something is missing.
    Error,
    /// More than most want to know.
    Verbose,
    /// A code that no known release uses.
    Other(i64),
}

/// Which part of the profiler wrote a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DiagnosticSource {
    /// The part injected into the profiled process.
    Injection,
    /// The collector.
    Daemon,
    /// The importer.
    Analysis,
    /// A code that no known release uses.
    Other(i64),
}

/// A message of the profiler about its own work: the first place to look when something is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// When; comparable with events only if it was taken on the target.
    pub time: Nanos,
    /// How grave.
    pub severity: Severity,
    /// Who says so.
    pub source: DiagnosticSource,
    /// The message as written.
    pub text: String,
    /// The process concerned, if any.
    pub process: Option<ProcessKey>,
}

const ALWAYS: Needed = Needed::Always;
const IF_THERE: Needed = Needed::IfThere;

const fn column(name: &'static str, needed: Needed) -> Column {
    Column { name, needed }
}

impl Trace {
    /// The processes that the export lists, in its order; empty for exports before 2022.
    ///
    /// # Errors
    ///
    /// Fails when the table cannot be read.
    pub fn processes(&self) -> Result<Vec<Process>> {
        let columns = [column("globalPid", IF_THERE), column("name", IF_THERE)];
        let mut processes = Vec::new();
        self.for_each("PROCESSES", &columns, |fields| {
            if let Some(id) = fields.get::<Option<i64>>(0)? {
                let name = fields.text(1)?.map(|name| name.into_owned());
                processes.push(Process {
                    key: ProcessKey::of(id),
                    name,
                });
            }
            Ok(())
        })?;
        Ok(processes)
    }

    /// The GPUs that the export lists, in its order; empty where it lists none.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read.
    pub fn gpus(&self) -> Result<Vec<Gpu>> {
        records! {
            struct CudaDevice: "TARGET_INFO_CUDA_DEVICE" {
                gpu: Option<i64> = "gpuId",
                ordinal: i64 = "cudaId",
                pid: i64 = "pid",
            }
        }
        // Exports of 2020 have another layout: their `deviceId` numbers what `id` numbers later.
        let id = if self.schema().has_column("TARGET_INFO_GPU", "id") {
            "id"
        } else {
            "deviceId"
        };
        let columns = [
            column(id, ALWAYS),
            column("name", IF_THERE),
            column("uuid", IF_THERE),
            column("totalMemory", IF_THERE),
            column("smCount", IF_THERE),
        ];
        let mut gpus = Vec::new();
        self.for_each("TARGET_INFO_GPU", &columns, |fields| {
            gpus.push(Gpu {
                id: fields.get(0)?,
                name: fields.text(1)?.map(|text| text.into_owned()),
                uuid: fields.text(2)?.map(|text| text.into_owned()),
                memory: fields.get::<Option<i64>>(3)?.map(Bytes),
                sm_count: fields.get(4)?,
                ordinals: Vec::new(),
            });
            Ok(())
        })?;
        self.for_each_record(|device: CudaDevice| {
            let Some((id, pid)) = device.gpu.zip(u32::try_from(device.pid).ok()) else {
                return;
            };
            for gpu in gpus.iter_mut().filter(|gpu| gpu.id == id) {
                gpu.ordinals.push((pid, device.ordinal));
            }
        })?;
        Ok(gpus)
    }

    /// What the profiler said about its own work, in the export's order.
    ///
    /// # Errors
    ///
    /// Fails when the table cannot be read.
    pub fn diagnostics(&self) -> Result<Vec<Diagnostic>> {
        let columns = [
            column("timestamp", ALWAYS),
            column("severity", ALWAYS),
            column("source", ALWAYS),
            column("text", ALWAYS),
            column("globalPid", IF_THERE),
        ];
        let mut diagnostics = Vec::new();
        self.for_each("DIAGNOSTIC_EVENT", &columns, |fields| {
            diagnostics.push(Diagnostic {
                time: Nanos(fields.get(0)?),
                severity: severity(fields.get(1)?),
                source: source(fields.get(2)?),
                text: fields
                    .text(3)?
                    .map(|text| text.into_owned())
                    .unwrap_or_default(),
                process: fields.get::<Option<i64>>(4)?.map(ProcessKey::of),
            });
            Ok(())
        })?;
        Ok(diagnostics)
    }
}

/// Codes of `ENUM_DIAGNOSTIC_SEVERITY_LEVEL`, the same in every release that has the table.
fn severity(code: i64) -> Severity {
    match code {
        1 => Severity::Info,
        2 => Severity::Warning,
        3 => Severity::Error,
        4 => Severity::Verbose,
        other => Severity::Other(other),
    }
}

/// Codes of `ENUM_DIAGNOSTIC_SOURCE_TYPE`, the same in every release that has the table.
fn source(code: i64) -> DiagnosticSource {
    match code {
        1 => DiagnosticSource::Injection,
        2 => DiagnosticSource::Daemon,
        3 => DiagnosticSource::Analysis,
        other => DiagnosticSource::Other(other),
    }
}
