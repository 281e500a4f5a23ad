//! One GPU of one machine: what its programs said about it, put together.

use std::fmt;

use crate::ceilings::MaxPayload;
use crate::error::Error;
use crate::gpu::{ComputeCap, GpuQuery, GpuSpec, MigProfile};
use crate::smi::{
    Clocks, MigDevice, MigMode, SmiGpu, SmiQuery, SmiReport, SmiRow, Tegrastats, Virtualization,
};
use crate::units::Bytes;

/// Everything known about one GPU. `None` means that nobody said it; every field may be filled in
/// by hand, for instance from NVML.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GpuIdentity {
    /// The index of nvidia-smi.
    pub index: Option<u32>,
    /// The product name as printed, or a label of the table.
    pub name: String,
    /// The UUID.
    pub uuid: Option<String>,
    /// The PCI address.
    pub bus_id: Option<String>,
    /// The version of the kernel driver.
    pub driver_version: Option<String>,
    /// The CUDA compute capability.
    pub compute_cap: Option<ComputeCap>,
    /// All memory.
    pub memory_total: Option<Bytes>,
    /// Memory not in use.
    pub memory_free: Option<Bytes>,
    /// The highest clocks of this machine.
    pub max_clocks: Clocks,
    /// The clocks at the time of the reading.
    pub clocks: Clocks,
    /// The highest PCIe generation of device and system together.
    pub pcie_max_generation: Option<u32>,
    /// The highest number of PCIe lanes.
    pub pcie_max_width: Option<u32>,
    /// The number of PCIe lanes at the time of the reading.
    pub pcie_width: Option<u32>,
    /// The largest payload of a PCIe packet, which only `lspci -vv` tells.
    pub max_payload: MaxPayload,
    /// Whether the GPU is divided.
    pub mig_mode: Option<MigMode>,
    /// Its MIG devices.
    pub mig_devices: Vec<MigDevice>,
    /// How the GPU reaches this machine.
    pub virtualization: Option<Virtualization>,
    /// The text of `/proc/device-tree/model` on a Jetson.
    pub device_tree: Option<String>,
    /// Streaming multiprocessors as counted by CUDA, or from NVML's core count.
    pub sm_count: Option<u32>,
    /// Memory bus width from NVML, in bits.
    pub bus_bits: Option<u32>,
    /// What holds the clocks down at the time of the reading.
    pub throttle_reasons: Vec<String>,
    /// The MIG device that the work runs on, if it runs on one.
    pub instance: Option<MigDevice>,
    /// Where two programs said different things.
    pub conflicts: Vec<Conflict>,
}

/// Two programs said different things about one GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// What they spoke of.
    pub what: &'static str,
    /// The value that is kept.
    pub kept: String,
    /// The value that is not.
    pub dropped: String,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: `{}` against `{}`",
            self.what, self.kept, self.dropped
        )
    }
}

impl GpuIdentity {
    /// A GPU of which only the name is known: one that is planned, or a Jetson.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// The GPU of a Jetson, from `/proc/device-tree/model` and a line of tegrastats: nvidia-smi is
    /// missing there or prints hardly anything.
    #[must_use]
    pub fn from_jetson(device_tree: &str, stats: Option<&Tegrastats>) -> Self {
        Self {
            // The kernel ends the text with a zero byte.
            device_tree: Some(device_tree.trim_end_matches('\0').trim().to_owned()),
            memory_total: stats.and_then(|stats| stats.ram_total),
            ..Self::default()
        }
    }

    /// The GPUs of a machine from a query, each completed from the full report where one was made.
    ///
    /// A GPU of the report belongs to the row with the same UUID, else the same PCI address, else,
    /// if neither was asked for, the same position.
    ///
    /// # Errors
    ///
    /// If a cell of the query holds something else than a number where a number belongs.
    pub fn from_machine(query: &SmiQuery, report: Option<&SmiReport>) -> Result<Vec<Self>, Error> {
        let rows = query.gpus().iter().enumerate();
        rows.map(|(position, row)| {
            let mut identity = Self::from_row(row)?;
            if let Some(report) = report {
                if let Some(gpu) = identity.find_in(report, position) {
                    identity.complete(&Self::from_report(gpu));
                }
                identity.driver_version = identity
                    .driver_version
                    .take()
                    .or_else(|| report.driver_version.clone());
            }
            Ok(identity)
        })
        .collect()
    }

