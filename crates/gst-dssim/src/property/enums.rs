//! The choices of properties that are enumerations.

/// An enumeration, under the name that its GType has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Choices {
    /// Memory of buffers.
    NvBufMemory,
    /// Memory of decoded frames.
    CudaDecMemory,
    /// What a full queue drops.
    Leaky,
    /// Which hardware converts.
    ComputeHw,
    /// Whether a model sees frames or objects.
    ProcessMode,
    /// Who draws.
    OsdMode,
    /// How a picture is scaled.
    Interpolation,
    /// What a tracker does with its ids.
    IdReset,
    /// Which frames a decoder skips.
    SkipFrames,
    /// What kind of source a URI is.
    SourceType,
}

impl Choices {
    /// All.
    pub const ALL: [Self; 10] = [
        Self::NvBufMemory,
        Self::CudaDecMemory,
        Self::Leaky,
        Self::ComputeHw,
        Self::ProcessMode,
        Self::OsdMode,
        Self::Interpolation,
        Self::IdReset,
        Self::SkipFrames,
        Self::SourceType,
    ];

    /// The name of the GType; the real ones repeat one name in several libraries, which one library cannot.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::NvBufMemory => "DssimNvBufMemoryType",
            Self::CudaDecMemory => "DssimCudaDecMemType",
            Self::Leaky => "DssimLeaky",
            Self::ComputeHw => "DssimComputeHw",
            Self::ProcessMode => "DssimProcessMode",
            Self::OsdMode => "DssimOsdMode",
            Self::Interpolation => "DssimInterpolation",
            Self::IdReset => "DssimTrackingIdReset",
            Self::SkipFrames => "DssimSkipFrames",
            Self::SourceType => "DssimSourceType",
        }
    }

    /// Values and nicks.
    pub fn values(self) -> &'static [(i32, &'static str)] {
        match self {
            Self::NvBufMemory => &[
                (0, "nvbuf-mem-default"),
                (1, "nvbuf-mem-cuda-pinned"),
                (2, "nvbuf-mem-cuda-device"),
                (3, "nvbuf-mem-cuda-unified"),
                (4, "nvbuf-mem-surface-array"),
            ],
            Self::CudaDecMemory => &[
                (0, "memtype_device"),
                (1, "memtype_pinned"),
                (2, "memtype_unified"),
            ],
            Self::Leaky => &[(0, "no"), (1, "upstream"), (2, "downstream")],
            Self::ComputeHw => &[(0, "Default"), (1, "GPU"), (2, "VIC")],
            Self::ProcessMode => &[(1, "primary"), (2, "secondary")],
            Self::OsdMode => &[(0, "CPU_MODE"), (1, "GPU_MODE")],
            Self::Interpolation => &[
                (0, "Nearest"),
                (1, "Bilinear"),
                (2, "Algo-1"),
                (3, "Algo-2"),
                (4, "Algo-3"),
                (5, "Algo-4"),
                (6, "Default"),
            ],
            Self::IdReset => &[
                (0, "none"),
                (1, "on-stream-reset"),
                (2, "on-eos"),
                (3, "on-both"),
            ],
            Self::SkipFrames => &[(0, "decode_all"), (1, "decode_non_ref"), (2, "decode_key")],
            Self::SourceType => &[(0, "auto"), (1, "uri"), (2, "rtsp")],
        }
    }
}
