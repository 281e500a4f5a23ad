//! What a console said, after the reading rules.

use std::fmt;

use ds_ceilings::Fps;

/// Fewer steady windows than this make a value provisional.
///
/// The number is this project's choice: below it, one odd window weighs more than a sixth of the mean.
pub const MIN_STEADY_WINDOWS: usize = 6;

/// The program or element that printed a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FpsEmitter {
    /// `deepstream-app`, and every program that prints its `**PERF:` columns.
    DeepstreamApp,
    /// `deepstream-test5-app`: the same columns, with the number of active sources and a time between.
    DeepstreamTest5,
    /// `deepstream_parallel_inference_app`: the same columns after one blank, without a header.
    ParallelInference,
    /// The `rtvi-cv` service of the VSS blueprint: one line a stream, value first.
    RtviCv,
    /// The `measure_fps_probe` of the service maker.
    MeasureFpsProbe,
    /// The pyservicemaker `PerfMonitor`, as documented.
    PerfMonitor,
    /// `PERF_DATA` of the Python sample apps: a dictionary.
    PythonPerfData,
    /// `GETFPS` of the Python sample apps up to 1.1: one line a stream.
    PythonGetFps,
    /// The `nvdslogger` element.
    NvdsLogger,
    /// GStreamer's `fpsdisplaysink`.
    FpsDisplaySink,
    /// The `perf` element of gst-perf.
    PerfElement,
    /// The source meter of the DeepStream Services Library, printed by its example callback.
    DslSourceMeter,
    /// The source meter of the DeepStream Services Library in its debug log.
    DslDebugLog,
    /// `deepstream-ipc-test`: an average since start over all sources.
    IpcTest,
    /// Labelled values followed by their total, as a Grounding DINO app prints them.
    GdinoApp,
}

impl fmt::Display for FpsEmitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DeepstreamApp => "deepstream-app",
            Self::DeepstreamTest5 => "deepstream-test5",
            Self::ParallelInference => "deepstream_parallel_inference_app",
            Self::RtviCv => "rtvi-cv",
            Self::MeasureFpsProbe => "measure_fps_probe",
            Self::PerfMonitor => "pyservicemaker PerfMonitor",
            Self::PythonPerfData => "Python PERF_DATA",
            Self::PythonGetFps => "Python GETFPS",
            Self::NvdsLogger => "nvdslogger",
            Self::FpsDisplaySink => "fpsdisplaysink",
            Self::PerfElement => "perf element",
            Self::DslSourceMeter => "DSL source meter",
            Self::DslDebugLog => "DSL debug log",
            Self::IpcTest => "deepstream-ipc-test",
            Self::GdinoApp => "gdino app",
        })
    }
}

/// What the rates count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FpsUnit {
    /// Frames of one stream.
    Frames,
    /// Buffers at a pad. Behind a muxer one buffer is one batch: times the batch size it is frames, and only then.
    Buffers,
}

impl fmt::Display for FpsUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Frames => "frames/s",
            Self::Buffers => "buffers/s",
        })
    }
}

/// How the console names a stream.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FpsStreamId {
    /// The source, pad or column number.
    Index(u32),
    /// A source of one of several pipelines in one process (`PERF(<instance>)`).
    Instance {
        /// The pipeline, in the order of the `-c` arguments.
        instance: u32,
        /// Its source.
        index: u32,
    },
    /// A sensor, element or dictionary key.
    Name(String),
    /// Any one of this many streams: the emitter prints their mean only.
    EachOf(u32),
}

impl fmt::Display for FpsStreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "{index}"),
            Self::Instance { instance, index } => write!(f, "{instance}/{index}"),
            Self::Name(name) => f.write_str(name),
            Self::EachOf(n_streams) => write!(f, "each of {n_streams}"),
        }
    }
}

/// How far a rate can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FpsStatus {
    /// Enough steady windows, none of them suspicious.
    Ok,
    /// Fewer than [`MIN_STEADY_WINDOWS`] steady windows: provisional.
    Short {
        /// The number of steady windows, at least one.
        n: usize,
    },
    /// No steady window.
    None,
    /// The pipeline got ready and never ran. Zeros in such a log are not a rate.
    NeverRunning,
    /// A source stopped, or never started, while others ran.
    Fault,
    /// Every source stopped and no end of stream was seen.
    Stall,
    /// Every steady window is exactly one common source or display rate: the number is right, but it is the pace of
    /// the source, sink or display and says nothing of what the GPU can do.
    Paced {
        /// That rate; the lowest, where streams are paced at several.
        rate: Fps,
    },
    /// Only averages since start were printed: the last one, biased towards start-up.
    Cumulative,
}

impl fmt::Display for FpsStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "ok",
            Self::Short { .. } => "short",
            Self::None => "none",
            Self::NeverRunning => "never-running",
            Self::Fault => "fault",
            Self::Stall => "stall",
            Self::Paced { .. } => "paced",
            Self::Cumulative => "cumulative",
        })
    }
}

/// One stream, over the windows in which it alone is steady.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FpsStream {
    /// Its name; `None` after the set of sources changed without a new header, for then a column can be any source.
    pub id: Option<FpsStreamId>,
    /// What its rates count.
    pub unit: FpsUnit,
    /// The steady windows in the order of the log.
    pub windows: Vec<Fps>,
    /// Their mean. Windows have equal length, so it is frames over time.
    pub mean: Option<Fps>,
    /// Their median; of an even number, the mean of the two in the middle.
    pub median: Option<Fps>,
    /// The last sample, steady or not.
    pub last_sample: Option<Fps>,
    /// How far `mean` can be trusted.
    pub status: FpsStatus,
}

/// The sum over streams, while one and the same set of streams was steady.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FpsSegment {
    /// How many streams the sum is over.
    pub n_streams: usize,
    /// The sum in each window in which every one of these streams has a sample, in the order of the log.
    pub windows: Vec<Fps>,
    /// How many windows the mean rests on: of the stream that has the fewest samples. It exceeds the length of
    /// `windows` only where an emitter printed no number for a stream.
    pub n_windows: usize,
    /// The sum over streams of the mean of each.
    pub mean: Fps,
    /// How far `mean` can be trusted.
    pub status: FpsStatus,
}

/// A whole console, read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FpsLog {
    /// The emitter of everything below; `None` if no line held a rate.
    pub emitter: Option<FpsEmitter>,
    /// Further emitters in the same log. They count the same frames elsewhere and are never added.
    pub other_emitters: Vec<FpsEmitter>,
    /// How many windows the emitter printed, with those before the pipeline ran.
    pub windows_in_log: usize,
    /// The streams in the order in which they appeared; those that count buffers last.
    pub streams: Vec<FpsStream>,
    /// The aggregate, one entry for each stretch of the log with one set of steady streams, in order.
    pub segments: Vec<FpsSegment>,
    /// Whether an end of stream was seen.
    pub saw_end_of_stream: bool,
    /// The verdict on the log as a whole: the worst that holds of any stream, else that of [`Self::aggregate`].
    pub status: FpsStatus,
}

impl FpsLog {
    /// The aggregate over the largest set of streams; of several equal sets the one that was steady longest, then the
    /// first. `None` if nothing was steady, or if the log counts buffers.
    #[must_use]
    pub fn aggregate(&self) -> Option<&FpsSegment> {
        // `max_by_key` returns the last of equal elements, hence the reversal.
        self.segments
            .iter()
            .rev()
            .max_by_key(|segment| (segment.n_streams, segment.n_windows))
    }
}
