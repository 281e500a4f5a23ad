//! What the profile stage takes out of a trace.

use std::path::Path;

use ds_ceilings::{Fraction, Nanos};
use ds_nsys::{
    ApiSummary, CopyKind, KernelNaming, KernelSummary, MemoryOperation, MemorySummary,
    RangeSummary, Selection, Severity, Trace, Window,
};

use crate::error::Error;

/// How many kernels and ranges a report names.
const TOP: usize = 10;

/// One trace, summed up.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceReading {
    /// Which nsys wrote the export, as it names itself.
    pub written_by: Option<String>,
    /// From the first GPU operation to the end of the last, over all devices.
    pub active_span: Option<Nanos>,
    /// Length of the recorded session.
    pub session: Option<Nanos>,
    /// Each device of each process.
    pub devices: Vec<DeviceReading>,
    /// The kernels with the most time.
    pub kernels: Vec<NamedTime>,
    /// Time of all kernels; what overlaps counts twice.
    pub kernel_total: Option<Nanos>,
    /// Kernels, or groups of kernels, by name.
    pub kernel_names: usize,
    /// Time of copies by kind.
    pub copies: Vec<NamedTime>,
    /// Time in CUDA API calls.
    pub api_total: Option<Nanos>,
    /// Time in synchronisation calls.
    pub sync_total: Option<Nanos>,
    /// Time in calls that load modules.
    pub module_load_total: Option<Nanos>,
    /// The NVTX ranges with the most time.
    pub ranges: Vec<NamedTime>,
    /// Whether any range of nvinfer's domain is in the trace.
    pub has_nvinfer_ranges: bool,
    /// Share of the median detected step in which the GPU was busy; `None` where no steps were found.
    pub step_busy: Option<Fraction>,
    /// Share of the kernel time in matrix products and convolutions.
    pub matrix_share: Option<Fraction>,
    /// Share of time in which the multiprocessors were active, where GPU metrics were sampled.
    pub sm_active: Option<Fraction>,
    /// Share of the memory bandwidth in use, where GPU metrics were sampled.
    pub dram: Option<Fraction>,
    /// Warnings and errors that nsys wrote into the trace itself.
    pub diagnostics: Vec<String>,
}

/// A device of a process.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceReading {
    /// The process.
    pub pid: u32,
    /// The device as its process numbers it.
    pub device: String,
    /// Time in which it did anything.
    pub busy: Nanos,
    /// Time in which a kernel ran.
    pub kernels: Nanos,
    /// From its first operation to the end of its last.
    pub span: Option<Nanos>,
    /// Whether the busy time is an upper figure.
    pub is_upper_figure: bool,
}

/// A name, how often it occurred and how long it took.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedTime {
    /// The name.
    pub name: String,
    /// How often.
    pub count: u64,
    /// How long in sum.
    pub total: Nanos,
}

impl TraceReading {
    /// Copies between host and device and within a device, as a share of the span in which the GPU worked.
    pub fn memcpy_share(&self) -> Option<Fraction> {
        let span = self.active_span?;
        let total: u64 = self.copies.iter().map(|copy| copy.total.get()).sum();
        share(Nanos::new(total), span)
    }

    /// Synchronisation calls, as a share of the time in CUDA API calls.
    pub fn sync_share(&self) -> Option<Fraction> {
        share(self.sync_total?, self.api_total?)
    }

    /// Module loads, as a share of the span in which the GPU worked.
    pub fn module_load_share(&self) -> Option<Fraction> {
        share(self.module_load_total?, self.active_span?)
    }

    /// The busiest device's busy time over its span.
    pub fn busy_share(&self) -> Option<Fraction> {
        let busiest = self.devices.iter().max_by_key(|device| device.busy)?;
        share(busiest.busy, busiest.span?)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a share needs no more than 53 bits"
)]
fn share(part: Nanos, whole: Nanos) -> Option<Fraction> {
    // API time is summed over threads and can exceed the span.
    Fraction::of(
        (part.get() as f64).min(whole.get() as f64),
        whole.get() as f64,
    )
}