    /// Reads one row of a query.
    ///
    /// # Errors
    ///
    /// If a cell holds something else than a number where a number belongs.
    pub fn from_row(row: &SmiRow) -> Result<Self, Error> {
        let owned = |field| row.text(field).map(str::to_owned);
        Ok(Self {
            index: row.count("index")?,
            name: owned("name").unwrap_or_default(),
            uuid: owned("uuid"),
            bus_id: owned("pci.bus_id"),
            driver_version: owned("driver_version").or_else(|| owned("kmd_version")),
            compute_cap: row.text("compute_cap").and_then(|cap| cap.parse().ok()),
            memory_total: row.memory("memory.total")?,
            memory_free: row.memory("memory.free")?,
            max_clocks: Clocks {
                sm: row.megahertz("clocks.max.sm")?,
                memory: row.megahertz("clocks.max.memory")?,
                video: None,
            },
            clocks: Clocks {
                sm: row.megahertz("clocks.current.sm")?,
                memory: row.megahertz("clocks.current.memory")?,
                video: row.megahertz("clocks.current.video")?,
            },
            pcie_max_generation: row.count("pcie.link.gen.max")?,
            pcie_max_width: row.count("pcie.link.width.max")?,
            pcie_width: row.count("pcie.link.width.current")?,
            mig_mode: row.text("mig.mode.current").and_then(MigMode::from_cell),
            ..Self::default()
        })
    }

    /// Takes over one GPU of a full report.
    #[must_use]
    pub fn from_report(gpu: &SmiGpu) -> Self {
        Self {
            name: gpu.name.clone().unwrap_or_default(),
            uuid: gpu.uuid.clone(),
            bus_id: gpu.bus_id.clone(),
            memory_total: gpu.memory.total,
            memory_free: gpu.memory.free,
            max_clocks: gpu.max_clocks,
            clocks: gpu.clocks,
            pcie_max_generation: gpu.pcie.max_generation,
            pcie_max_width: gpu.pcie.max_width,
            pcie_width: gpu.pcie.width,
            mig_mode: gpu.mig_mode,
            mig_devices: gpu.mig_devices.clone(),
            virtualization: gpu.virtualization.clone(),
            throttle_reasons: gpu.throttle_reasons.clone(),
            ..Self::default()
        }
    }

    /// Fills what is missing here from another reading of the same GPU. What both say and say
    /// differently is kept as it is and noted as a conflict; readings that change from moment to
    /// moment are not compared.
    pub fn complete(&mut self, other: &Self) {
        if self.name.is_empty() {
            self.name.clone_from(&other.name);
        } else if !other.name.is_empty() && other.name != self.name {
            self.conflicts
                .push(conflict("name", &self.name, &other.name));
        }
        let conflicts = &mut self.conflicts;
        fill(conflicts, "uuid", &mut self.uuid, other.uuid.as_ref());
        fill(
            conflicts,
            "driver version",
            &mut self.driver_version,
            other.driver_version.as_ref(),
        );
        fill(
            conflicts,
            "compute capability",
            &mut self.compute_cap,
            other.compute_cap.as_ref(),
        );
        fill(
            conflicts,
            "memory.total",
            &mut self.memory_total,
            other.memory_total.as_ref(),
        );
        fill(
            conflicts,
            "clocks.max.sm",
            &mut self.max_clocks.sm,
            other.max_clocks.sm.as_ref(),
        );
        fill(
            conflicts,
            "clocks.max.memory",
            &mut self.max_clocks.memory,
            other.max_clocks.memory.as_ref(),
        );
        fill(
            conflicts,
            "maximum video clock",
            &mut self.max_clocks.video,
            other.max_clocks.video.as_ref(),
        );
        fill(
            conflicts,
            "pcie.link.gen.max",
            &mut self.pcie_max_generation,
            other.pcie_max_generation.as_ref(),
        );
        fill(
            conflicts,
            "pcie.link.width.max",
            &mut self.pcie_max_width,
            other.pcie_max_width.as_ref(),
        );
        fill(
            conflicts,
            "SM count",
            &mut self.sm_count,
            other.sm_count.as_ref(),
        );
        fill(
            conflicts,
            "memory bus width",
            &mut self.bus_bits,
            other.bus_bits.as_ref(),
        );
        self.index = self.index.or(other.index);
        self.bus_id = self.bus_id.take().or_else(|| other.bus_id.clone());
        self.memory_free = self.memory_free.or(other.memory_free);
        self.clocks.sm = self.clocks.sm.or(other.clocks.sm);
        self.clocks.memory = self.clocks.memory.or(other.clocks.memory);
        self.clocks.video = self.clocks.video.or(other.clocks.video);
        self.pcie_width = self.pcie_width.or(other.pcie_width);
        self.mig_mode = self.mig_mode.or(other.mig_mode);
        self.virtualization = self
            .virtualization
            .take()
            .or_else(|| other.virtualization.clone());
        self.device_tree = self
            .device_tree
            .take()
            .or_else(|| other.device_tree.clone());
        if self.mig_devices.is_empty() {
            self.mig_devices.clone_from(&other.mig_devices);
        }
        if self.throttle_reasons.is_empty() {
            self.throttle_reasons.clone_from(&other.throttle_reasons);
        }
        self.conflicts.extend(other.conflicts.iter().cloned());
    }

