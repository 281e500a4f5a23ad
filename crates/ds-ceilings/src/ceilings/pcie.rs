//! How fast data crosses between host and GPU.

use std::fmt;

use super::context::Context;
use super::limit::{Ceiling, Confidence, Limit};
use crate::gpu::{ComputeCap, GpuSpec, HostLink};
use crate::units::BytesPerSec;

/// Framing 4, header of three double words 12, link checksum 4 bytes: read completions, which carry
/// host-to-device copies. Source: PCI Express Base Specification, transaction and data link layer
/// packet formats.
const READ_OVERHEAD: f64 = 20.0;

/// As above with a header of four double words: writes to a 64-bit address, which carry
/// device-to-host copies.
const WRITE_OVERHEAD: f64 = 24.0;

/// One direction of NVLink-C2C: half of the 900 GB/s in total that [`C2C_SOURCE`] prints for Grace
/// Hopper. That both directions are equal is an inference, and no measurement confirms it.
const C2C_GIGA_PER_DIRECTION: f64 = 450.0;

/// Where the figure of NVLink-C2C stands.
const C2C_SOURCE: &str =
    "NVIDIA Technical Blog, \"NVIDIA Grace Hopper Superchip Architecture In-Depth\" (2022-11)";

/// A generation of PCI Express.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PcieGeneration {
    /// 2.5 GT/s.
    Gen1,
    /// 5 GT/s.
    Gen2,
    /// 8 GT/s.
    Gen3,
    /// 16 GT/s.
    Gen4,
    /// 32 GT/s.
    Gen5,
    /// 64 GT/s in flits.
    Gen6,
}

impl PcieGeneration {
    /// From the number that nvidia-smi prints.
    #[must_use]
    pub fn new(number: u32) -> Option<Self> {
        [
            Self::Gen1,
            Self::Gen2,
            Self::Gen3,
            Self::Gen4,
            Self::Gen5,
            Self::Gen6,
        ]
        .into_iter()
        .find(|generation| generation.number() == number)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32 + 1
    }

    /// Transfers per second and lane in 10⁹. Source: PCI Express Base Specification 6.0.
    const fn giga_transfers(self) -> f64 {
        match self {
            Self::Gen1 => 2.5,
            Self::Gen2 => 5.0,
            Self::Gen3 => 8.0,
            Self::Gen4 => 16.0,
            Self::Gen5 => 32.0,
            Self::Gen6 => 64.0,
        }
    }

    /// The share of bits that carry packets, and how it is written: 8b/10b, then 128b/130b, then
    /// flits of 256 bytes of which 236 are packets. Source: PCI Express Base Specification 6.0.
    const fn encoding(self) -> (f64, &'static str) {
        match self {
            Self::Gen1 | Self::Gen2 => (8.0 / 10.0, "8/10"),
            Self::Gen3 | Self::Gen4 | Self::Gen5 => (128.0 / 130.0, "128/130"),
            Self::Gen6 => (236.0 / 256.0, "236/256"),
        }
    }
}

/// The largest payload of a packet in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MaxPayload {
    /// Small hosts set this.
    Bytes128,
    /// What every NVIDIA GPU whose capability listing is public supports at most (hwloc issue 653,
    /// NVIDIA/nvtrust issue 51, raspberry-pi-pcie-devices issues 123, 480, 504 and 509).
    #[default]
    Bytes256,
    /// More than any GPU listing shows.
    Bytes512,
}

impl MaxPayload {
    /// The number of bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Bytes128 => 128,
            Self::Bytes256 => 256,
            Self::Bytes512 => 512,
        }
    }
}

/// Which way data flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CopyDirection {
    /// From the host to the GPU.
    HostToDevice,
    /// From the GPU to the host.
    DeviceToHost,
}

impl fmt::Display for CopyDirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HostToDevice => "H2D",
            Self::DeviceToHost => "D2H",
        })
    }
}

/// A PCIe link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PcieLink {
    /// Its generation.
    pub generation: PcieGeneration,
    /// Its lanes.
    pub width: u32,
    /// The largest payload of a packet.
    pub payload: MaxPayload,
}

impl PcieLink {
    /// What the lanes carry in one direction, packet headers included.
    #[must_use]
    pub fn raw(self) -> BytesPerSec {
        let (share, _) = self.generation.encoding();
        // A width below 2³² times 64 stays far below the largest double.
        BytesPerSec::from_giga(
            self.generation.giga_transfers() * f64::from(self.width) * share / 8.0,
        )
        .expect("a product of finite positive numbers is finite")
    }

