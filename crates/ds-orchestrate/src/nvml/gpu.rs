//! One GPU as NVML describes it.

use ds_ceilings::{
    Bytes, Clocks, ComputeCap, GpuIdentity, Megahertz, MigDevice, MigMode, Virtualization,
};
use serde::{Deserialize, Serialize};

use super::throttle;

/// The numbers as NVML returned them, in the units of NVML. `None` means that this GPU or this driver does not offer the
/// value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NvmlGpu {
    /// The index, which is also nvidia-smi's.
    pub index: u32,
    /// The product name.
    pub name: Option<String>,
    /// The UUID.
    pub uuid: Option<String>,
    /// The PCI address.
    pub bus_id: Option<String>,
    /// The version of the kernel driver.
    pub driver_version: Option<String>,
    /// The CUDA compute capability, major and minor.
    pub compute_capability: Option<(u8, u8)>,
    /// All memory, in bytes.
    pub memory_total_bytes: Option<u64>,
    /// Memory not in use, in bytes.
    pub memory_free_bytes: Option<u64>,
    /// The highest clock of the streaming multiprocessors, in MHz.
    pub max_sm_mhz: Option<u32>,
    /// The highest memory clock, in MHz.
    pub max_memory_mhz: Option<u32>,
    /// The highest clock of the video engines, in MHz.
    pub max_video_mhz: Option<u32>,
    /// The clock of the streaming multiprocessors at that moment, in MHz.
    pub sm_mhz: Option<u32>,
    /// The memory clock at that moment, in MHz.
    pub memory_mhz: Option<u32>,
    /// The clock of the video engines at that moment, in MHz.
    pub video_mhz: Option<u32>,
    /// The highest PCIe generation of device and system together.
    pub pcie_max_generation: Option<u32>,
    /// The highest number of PCIe lanes.
    pub pcie_max_width: Option<u32>,
    /// The number of PCIe lanes at that moment.
    pub pcie_width: Option<u32>,
    /// The width of the memory bus, in bits.
    pub memory_bus_bits: Option<u32>,
    /// CUDA cores; NVML does not say this of a divided GPU.
    pub cores: Option<u32>,
    /// Whether the GPU is divided; `None` where it cannot be.
    pub mig_enabled: Option<bool>,
    /// Its MIG devices.
    pub mig_devices: Vec<NvmlMigDevice>,
    /// What holds the clocks down, as the bits of NVML.
    pub throttle_bits: Option<u64>,
    /// How the GPU reaches this machine, in the words of nvidia-smi.
    pub virtualization: Option<String>,
    /// Calls that failed, each with its reason.
    pub unread: Vec<String>,
}

/// One MIG device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NvmlMigDevice {
    /// The device index below its GPU.
    pub index: u32,
    /// The UUID, which `CUDA_VISIBLE_DEVICES` takes.
    pub uuid: Option<String>,
    /// Its own streaming multiprocessors.
    pub sm_count: Option<u32>,
    /// Copy engines, shared within the GPU instance.
    pub copy_engines: Option<u32>,
    /// Encoders, shared within the GPU instance.
    pub encoders: Option<u32>,
    /// Decoders, shared within the GPU instance.
    pub decoders: Option<u32>,
    /// Optical-flow engines, shared within the GPU instance.
    pub ofa: Option<u32>,
    /// JPEG engines, shared within the GPU instance.
    pub jpeg: Option<u32>,
    /// Its memory in MiB, shared within the GPU instance.
    pub memory_mib: Option<u64>,
}

impl NvmlGpu {
    /// The same in the terms in which nvidia-smi's reading is kept, so that both compare.
    pub fn identity(&self) -> GpuIdentity {
        let mut identity = GpuIdentity::named(self.name.as_deref().unwrap_or_default());
        identity.index = Some(self.index);
        identity.uuid.clone_from(&self.uuid);
        identity.bus_id.clone_from(&self.bus_id);
        identity.driver_version.clone_from(&self.driver_version);
        identity.compute_cap = self
            .compute_capability
            .map(|(major, minor)| ComputeCap::new(major, minor));
        identity.memory_total = self.memory_total_bytes.map(whole_mib);
        identity.memory_free = self.memory_free_bytes.map(whole_mib);
        identity.max_clocks = clocks(self.max_sm_mhz, self.max_memory_mhz, self.max_video_mhz);
        identity.clocks = clocks(self.sm_mhz, self.memory_mhz, self.video_mhz);
        identity.pcie_max_generation = self.pcie_max_generation;
        identity.pcie_max_width = self.pcie_max_width;
        identity.pcie_width = self.pcie_width;
        identity.bus_bits = self.memory_bus_bits;
        identity.mig_mode = self.mig_enabled.map(|enabled| match enabled {
            true => MigMode::Enabled,
            false => MigMode::Disabled,
        });
        identity.mig_devices = self.mig_devices.iter().map(mig_device).collect();
        identity.virtualization = self.virtualization.as_deref().map(virtualization);
        identity.throttle_reasons = self.throttle_bits.map(throttle::names).unwrap_or_default();
        if let Some(cores) = self.cores {
            identity.set_cores(cores);
        }
        identity
    }

    /// Whether an identity of another reading is of this GPU: by UUID, else by PCI address, else by index.
    pub(crate) fn is(&self, other: &GpuIdentity) -> bool {
        let same = |mine: &Option<String>, theirs: &Option<String>| {
            Some(
                mine.as_deref()?
                    .eq_ignore_ascii_case(theirs.as_deref()?.trim()),
            )
        };
        same(&self.uuid, &other.uuid)
            .or_else(|| same(&self.bus_id, &other.bus_id))
            .unwrap_or(other.index == Some(self.index))
    }
}

/// nvidia-smi prints memory in whole MiB and rounds up: on an H200 with driver 580.159.04 it printed 143156 MiB free and
/// 616 MiB reserved where NVML counted 143155.9375 MiB free and so 615.0625 MiB reserved. In the same unit two readings
/// of one GPU are equal.
fn whole_mib(bytes: u64) -> Bytes {
    Bytes::from_mib(bytes.div_ceil(1 << 20))
}

fn clocks(sm: Option<u32>, memory: Option<u32>, video: Option<u32>) -> Clocks {
    let mut clocks = Clocks::default();
    clocks.sm = sm.map(Megahertz::new);
    clocks.memory = memory.map(Megahertz::new);
    clocks.video = video.map(Megahertz::new);
    clocks
}

fn mig_device(device: &NvmlMigDevice) -> MigDevice {
    let mut mig = MigDevice::default();
    mig.index = Some(device.index);
    mig.sm_count = device.sm_count;
    mig.copy_engines = device.copy_engines;
    mig.encoders = device.encoders;
    mig.decoders = device.decoders;
    mig.ofa = device.ofa;
    mig.jpeg = device.jpeg;
    mig.memory = device.memory_mib.map(Bytes::from_mib);
    mig
}

fn virtualization(word: &str) -> Virtualization {
    match word {
        "None" => Virtualization::Bare,
        "Pass-Through" => Virtualization::PassThrough,
        "VGPU" => Virtualization::VgpuGuest,
        "Host VGPU" | "Host VSGA" => Virtualization::VgpuHost,
        other => Virtualization::Other(other.to_owned()),
    }
}