    /// Takes NVML's core count over as a count of streaming multiprocessors; without effect where
    /// the compute capability is unknown or the count does not divide evenly.
    pub fn set_cores(&mut self, cores: u32) {
        if let Some(per_sm) = self.compute_cap.and_then(ComputeCap::cores_per_sm)
            && cores.is_multiple_of(per_sm)
        {
            self.sm_count = Some(cores / per_sm);
        }
    }

    /// The same GPU seen from one of its MIG devices; `None` if it has no device of this index.
    #[must_use]
    pub fn on_instance(&self, index: u32) -> Option<Self> {
        let instance = self
            .mig_devices
            .iter()
            .find(|device| device.index == Some(index))?;
        Some(Self {
            instance: Some(*instance),
            ..self.clone()
        })
    }

    /// The same GPU as seen from an instance of a MIG profile, for planning.
    #[must_use]
    pub fn on_profile(&self, profile: &MigProfile) -> Self {
        let instance = MigDevice::of_profile(profile);
        Self {
            instance: Some(instance),
            ..self.clone()
        }
    }

    /// Whether this is a share of a GPU in a guest: the report says so, or the name is a vGPU type
    /// (`NVIDIA H100L-2-24C`, `GRID T4-8C`), which ends in a size in GB and the letter of a series.
    #[must_use]
    pub fn is_vgpu(&self) -> bool {
        let is_type = self.name.rsplit_once('-').is_some_and(|(_, last)| {
            let size = last.strip_suffix(['A', 'B', 'C', 'Q']).unwrap_or_default();
            !size.is_empty() && size.chars().all(|c| c.is_ascii_digit())
        });
        self.virtualization == Some(Virtualization::VgpuGuest) || is_type
    }

    /// The question to the table.
    #[must_use]
    pub fn query(&self) -> GpuQuery<'_> {
        GpuQuery {
            name: &self.name,
            memory: self.memory_total,
            sm_count: self.sm_count,
            bus_bits: self.bus_bits,
            device_tree: self.device_tree.as_deref(),
        }
    }

    /// The streaming multiprocessors that the work can use: of the MIG device, as counted, or of
    /// the product.
    #[must_use]
    pub fn usable_sms(&self, spec: Option<&GpuSpec>) -> Option<u32> {
        match &self.instance {
            Some(instance) => instance.sm_count,
            None => self.sm_count.or_else(|| spec?.sm_count),
        }
    }

    fn find_in<'r>(&self, report: &'r SmiReport, position: usize) -> Option<&'r SmiGpu> {
        let by = |mine: &Option<String>, theirs: fn(&SmiGpu) -> &Option<String>| {
            mine.is_some()
                .then(|| report.gpus.iter().find(|gpu| theirs(gpu) == mine))
                .flatten()
        };
        by(&self.uuid, |gpu| &gpu.uuid)
            .or_else(|| by(&self.bus_id, |gpu| &gpu.bus_id))
            .or_else(|| {
                (self.uuid.is_none() && self.bus_id.is_none())
                    .then(|| report.gpus.get(position))
                    .flatten()
            })
    }
}

fn conflict(what: &'static str, kept: &impl ToString, dropped: &impl ToString) -> Conflict {
    Conflict {
        what,
        kept: kept.to_string(),
        dropped: dropped.to_string(),
    }
}

/// Fills one field, or notes that both say something else.
fn fill<T: Clone + PartialEq + ToString>(
    conflicts: &mut Vec<Conflict>,
    what: &'static str,
    mine: &mut Option<T>,
    other: Option<&T>,
) {
    match (mine.as_ref(), other) {
        (Some(kept), Some(dropped)) if kept != dropped => {
            conflicts.push(conflict(what, kept, dropped));
        }
        (None, Some(value)) => *mine = Some(value.clone()),
        _ => {}
    }
}