/// Opens a trace and sums it up.
///
/// # Errors
///
/// When the file is no readable export.
pub fn read_trace(path: &Path) -> Result<TraceReading, Error> {
    let trace = Trace::open(path)?;
    let busy = trace.busy(Window::ALL)?;
    let selection = Selection::default();
    let devices: Vec<DeviceReading> = busy
        .devices
        .iter()
        .map(|device| DeviceReading {
            pid: device.device.process.pid(),
            device: device.device.ordinal.to_string(),
            busy: nanos(device.busy_time()),
            kernels: nanos(device.kernel_time()),
            span: device.span().map(|span| nanos(span.duration())),
            is_upper_figure: device.is_upper_figure(),
        })
        .collect();
    let first = busy
        .devices
        .iter()
        .filter_map(|d| d.span())
        .map(|s| s.start)
        .min();
    let last = busy
        .devices
        .iter()
        .filter_map(|d| d.span())
        .map(|s| s.end)
        .max();
    let kernels = trace.kernel_summary(KernelNaming::Demangled, selection)?;
    let api = trace.api_summary(selection)?;
    let ranges = trace
        .range_summary(selection)?
        .map(|found| found.ranges)
        .unwrap_or_default();
    Ok(TraceReading {
        written_by: trace.version().product.as_ref().map(ToString::to_string),
        active_span: first.zip(last).map(|(first, last)| nanos(last - first)),
        session: trace.session_duration()?.map(nanos),
        devices,
        kernel_total: kernels
            .as_ref()
            .map(|k| nanos(k.iter().map(|k| k.time.total).sum())),
        kernel_names: kernels.as_ref().map_or(0, Vec::len),
        kernels: kernels
            .into_iter()
            .flatten()
            .take(TOP)
            .map(kernel_time)
            .collect(),
        copies: trace
            .memory_summary(selection)?
            .into_iter()
            .flatten()
            .filter_map(copy_time)
            .collect(),
        api_total: api.as_ref().map(|api| api_time(api, |_| true)),
        sync_total: api
            .as_ref()
            .map(|api| api_time(api, ApiSummary::is_synchronization)),
        module_load_total: api.as_ref().map(|api| api_time(api, is_module_load)),
        has_nvinfer_ranges: ranges
            .iter()
            .any(|range| domain(range).starts_with("GstNvInfer")),
        ranges: ranges.into_iter().take(TOP).map(range_time).collect(),
        step_busy: None,
        matrix_share: None,
        sm_active: None,
        dram: None,
        diagnostics: trace
            .diagnostics()?
            .into_iter()
            .filter(|d| matches!(d.severity, Severity::Warning | Severity::Error))
            .map(|d| d.text)
            .collect(),
    })
}

/// Copies that the boundedness table counts; unified-memory migrations are no copies that a pipeline asked for.
fn copy_time(memory: MemorySummary) -> Option<NamedTime> {
    match memory.operation {
        MemoryOperation::Copy(
            CopyKind::HostToDevice
            | CopyKind::DeviceToHost
            | CopyKind::DeviceToDevice
            | CopyKind::PeerToPeer,
        ) => Some(NamedTime {
            name: memory.operation.to_string(),
            count: memory.time.count,
            total: nanos(memory.time.total),
        }),
        _ => None,
    }
}

fn kernel_time(kernel: KernelSummary) -> NamedTime {
    NamedTime {
        name: kernel.name.to_string(),
        count: kernel.time.count,
        total: nanos(kernel.time.total),
    }
}

fn range_time(range: RangeSummary) -> NamedTime {
    let name = range.name.printed(ds_nsys::Style::V2025);
    NamedTime {
        name,
        count: range.time.count,
        total: nanos(range.time.total),
    }
}

fn domain(range: &RangeSummary) -> &str {
    range.name.domain.as_deref().unwrap_or_default()
}

/// Calls by which the CUDA runtime and driver load code onto the device (CUDA driver API, "Module Management" and
/// "Library Management").
fn is_module_load(api: &ApiSummary) -> bool {
    ["cuModuleLoad", "cuLibraryLoad"]
        .iter()
        .any(|prefix| api.name.starts_with(prefix))
}

fn api_time(api: &[ApiSummary], wanted: impl Fn(&ApiSummary) -> bool) -> Nanos {
    nanos(
        api.iter()
            .filter(|call| wanted(call))
            .map(|call| call.time.total)
            .sum(),
    )
}

/// A duration of the trace; negative ones do not occur in sums of valid rows.
fn nanos(time: ds_nsys::Nanos) -> Nanos {
    Nanos::new(u64::try_from(time.0).unwrap_or(0))
}
