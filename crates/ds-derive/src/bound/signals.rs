//! The signals that the table of bounds reads.

use std::fmt;

use ds_ceilings::{Fps, Fraction, Nanos, StreamCount};

use crate::plateau::pace;

/// What was measured about a pipeline. Whatever was not stays `None`.
///
/// Shares come from the profiled run, rates from the run without a profiler, utilisation from the steady samples only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signals {
    /// Share of the window in TensorRT builder kernels or ranges.
    pub builder_share: Option<Fraction>,
    /// Share of the window in which modules were loaded.
    pub module_load_share: Option<Fraction>,
    /// Share of wall time in copies, host to device, device to host and device to device.
    pub memcpy_share: Option<Fraction>,
    /// Utilisation of the video decoders.
    pub decoder_utilisation: Option<Fraction>,
    /// Streams of the whole pipeline.
    pub streams: Option<StreamCount>,
    /// Frame rate of the whole pipeline, summed over the streams.
    pub e2e: Option<Fps>,
    /// The steady windows behind it, each summed over the streams.
    pub e2e_windows: Vec<Fps>,
    /// Frame rate of the inference plateau, or of the largest batch that ran.
    pub plateau: Option<Fps>,
    /// The decode ceiling at the codec and size of the sources.
    pub decode_ceiling: Option<Fps>,
    /// Rate of the sweep at batch 1.
    pub sweep_at_1: Option<Fps>,
    /// Rate of the sweep at batch 2.
    pub sweep_at_2: Option<Fps>,
    /// Share of the detected steps in which the GPU was busy.
    pub gpu_busy: Option<Fraction>,
    /// Share of the kernel time in matrix products and convolutions.
    pub matrix_share: Option<Fraction>,
    /// Share of time in which a multiprocessor was active, over all multiprocessors.
    pub sm_active: Option<Fraction>,
    /// Share of the memory bandwidth in use, reads and writes together.
    pub dram: Option<Fraction>,
    /// Total of the tracker's ranges.
    pub tracker_total: Option<Nanos>,
    /// Total of the inference ranges.
    pub infer_total: Option<Nanos>,
    /// Frame rate into the tracker.
    pub tracker_input: Option<Fps>,
    /// Frame rate out of the tracker.
    pub tracker_output: Option<Fps>,
    /// Share of the CUDA API time spent in synchronisation calls.
    pub sync_share: Option<Fraction>,
    /// Share of time in which the GPU did nothing.
    pub gpu_idle: Option<Idle>,
    /// Frame rate at which each source delivers, if it has a pace of its own.
    pub source_rate: Option<Fps>,
    /// Frame rate at which a synchronised sink or the display takes each stream.
    pub sink_rate: Option<Fps>,
}

/// A share or a quotient of two measurements: finite, never negative, and above one where the first is the larger.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Ratio(pub(super) f64);

impl Ratio {
    /// Takes a number; `None` if it is negative, infinite or NaN.
    #[must_use]
    pub fn new(value: f64) -> Option<Self> {
        (value.is_finite() && value >= 0.0).then_some(Self(value))
    }

    /// The number: 0.9 for 90 %.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl From<Fraction> for Ratio {
    fn from(share: Fraction) -> Self {
        Self(share.get())
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(1);
        write!(f, "{:.digits$} %", self.0 * 100.0)
    }
}

/// How much of what the GPU was idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The share.
    pub share: Fraction,
    /// Of what.
    pub of: IdleBasis,
}

/// What an idle share is a share of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdleBasis {
    /// The median detected step.
    MedianStep,
    /// The span from the first to the last GPU activity, where no steps were detected.
    GpuActiveSpan,
}

/// A number that the table compares with a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    /// [`Signals::builder_share`].
    BuilderShare,
    /// [`Signals::module_load_share`].
    ModuleLoadShare,
    /// [`Signals::memcpy_share`].
    MemcpyShare,
    /// [`Signals::decoder_utilisation`].
    DecoderUtilisation,
    /// The whole pipeline's rate over the decode ceiling.
    E2eOfDecodeCeiling,
    /// The sweep's rate at batch 1 over that at batch 2.
    SweepOneOfTwo,
    /// [`Signals::gpu_busy`].
    GpuBusy,
    /// The whole pipeline's rate over the plateau.
    E2eOfPlateau,
    /// [`Signals::matrix_share`].
    MatrixShare,
    /// [`Signals::sm_active`].
    SmActive,
    /// [`Signals::dram`].
    Dram,
    /// The tracker's range total over that of inference.
    TrackerOfInfer,
    /// The tracker's output rate over its input rate.
    TrackerOutputOfInput,
    /// [`Signals::sync_share`].
    SyncShare,
    /// [`Signals::gpu_idle`].
    GpuIdle,
    /// How far the rate of a stream is from that of its source, as a share of the latter.
    OffSourceRate,
    /// How far the rate of a stream is from that of the sink, as a share of the latter.
    OffSinkRate,
    /// Share of the windows at one common pacing rate: all or nothing.
    WindowsAtOneRate,
}

