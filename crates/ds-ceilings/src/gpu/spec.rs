//! One product: what NVIDIA prints about it and what was seen on real boards.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};

use crate::units::{Bytes, BytesPerSec, Megahertz, OpsPerSec};

/// A CUDA compute capability, such as 9.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputeCap {
    major: u8,
    minor: u8,
}

impl ComputeCap {
    /// Takes both numbers.
    #[must_use]
    pub const fn new(major: u8, minor: u8) -> Self {
        Self { major, minor }
    }

    /// The number before the point.
    #[must_use]
    pub const fn major(self) -> u8 {
        self.major
    }

    /// The number behind the point.
    #[must_use]
    pub const fn minor(self) -> u8 {
        self.minor
    }

    /// FP32 lanes per SM, by which NVML's core count is divided to get SMs; `None` for capabilities
    /// not listed.
    ///
    /// Source: CUDA C++ Programming Guide, "Compute Capabilities", arithmetic throughput of 32-bit
    /// floating point.
    #[must_use]
    pub const fn cores_per_sm(self) -> Option<u32> {
        match (self.major, self.minor) {
            (6, 0) | (7, 0 | 2 | 5) | (8, 0) => Some(64),
            (6, 1) | (8, 6 | 7 | 9) | (9, 0) | (10 | 12, _) | (11, 0) => Some(128),
            _ => None,
        }
    }
}

impl fmt::Display for ComputeCap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The text is no compute capability.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no compute capability such as `9.0`")]
pub struct ParseComputeCapError {
    /// What was given.
    text: String,
}

impl FromStr for ComputeCap {
    type Err = ParseComputeCapError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (major, minor) = text.trim().split_once('.')?;
            Some(Self {
                major: major.parse().ok()?,
                minor: minor.parse().ok()?,
            })
        };
        parse().ok_or_else(|| ParseComputeCapError {
            text: text.to_owned(),
        })
    }
}

impl<'de> Deserialize<'de> for ComputeCap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

/// A number format of the tensor cores, with the accumulator where it changes the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Precision {
    /// FP16 with the faster accumulator.
    Fp16,
    /// FP16 with FP32 accumulation: half the rate on GeForce, the same elsewhere.
    Fp16Acc32,
    /// BF16, from compute capability 8.0 on.
    Bf16,
    /// TF32, which always accumulates in FP32.
    Tf32,
    /// FP8 with the faster accumulator.
    Fp8,
    /// FP8 with FP32 accumulation: half the rate on GeForce, the same elsewhere.
    Fp8Acc32,
    /// INT8; dp4a where there is no INT8 tensor path.
    Int8,
    /// FP4.
    Fp4,
}

impl Precision {
    /// Every precision, in the order in which reports list them.
    pub const ALL: [Self; 8] = [
        Self::Fp16,
        Self::Fp16Acc32,
        Self::Bf16,
        Self::Tf32,
        Self::Fp8,
        Self::Fp8Acc32,
        Self::Int8,
        Self::Fp4,
    ];

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fp16 => "FP16",
            Self::Fp16Acc32 => "FP16 (FP32 accumulate)",
            Self::Bf16 => "BF16",
            Self::Tf32 => "TF32",
            Self::Fp8 => "FP8",
            Self::Fp8Acc32 => "FP8 (FP32 accumulate)",
            Self::Int8 => "INT8",
            Self::Fp4 => "FP4",
        }
    }

    /// The unit in which data sheets print this rate.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Int8 => "TOPS",
            _ => "TFLOP/s",
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One optional value per precision, with the keys of the data files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerPrecision<T> {
    fp16: Option<T>,
    fp16_acc32: Option<T>,
    tf32: Option<T>,
    int8: Option<T>,
    fp8: Option<T>,
    fp8_acc32: Option<T>,
    fp4: Option<T>,
}

impl<T> Default for PerPrecision<T> {
    fn default() -> Self {
        Self {
            fp16: None,
            fp16_acc32: None,
            tf32: None,
            int8: None,
            fp8: None,
            fp8_acc32: None,
            fp4: None,
        }
    }
}

