//! `nvidia-smi -q -x` and `nvidia-smi -q`: everything about every GPU.

use super::reader::{Form, Reader};
use super::tree;
use crate::error::Error;
use crate::gpu::MigProfile;
use crate::units::{Bytes, Fraction, Megahertz};

/// A full report.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SmiReport {
    /// The version of the kernel driver.
    pub driver_version: Option<String>,
    /// The highest CUDA version of the driver.
    pub cuda_version: Option<String>,
    /// One entry per GPU in the output, which may be fewer than `attached_gpus` says.
    pub gpus: Vec<SmiGpu>,
}

/// One GPU of a report. `None` means that the output has no value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SmiGpu {
    /// The PCI address.
    pub bus_id: Option<String>,
    /// The product name.
    pub name: Option<String>,
    /// The UUID.
    pub uuid: Option<String>,
    /// The architecture, from driver 495 on.
    pub architecture: Option<String>,
    /// Clocks of this moment.
    pub clocks: Clocks,
    /// Highest clocks; the only place where nvidia-smi prints the highest video clock.
    pub max_clocks: Clocks,
    /// Frame-buffer memory.
    pub memory: MemoryUse,
    /// Shares of the last sample period.
    pub utilization: Utilization,
    /// The PCIe link.
    pub pcie: PcieReading,
    /// Whether MIG is on.
    pub mig_mode: Option<MigMode>,
    /// MIG devices, in the order of the output.
    pub mig_devices: Vec<MigDevice>,
    /// How the GPU reaches this machine.
    pub virtualization: Option<Virtualization>,
    /// Names of the reasons that hold the clocks down right now, `idle` left out.
    pub throttle_reasons: Vec<String>,
}

/// Clocks by domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Clocks {
    /// Streaming multiprocessors.
    pub sm: Option<Megahertz>,
    /// Memory.
    pub memory: Option<Megahertz>,
    /// Video engines.
    pub video: Option<Megahertz>,
}

/// Memory by use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryUse {
    /// All of it.
    pub total: Option<Bytes>,
    /// In use.
    pub used: Option<Bytes>,
    /// Not in use.
    pub free: Option<Bytes>,
}

/// Shares of the sample period in which an engine was busy at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Utilization {
    /// Any kernel ran.
    pub gpu: Option<Fraction>,
    /// Memory was read or written.
    pub memory: Option<Fraction>,
    /// Video encoders.
    pub encoder: Option<Fraction>,
    /// Video decoders.
    pub decoder: Option<Fraction>,
    /// JPEG engines.
    pub jpeg: Option<Fraction>,
    /// Optical flow.
    pub ofa: Option<Fraction>,
}

/// The PCIe link; the current values fall at idle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PcieReading {
    /// Generation of this moment.
    pub generation: Option<u32>,
    /// Highest generation of device and system together.
    pub max_generation: Option<u32>,
    /// Lanes of this moment.
    pub width: Option<u32>,
    /// Highest number of lanes.
    pub max_width: Option<u32>,
}

/// Whether a GPU is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigMode {
    /// Divided into instances.
    Enabled,
    /// Whole, though it could be divided.
    Disabled,
}

impl MigMode {
    /// Reads the cell of `mig.mode.current`; `None` where MIG does not exist.
    #[must_use]
    pub fn from_cell(cell: &str) -> Option<Self> {
        match cell.trim() {
            "Enabled" => Some(Self::Enabled),
            "Disabled" => Some(Self::Disabled),
            _ => None,
        }
    }
}

/// How a GPU reaches this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Virtualization {
    /// Directly.
    Bare,
    /// Passed through whole to a virtual machine.
    PassThrough,
    /// As a share, in a guest.
    VgpuGuest,
    /// As the host of shares.
    VgpuHost,
    /// A word that this crate does not know.
    Other(String),
}

/// A MIG device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MigDevice {
    /// The device index below its GPU.
    pub index: Option<u32>,
    /// The GPU instance.
    pub gpu_instance: Option<u32>,
    /// The compute instance in it.
    pub compute_instance: Option<u32>,
    /// Its own streaming multiprocessors.
    pub sm_count: Option<u32>,
    /// Copy engines, shared within the GPU instance.
    pub copy_engines: Option<u32>,
    /// Encoders, shared within the GPU instance.
    pub encoders: Option<u32>,
    /// Decoders, shared within the GPU instance. Zero is a value.
    pub decoders: Option<u32>,
    /// Optical-flow engines, shared within the GPU instance.
    pub ofa: Option<u32>,
    /// JPEG engines, shared within the GPU instance.
    pub jpeg: Option<u32>,
    /// Its memory, shared within the GPU instance.
    pub memory: Option<Bytes>,
}

impl MigDevice {
    /// What a device of a profile would report, without its ids.
    pub(crate) fn of_profile(profile: &MigProfile) -> Self {
        let engines = profile.engines;
        Self {
            sm_count: Some(profile.sm_count),
            copy_engines: engines.copy,
            encoders: engines.nvenc,
            decoders: Some(engines.nvdec),
            ofa: engines.ofa,
            jpeg: engines.jpeg,
            memory: profile.memory,
            ..Self::default()
        }
    }
}

impl SmiReport {
    /// Reads `nvidia-smi -q -x`.
    ///
    /// # Errors
    ///
    /// If the text is an error of nvidia-smi, is empty, is no well-formed XML, holds no GPU, or
    /// holds something else than a number where a number belongs.
    pub fn parse_xml(text: &str) -> Result<Self, Error> {
        Reader::new(Form::Xml).report(&tree::from_xml(text)?)
    }

    /// Reads `nvidia-smi -q`. Its names change between drivers, so the XML is to be preferred where
    /// there is a choice.
    ///
    /// # Errors
    ///
    /// As [`SmiReport::parse_xml`].
    pub fn parse_text(text: &str) -> Result<Self, Error> {
        Reader::new(Form::Text).report(&tree::from_text(text)?)
    }
}