impl Signal {
    /// What it is, in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BuilderShare => "engine builder, share of the window",
            Self::ModuleLoadShare => "module loading, share of the window",
            Self::MemcpyShare => "copies, share of wall time",
            Self::DecoderUtilisation => "decoder utilisation",
            Self::E2eOfDecodeCeiling => "E2E rate as a share of the decode ceiling",
            Self::SweepOneOfTwo => "sweep rate at batch 1 as a share of that at batch 2",
            Self::GpuBusy => "GPU busy within steps",
            Self::E2eOfPlateau => "E2E rate as a share of the plateau",
            Self::MatrixShare => "matrix products and convolutions, share of kernel time",
            Self::SmActive => "SM active",
            Self::Dram => "DRAM read and write",
            Self::TrackerOfInfer => "tracker ranges as a share of the inference ranges",
            Self::TrackerOutputOfInput => "tracker output rate as a share of its input rate",
            Self::SyncShare => "synchronisation, share of CUDA API time",
            Self::GpuIdle => "GPU idle",
            Self::OffSourceRate => "distance from the source rate",
            Self::OffSinkRate => "distance from the sink or display rate",
            Self::WindowsAtOneRate => "windows at exactly one pacing rate",
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Signals {
    /// The number behind a signal; `None` if something that it needs was not measured.
    #[must_use]
    pub fn read(&self, signal: Signal) -> Option<Ratio> {
        match signal {
            Signal::BuilderShare => self.builder_share.map(Ratio::from),
            Signal::ModuleLoadShare => self.module_load_share.map(Ratio::from),
            Signal::MemcpyShare => self.memcpy_share.map(Ratio::from),
            Signal::DecoderUtilisation => self.decoder_utilisation.map(Ratio::from),
            Signal::E2eOfDecodeCeiling => quotient(self.e2e, self.decode_ceiling),
            Signal::SweepOneOfTwo => quotient(self.sweep_at_1, self.sweep_at_2),
            Signal::GpuBusy => self.gpu_busy.map(Ratio::from),
            Signal::E2eOfPlateau => quotient(self.e2e, self.plateau),
            Signal::MatrixShare => self.matrix_share.map(Ratio::from),
            Signal::SmActive => self.sm_active.map(Ratio::from),
            Signal::Dram => self.dram.map(Ratio::from),
            Signal::TrackerOfInfer => Ratio::new(
                self.tracker_total?
                    .seconds()
                    .ratio_to(self.infer_total?.seconds())?,
            ),
            Signal::TrackerOutputOfInput => quotient(self.tracker_output, self.tracker_input),
            Signal::SyncShare => self.sync_share.map(Ratio::from),
            Signal::GpuIdle => self.gpu_idle.map(|idle| Ratio::from(idle.share)),
            Signal::OffSourceRate => self.off_rate(self.source_rate?),
            Signal::OffSinkRate => self.off_rate(self.sink_rate?),
            Signal::WindowsAtOneRate => {
                let streams = self.streams?;
                let paced = pace(&self.e2e_windows, streams).is_some();
                (!self.e2e_windows.is_empty()).then_some(Ratio(if paced { 1.0 } else { 0.0 }))
            }
        }
    }

    /// How far the mean rate of a stream is from `rate`, as a share of `rate`.
    fn off_rate(&self, rate: Fps) -> Option<Ratio> {
        let streams = f64::from(self.streams?.get());
        let per_stream = self.e2e?.scaled(streams.recip())?;
        Ratio::new((per_stream.ratio_to(rate)? - 1.0).abs())
    }
}

fn quotient(part: Option<Fps>, whole: Option<Fps>) -> Option<Ratio> {
    Ratio::new(part?.ratio_to(whole?)?)
}