impl<T: Copy> PerPrecision<T> {
    /// The value written for this precision, without any fallback. BF16 has no key of its own.
    #[must_use]
    pub fn get(&self, precision: Precision) -> Option<T> {
        match precision {
            Precision::Fp16 => self.fp16,
            Precision::Fp16Acc32 => self.fp16_acc32,
            Precision::Bf16 => None,
            Precision::Tf32 => self.tf32,
            Precision::Fp8 => self.fp8,
            Precision::Fp8Acc32 => self.fp8_acc32,
            Precision::Int8 => self.int8,
            Precision::Fp4 => self.fp4,
        }
    }
}

/// Where a tensor clock comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockBasis {
    /// NVIDIA prints it.
    Printed,
    /// Computed back from the printed tensor figure: it reproduces that figure by construction.
    Fitted,
}

/// The clock behind NVIDIA's tensor figures, where the boost clock does not give them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorClock {
    /// The clock.
    #[serde(rename = "mhz", deserialize_with = "megahertz")]
    pub clock: Megahertz,
    /// Where it comes from.
    pub basis: ClockBasis,
}

/// How the host reaches the GPU's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostLink {
    /// A PCIe slot or its equivalent.
    #[default]
    Pcie,
    /// `NVLink-C2C` of the Grace parts.
    NvlinkC2c,
    /// Host and GPU use the same memory: Jetson, GB10.
    SharedMemory,
}

/// The memory of a product.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct MemorySpec {
    /// The technology, such as `HBM3e`.
    pub kind: String,
    /// Width of the bus in bits.
    pub bus_bits: Option<u32>,
    /// The maximum that nvidia-smi prints.
    #[serde(rename = "clock_mhz", default, deserialize_with = "optional_megahertz")]
    pub clock: Option<Megahertz>,
    /// The bandwidth that NVIDIA prints.
    #[serde(
        rename = "bandwidth_gb_s",
        default,
        deserialize_with = "optional_bandwidth"
    )]
    pub bandwidth: Option<BytesPerSec>,
}

/// The decoders of a product.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct NvdecSpec {
    /// Number of engines.
    pub count: Option<u32>,
    /// The generation as NVIDIA's support matrix counts it, such as `4th`.
    pub generation: Option<String>,
    /// Where the count comes from.
    pub source: Option<String>,
}

/// What tells apart products that print the same name.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Select {
    /// Nominal memory in MiB.
    pub(crate) memory_mib: Option<u64>,
    /// Part of `/proc/device-tree/model`.
    pub(crate) device_tree: Option<String>,
}

impl Select {
    /// The nominal memory.
    pub(crate) fn memory(&self) -> Option<Bytes> {
        self.memory_mib.map(Bytes::from_mib)
    }
}

/// Maxima that nvidia-smi printed on real boards.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeenMax {
    #[serde(
        rename = "video_clock_mhz",
        default,
        deserialize_with = "optional_megahertz"
    )]
    video_clock: Option<Megahertz>,
    #[serde(
        rename = "sm_clock_mhz",
        default,
        deserialize_with = "optional_megahertz"
    )]
    sm_clock: Option<Megahertz>,
}

/// How a printed figure was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DataSheet {
    /// From a quotation of the data sheet.
    Quoted,
}

/// The `pcie` key.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PcieSpec {
    #[serde(rename = "gen")]
    generation: Option<u8>,
    width: Option<u8>,
}

/// One product. `None` means unknown.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct GpuSpec {
    /// As nvidia-smi prints it.
    pub name: String,
    /// Other spellings that were seen.
    #[serde(default)]
    pub aliases: Vec<String>,
    variant: Option<String>,
    #[serde(default)]
    pub(crate) select: Select,
    /// The CUDA compute capability.
    pub compute_cap: ComputeCap,
    /// The architecture, such as `Hopper`.
    pub architecture: String,
    /// Number of streaming multiprocessors.
    pub sm_count: Option<u32>,
    /// The boost clock of the data sheet.
    #[serde(
        rename = "boost_clock_mhz",
        default,
        deserialize_with = "optional_megahertz"
    )]
    pub boost_clock: Option<Megahertz>,
    /// The clock of NVIDIA's tensor figures, where it is another.
    pub tensor_clock: Option<TensorClock>,
    /// The memory.
    pub memory: MemorySpec,
    #[serde(default, rename = "printed_tera")]
    printed: PerPrecision<f64>,
    #[serde(default, rename = "ops_per_clk_sm")]
    ops: PerPrecision<u32>,
    /// The video decoders.
    #[serde(default)]
    pub nvdec: NvdecSpec,
    /// Number of video encoders.
    pub nvenc_count: Option<u32>,
    /// How the host reaches the GPU.
    #[serde(default)]
    pub host_link: HostLink,
    #[serde(default)]
    pcie: PcieSpec,
    /// Board power in watts.
    pub tdp_w: Option<u32>,
    #[serde(default)]
    seen_max: SeenMax,
    /// What else a reader should know.
    pub notes: Option<String>,
    data_sheet: Option<DataSheet>,
    /// Where the values come from.
    pub sources: Vec<String>,
}

