//! One product: what NVIDIA prints about it and what was seen on real boards.

use serde::{Deserialize, Deserializer, de};

use super::compute_cap::ComputeCap;
use super::precision::{PerPrecision, Precision};
use crate::units::{Bytes, BytesPerSec, Megahertz, OpsPerSec};

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

pub(super) fn megahertz<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Megahertz, D::Error> {
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
