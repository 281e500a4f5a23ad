//! What the profile stage takes out of a trace.

use std::path::Path;

use ds_ceilings::{Fraction, Nanos};
use ds_derive::{BoundKind, Signal, THRESHOLDS};
use ds_nsys::{
    ApiSummary, CategoryOptions, CopyKind, KernelNaming, KernelSummary, MemoryOperation,
    MemorySummary, Metric, MetricUnit, Plugin, PluginTime, Selection, Severity, StepOptions, Trace,
    Window,
};

use crate::error::Error;

/// How many kernels and ranges a report names.
const TOP: usize = 10;

/// Words in the names of kernels and ranges of TensorRT's builder (pipeline-profiling skill of NVIDIA/DeepStream at
/// 581889d).
const BUILDER: [&str; 2] = ["trtBuilder", "cask_engine_build"];

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
    /// Kernels and ranges of TensorRT's builder.
    pub builder: Vec<NamedTime>,
    /// Who marked NVTX ranges, the most time first.
    pub plugins: Vec<PluginReading>,
    /// The detected steps, where the GPU's work repeats.
    pub steps: Option<StepReading>,
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

/// The time of one element that marks ranges.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginReading {
    /// The element.
    pub name: String,
    /// Which plugin it is.
    pub plugin: Plugin,
    /// Time in which any thread was inside one of its ranges.
    pub covered: Nanos,
    /// Time of its threads without what is nested inside; more than the span when several work at once.
    pub self_time: Nanos,
    /// Time of the GPU work that it launched directly.
    pub gpu_time: Nanos,
    /// Its ranges with counters folded, the most time first.
    pub ranges: Vec<NamedTime>,
}

/// The steps of the device with the most of them.
#[derive(Debug, Clone, PartialEq)]
pub struct StepReading {
    /// How they were found.
    pub method: String,
    /// How many.
    pub count: usize,
    /// The median from one start to the next.
    pub median: Nanos,
    /// The busy share of the median step.
    pub busy: Option<Fraction>,
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

    /// Kernels and ranges of TensorRT's builder, as a share of the recorded session; zero where there is none.
    pub fn builder_share(&self) -> Option<Fraction> {
        let total: u64 = self.builder.iter().map(|time| time.total.get()).sum();
        share(Nanos::new(total), self.session.or(self.active_span)?)
    }

    /// What shows that an engine was built while the trace was made: `said` is the line in which the program told it.
    pub fn engine_build(&self, said: Option<String>) -> Vec<String> {
        let built = self.builder.iter().map(|time| {
            format!(
                "`{}` ×{}, {:.1} ms",
                time.name,
                time.count,
                millis(time.total)
            )
        });
        let limit = THRESHOLDS.iter().find(|row| {
            row.kind == BoundKind::EngineBuild && row.signal == Signal::ModuleLoadShare
        });
        let loads = self
            .module_load_share()
            .zip(limit)
            .filter(|(share, row)| share.get() > row.limit.get())
            .map(|(share, row)| {
                format!(
                    "modules were loaded in {share} of the span in which the GPU worked, more than {}",
                    row.limit
                )
            });
        let told = said.map(|line| format!("the program said: {line}"));
        built.chain(loads).chain(told).collect()
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
    let plugins = trace.plugin_times(Window::ALL)?;
    let owners = plugins.iter().flat_map(|times| &times.plugins);
    let ranges = owners
        .flat_map(|owner| &owner.ranges)
        .map(|range| NamedTime {
            name: range.text.clone(),
            count: range.count,
            total: nanos(range.total),
        });
    let builder = kernels
        .iter()
        .flatten()
        .map(|kernel| kernel_time(kernel.clone()))
        .chain(ranges)
        .filter(|time| BUILDER.iter().any(|word| time.name.contains(word)))
        .collect();
    let api = trace.api_summary(selection)?;
    let active = Window {
        from: first.unwrap_or(Window::ALL.from),
        to: last.unwrap_or(Window::ALL.to),
    };
    let metrics = Metrics::read(&trace, active)?;
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
        builder,
        plugins: plugins
            .map(|times| times.plugins.into_iter().map(plugin_reading).collect())
            .unwrap_or_default(),
        steps: read_steps(&trace)?,
        matrix_share: matrix_share(&trace)?,
        sm_active: metrics.sm_active,
        dram: metrics.dram,
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

fn plugin_reading(time: PluginTime) -> PluginReading {
    let ranges = time.ranges.into_iter().take(TOP).map(|range| NamedTime {
        name: range.text,
        count: range.count,
        total: nanos(range.total),
    });
    PluginReading {
        name: time.owner.to_string(),
        plugin: time.owner.plugin,
        covered: nanos(time.covered),
        self_time: nanos(time.self_time),
        gpu_time: nanos(time.gpu_time),
        ranges: ranges.collect(),
    }
}

/// The steps of the device that has the most; a pipeline whose GPU work does not repeat has none.
fn read_steps(trace: &Trace) -> Result<Option<StepReading>, Error> {
    let steps = trace.steps(&StepOptions::default())?;
    let series = steps
        .found()
        .map(|(_, series)| series)
        .max_by_key(|series| series.steps.len());
    Ok(series.map(|series| StepReading {
        method: series.method.to_string(),
        count: series.steps.len(),
        median: Nanos::new(rounded(series.duration.median.0)),
        busy: series
            .busy_share()
            .and_then(|share| Fraction::new(share.0.min(1.0))),
    }))
}

/// Kernels in categories of matrix products and convolutions, as a share of the kernel time.
fn matrix_share(trace: &Trace) -> Result<Option<Fraction>, Error> {
    let Some(categories) = trace.categories(&CategoryOptions::default())? else {
        return Ok(None);
    };
    let shares = categories
        .categories
        .iter()
        .filter(|time| MATRIX_CATEGORIES.contains(&time.category.name()))
        .filter_map(|time| time.share);
    Ok(Fraction::new(
        shares.map(|share| share.0).sum::<f64>().min(1.0),
    ))
}

/// Categories of ds-nsys's taxonomy whose kernels run on the tensor cores.
const MATRIX_CATEGORIES: [&str; 2] = ["gemm", "convolution"];

/// GPU metrics over the span in which the GPU worked.
#[derive(Default)]
struct Metrics {
    sm_active: Option<Fraction>,
    dram: Option<Fraction>,
}

impl Metrics {
    fn read(trace: &Trace, active: Window) -> Result<Self, Error> {
        let Some(samples) = trace.gpu_metrics(active)? else {
            return Ok(Self::default());
        };
        let mean = |wanted: Metric| {
            let found = samples.iter().find(|s| {
                s.metric == Some(wanted) && s.unit == MetricUnit::Percent && s.count() > 0
            })?;
            Some(found.mean().value)
        };
        let dram = mean(Metric::DramRead).zip(mean(Metric::DramWrite));
        Ok(Self {
            sm_active: mean(Metric::SmActive).and_then(Fraction::from_percent),
            dram: dram.and_then(|(read, write)| Fraction::from_percent(read + write)),
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a median of durations is not negative and far below 2^63"
)]
fn rounded(nanos: f64) -> u64 {
    nanos.max(0.0).round() as u64
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

#[expect(
    clippy::cast_precision_loss,
    reason = "milliseconds need no more than 53 bits"
)]
fn millis(time: Nanos) -> f64 {
    time.get() as f64 / 1e6
}

/// A duration of the trace; negative ones do not occur in sums of valid rows.
fn nanos(time: ds_nsys::Nanos) -> Nanos {
    Nanos::new(u64::try_from(time.0).unwrap_or(0))
}