impl GpuSpec {
    /// A name that no other product of the table has: the printed one, or the variant's.
    #[must_use]
    pub fn label(&self) -> &str {
        self.variant.as_deref().unwrap_or(&self.name)
    }

    /// Dense operations per clock and SM.
    ///
    /// BF16 runs at the FP16 rate from compute capability 8.0 on and does not exist before; FP32
    /// accumulation costs nothing where the data names no rate of its own.
    #[must_use]
    pub fn ops_per_clk_sm(&self, precision: Precision) -> Option<u32> {
        self.with_fallback(&self.ops, precision)
    }

    /// The dense rate that NVIDIA prints.
    #[must_use]
    pub fn printed(&self, precision: Precision) -> Option<OpsPerSec> {
        self.with_fallback(&self.printed, precision)
            .and_then(OpsPerSec::from_tera)
    }

    /// The clock that reproduces NVIDIA's tensor figures.
    #[must_use]
    pub fn published_clock(&self) -> Option<Megahertz> {
        self.tensor_clock
            .map(|tensor| tensor.clock)
            .or(self.boost_clock)
    }

    /// The highest PCIe generation of the device.
    #[must_use]
    pub fn pcie_gen(&self) -> Option<u8> {
        self.pcie.generation
    }

    /// The PCIe lanes of the device.
    #[must_use]
    pub fn pcie_width(&self) -> Option<u8> {
        self.pcie.width
    }

    /// The maximum video clock that nvidia-smi printed on a real board.
    #[must_use]
    pub fn seen_video_clock(&self) -> Option<Megahertz> {
        self.seen_max.video_clock
    }

    /// The maximum SM clock that nvidia-smi printed on a real board.
    #[must_use]
    pub fn seen_sm_clock(&self) -> Option<Megahertz> {
        self.seen_max.sm_clock
    }

    /// Whether a printed figure was taken from a quotation of the data sheet and not from the sheet
    /// itself.
    #[must_use]
    pub fn is_quoted(&self) -> bool {
        self.data_sheet == Some(DataSheet::Quoted)
    }

    fn with_fallback<T: Copy>(&self, values: &PerPrecision<T>, precision: Precision) -> Option<T> {
        match precision {
            Precision::Bf16 if self.compute_cap.major() >= 8 => values.get(Precision::Fp16),
            // A printed GeForce figure for the fast accumulator says nothing about the slow one.
            Precision::Fp16Acc32 if self.ops.get(precision).is_none() => values
                .get(precision)
                .or_else(|| values.get(Precision::Fp16)),
            Precision::Fp8Acc32 if self.ops.get(precision).is_none() => {
                values.get(precision).or_else(|| values.get(Precision::Fp8))
            }
            _ => values.get(precision),
        }
    }
}

fn megahertz<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Megahertz, D::Error> {
    u32::deserialize(deserializer).map(Megahertz::new)
}

pub(super) fn optional_megahertz<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Megahertz>, D::Error> {
    megahertz(deserializer).map(Some)
}

pub(super) fn optional_gib<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Bytes>, D::Error> {
    let value = f64::deserialize(deserializer)?;
    Bytes::from_gib(value)
        .map(Some)
        .ok_or_else(|| de::Error::custom("no amount of memory"))
}

fn optional_bandwidth<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BytesPerSec>, D::Error> {
    let value = f64::deserialize(deserializer)?;
    BytesPerSec::from_giga(value)
        .map(Some)
        .ok_or_else(|| de::Error::custom("a bandwidth is finite and not negative"))
}