    /// What is left for data in one direction. Acknowledgements and flow control are not deducted,
    /// so this stays a bound; of generation 6 not even headers are, since no public measurement
    /// shows their cost in flits.
    #[must_use]
    pub fn copy_rate(self, direction: CopyDirection) -> BytesPerSec {
        if self.generation == PcieGeneration::Gen6 {
            return self.raw();
        }
        let payload = f64::from(self.payload.bytes());
        self.raw()
            .scaled(payload / (payload + overhead(direction)))
            .expect("a share of a finite rate is finite")
    }

    fn formula(self, direction: CopyDirection) -> String {
        let (_, encoding) = self.generation.encoding();
        let raw = format!(
            "{} GT/s × {} × {encoding} / 8",
            self.generation.giga_transfers(),
            self.width
        );
        let value = self.copy_rate(direction);
        if self.generation == PcieGeneration::Gen6 {
            return format!("{raw} = {value}");
        }
        let payload = self.payload.bytes();
        let packet = f64::from(payload) + overhead(direction);
        format!("{raw} × {payload}/{packet} = {value}")
    }
}

const fn overhead(direction: CopyDirection) -> f64 {
    match direction {
        CopyDirection::HostToDevice => READ_OVERHEAD,
        CopyDirection::DeviceToHost => WRITE_OVERHEAD,
    }
}

/// The link to the host, where it is PCIe.
pub(super) fn slot(context: &Context<'_>) -> Option<PcieLink> {
    link(context).filter(|_| {
        context
            .spec()
            .is_none_or(|spec| spec.host_link == HostLink::Pcie)
    })
}

/// The link of the machine, or of the product where no machine is known.
fn link(context: &Context<'_>) -> Option<PcieLink> {
    let (identity, spec) = (context.identity, context.spec());
    let generation = identity
        .pcie_max_generation
        .or_else(|| spec?.pcie_gen().map(u32::from));
    let width = identity
        .pcie_max_width
        .or_else(|| spec?.pcie_width().map(u32::from));
    Some(PcieLink {
        generation: PcieGeneration::new(generation?)?,
        width: width?,
        payload: identity.max_payload,
    })
}

pub(super) fn ceiling(context: &Context<'_>, direction: CopyDirection) -> Limit<BytesPerSec> {
    match context.spec().map(|spec| (spec.host_link, spec)) {
        Some((HostLink::SharedMemory, spec)) => {
            return Limit::unknown(format!(
                "host and GPU of {} share their memory: no link bounds a copy",
                spec.label()
            ));
        }
        Some((HostLink::NvlinkC2c, spec)) => return c2c(spec),
        Some((HostLink::Pcie, _)) | None => {}
    }
    let Some(link) = link(context) else {
        return Limit::unknown(
            "generation or width of the PCIe link are not known without the machine",
        );
    };
    let is_read =
        context.identity.pcie_max_generation.is_some() && context.identity.pcie_max_width.is_some();
    let (confidence, caveat) = if link.generation == PcieGeneration::Gen6 {
        (
            Confidence::Low,
            Some(
                "packet headers are not deducted; no measurement confirms this generation"
                    .to_owned(),
            ),
        )
    } else if is_read {
        (Confidence::High, None)
    } else {
        (
            Confidence::Medium,
            Some("the device's own maximum: slot and host may allow less".to_owned()),
        )
    };
    Limit::Known(Ceiling {
        value: link.copy_rate(direction),
        formula: link.formula(direction),
        source: "PCI Express Base Specification; pcie.link.gen.max and pcie.link.width.max"
            .to_owned(),
        confidence,
        caveat,
    })
}

/// The chip-to-chip link of the Grace parts.
fn c2c(spec: &GpuSpec) -> Limit<BytesPerSec> {
    let value =
        BytesPerSec::from_giga(C2C_GIGA_PER_DIRECTION).expect("the constant is a finite rate");
    let link = format!(
        "{} reaches the host over NVLink-C2C, not PCIe",
        spec.label()
    );
    let (confidence, caveat) = if spec.compute_cap == ComputeCap::new(9, 0) {
        (Confidence::Medium, link)
    } else {
        let caveat = format!("{link}; the figure is that of Grace Hopper");
        (Confidence::Low, caveat)
    };
    Limit::Known(Ceiling {
        value,
        formula: format!("900 GB/s for both directions / 2 = {value}"),
        source: C2C_SOURCE.to_owned(),
        confidence,
        caveat: Some(caveat),
    })
}
