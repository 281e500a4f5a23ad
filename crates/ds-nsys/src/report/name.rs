//! Reports by name, as people type them.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use crate::error::Error;
use crate::summary::KernelNaming;

/// A report of `nsys stats` that is reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ReportKind {
    /// Time in CUDA API calls, kernels and memory operations together.
    CudaApiGpuSum,
    /// Time in CUDA API calls.
    CudaApiSum,
    /// Every CUDA API call.
    CudaApiTrace,
    /// Kernel time by name, grid and block.
    CudaGpuKernGbSum,
    /// Kernel time by name.
    CudaGpuKernSum,
    /// Memory operations by size.
    CudaGpuMemSizeSum,
    /// Memory operations by time.
    CudaGpuMemTimeSum,
    /// Kernels and memory operations together.
    CudaGpuSum,
    /// Every kernel and memory operation.
    CudaGpuTrace,
    /// Launch, queue and kernel time of every kernel's launches.
    CudaKernExecSum,
    /// NVTX ranges projected on the GPU work they launched.
    NvtxGpuProjSum,
    /// Kernels by the NVTX ranges that enclose their launch.
    NvtxKernSum,
    /// NVTX push/pop ranges.
    NvtxPushpopSum,
    /// Every NVTX push/pop range.
    NvtxPushpopTrace,
    /// NVTX start/end ranges.
    NvtxStartendSum,
    /// NVTX ranges of both styles.
    NvtxSum,
    /// Time in calls of the operating system's runtime.
    OsrtSum,
    /// Unified memory by the addresses that migrated.
    UmSum,
}

/// One line a report: its kind, its name since 2023.2, and the name before.
const NAMES: &[(ReportKind, &str, &str)] = &[
    (ReportKind::CudaApiGpuSum, "cuda_api_gpu_sum", "apigpusum"),
    (ReportKind::CudaApiSum, "cuda_api_sum", "cudaapisum"),
    (ReportKind::CudaApiTrace, "cuda_api_trace", "cudaapitrace"),
    (ReportKind::CudaGpuKernGbSum, "cuda_gpu_kern_gb_sum", ""),
    (
        ReportKind::CudaGpuKernSum,
        "cuda_gpu_kern_sum",
        "gpukernsum",
    ),
    (
        ReportKind::CudaGpuMemSizeSum,
        "cuda_gpu_mem_size_sum",
        "gpumemsizesum",
    ),
    (
        ReportKind::CudaGpuMemTimeSum,
        "cuda_gpu_mem_time_sum",
        "gpumemtimesum",
    ),
    (ReportKind::CudaGpuSum, "cuda_gpu_sum", "gpusum"),
    (ReportKind::CudaGpuTrace, "cuda_gpu_trace", "gputrace"),
    (
        ReportKind::CudaKernExecSum,
        "cuda_kern_exec_sum",
        "kernexecsum",
    ),
    (ReportKind::NvtxGpuProjSum, "nvtx_gpu_proj_sum", ""),
    (ReportKind::NvtxKernSum, "nvtx_kern_sum", "nvtxkernsum"),
    (ReportKind::NvtxPushpopSum, "nvtx_pushpop_sum", "nvtxppsum"),
    (
        ReportKind::NvtxPushpopTrace,
        "nvtx_pushpop_trace",
        "nvtxpptrace",
    ),
    (
        ReportKind::NvtxStartendSum,
        "nvtx_startend_sum",
        "nvtxsesum",
    ),
    (ReportKind::NvtxSum, "nvtx_sum", "nvtxsum"),
    (ReportKind::OsrtSum, "osrt_sum", "osrtsum"),
    (ReportKind::UmSum, "um_sum", "unifiedmemory"),
];

impl ReportKind {
    /// Every report, by name.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(kind, ..)| *kind)
    }

    /// The name since 2023.2.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES
            .iter()
            .find(|(kind, ..)| *kind == self)
            .map_or("", |(_, name, _)| name)
    }

    /// Whether the report takes `:base` and `:mangled`.
    fn takes_naming(self) -> bool {
        self.takes_nvtx_names() || self == Self::NvtxKernSum
    }

    /// Whether the report takes `:nvtx-name`.
    fn takes_nvtx_names(self) -> bool {
        matches!(
            self,
            Self::CudaApiGpuSum
                | Self::CudaGpuKernGbSum
                | Self::CudaGpuKernSum
                | Self::CudaGpuSum
                | Self::CudaGpuTrace
                | Self::CudaKernExecSum
        )
    }
}

impl fmt::Display for ReportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ReportKind {
    type Err = Error;

    /// Accepts the names since 2023.2 and the older ones.
    fn from_str(name: &str) -> Result<Self, Error> {
        NAMES
            .iter()
            .find(|(_, new, old)| *new == name || (!old.is_empty() && *old == name))
            .map(|(kind, ..)| *kind)
            .ok_or_else(|| Error::UnknownReport {
                name: name.to_owned(),
            })
    }
}

/// Whether kernels are told apart by the NVTX range around their launch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum NvtxNames {
    /// They are not.
    #[default]
    Off,
    /// The innermost range stands before the kernel's name.
    Prefix,
}

/// A report with the options that people type behind it: `cuda_gpu_kern_sum:base:nvtx-name`, `um_sum:rows=20`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Report {
    /// Which report.
    pub kind: ReportKind,
    /// Which of a kernel's names it shows.
    pub naming: KernelNaming,
    /// Whether range names stand before kernel names.
    pub nvtx_names: NvtxNames,
    /// At most so many rows.
    pub rows: Option<NonZeroU32>,
}

impl From<ReportKind> for Report {
    fn from(kind: ReportKind) -> Self {
        Self {
            kind,
            naming: KernelNaming::default(),
            nvtx_names: NvtxNames::default(),
            rows: None,
        }
    }
}

impl FromStr for Report {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut parts = text.split(':');
        let kind: ReportKind = parts.next().unwrap_or_default().parse()?;
        let mut report = Self::from(kind);
        for option in parts {
            let unknown = || Error::UnknownOption {
                report: kind.name(),
                option: option.to_owned(),
            };
            match option {
                "base" if kind.takes_naming() => report.naming = KernelNaming::Base,
                "mangled" if kind.takes_naming() => report.naming = KernelNaming::Mangled,
                "nvtx-name" if kind.takes_nvtx_names() => report.nvtx_names = NvtxNames::Prefix,
                _ => {
                    let rows = option
                        .strip_prefix("rows=")
                        .filter(|_| kind == ReportKind::UmSum);
                    report.rows = Some(
                        rows.and_then(|rows| rows.parse().ok())
                            .ok_or_else(unknown)?,
                    );
                }
            }
        }
        Ok(report)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        match self.naming {
            KernelNaming::Demangled => {}
            KernelNaming::Base => f.write_str(":base")?,
            KernelNaming::Mangled => f.write_str(":mangled")?,
        }
        if self.nvtx_names == NvtxNames::Prefix {
            f.write_str(":nvtx-name")?;
        }
        match self.rows {
            Some(rows) => write!(f, ":rows={rows}"),
            None => Ok(()),
        }
    }
}
