//! `nvidia-smi -q -x` and `nvidia-smi -q`: everything about every GPU.

use super::cell::{Place, present};
use super::tree::{self, Section};
use crate::error::{Error, Output};
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
        Reader { form: Form::Xml }.report(&tree::from_xml(text)?)
    }

    /// Reads `nvidia-smi -q`. Its names change between drivers, so the XML is to be preferred where
    /// there is a choice.
    ///
    /// # Errors
    ///
    /// As [`SmiReport::parse_xml`].
    pub fn parse_text(text: &str) -> Result<Self, Error> {
        Reader { form: Form::Text }.report(&tree::from_text(text)?)
    }
}

/// The two forms of a report.
#[derive(Clone, Copy, Debug)]
enum Form {
    Xml,
    Text,
}

/// Reads a tree by the names of one form.
#[derive(Clone, Copy, Debug)]
struct Reader {
    form: Form,
}

impl Reader {
    /// The path of this form.
    fn path<'a, T: ?Sized>(self, xml: &'a T, text: &'a T) -> &'a T {
        match self.form {
            Form::Xml => xml,
            Form::Text => text,
        }
    }

    fn place(self, field: &str) -> Place<'_> {
        let output = match self.form {
            Form::Xml => Output::Xml,
            Form::Text => Output::Text,
        };
        Place {
            output,
            line: None,
            field,
        }
    }

    fn text<'s>(self, section: &'s Section, xml: &[&str], text: &[&str]) -> Option<&'s str> {
        section
            .at(self.path(xml, text))
            .and_then(|found| present(&found.value))
    }

    /// The numeric reading at a path, with the reader that its unit asks for.
    fn number<T>(
        self,
        section: &Section,
        (xml, text): (&[&str], &[&str]),
        read: impl Fn(Place<'_>, &str) -> Result<Option<T>, Error>,
    ) -> Result<Option<T>, Error> {
        let path = self.path(xml, text);
        match section.at(path) {
            Some(found) => read(self.place(&path.join("/")), &found.value),
            None => Ok(None),
        }
    }

    fn report(self, root: &Section) -> Result<SmiReport, Error> {
        let gpus: Result<Vec<_>, _> = root
            .children
            .iter()
            .filter(|child| child.name == *self.path("gpu", "GPU"))
            .map(|gpu| self.gpu(gpu))
            .collect();
        let gpus = gpus?;
        if gpus.is_empty() {
            return Err(Error::Missing {
                output: self.place("").output,
                what: "GPU",
            });
        }
        // From driver 595 on the old name carries a remark behind the version, and 610 adds a clean
        // one.
        let driver = self
            .text(root, &["kmd_version"], &["KMD Version"])
            .or_else(|| self.text(root, &["driver_version"], &["Driver Version"]));
        let cuda = self
            .text(root, &["cuda_umd_version"], &["CUDA UMD Version"])
            .or_else(|| self.text(root, &["cuda_version"], &["CUDA Version"]));
        Ok(SmiReport {
            driver_version: driver.map(version),
            cuda_version: cuda.map(version),
            gpus,
        })
    }

    fn gpu(self, gpu: &Section) -> Result<SmiGpu, Error> {
        let owned = |xml: &[&str], text: &[&str]| self.text(gpu, xml, text).map(str::to_owned);
        Ok(SmiGpu {
            bus_id: present(&gpu.value).map(str::to_owned),
            name: owned(&["product_name"], &["Product Name"]),
            uuid: owned(&["uuid"], &["GPU UUID"]),
            architecture: owned(&["product_architecture"], &["Product Architecture"]),
            clocks: self.clocks(gpu, "clocks", "Clocks")?,
            max_clocks: self.clocks(gpu, "max_clocks", "Max Clocks")?,
            memory: self.memory(gpu, "FB Memory Usage")?,
            utilization: self.utilization(gpu)?,
            pcie: self.pcie(gpu)?,
            mig_mode: self
                .text(gpu, &["mig_mode", "current_mig"], &["MIG Mode", "Current"])
                .and_then(MigMode::from_cell),
            mig_devices: self.mig_devices(gpu)?,
            virtualization: self
                .text(
                    gpu,
                    &["gpu_virtualization_mode", "virtualization_mode"],
                    &["GPU Virtualization Mode", "Virtualization Mode"],
                )
                .map(virtualization),
            throttle_reasons: self.throttle_reasons(gpu),
        })
    }

    fn clocks(self, gpu: &Section, xml: &str, text: &str) -> Result<Clocks, Error> {
        let clock = |xml_name, text_name| {
            self.number(
                gpu,
                (&[xml, xml_name], &[text, text_name]),
                |place, cell| place.megahertz(cell),
            )
        };
        Ok(Clocks {
            sm: clock("sm_clock", "SM")?,
            memory: clock("mem_clock", "Memory")?,
            video: clock("video_clock", "Video")?,
        })
    }

    fn memory(self, section: &Section, heading: &str) -> Result<MemoryUse, Error> {
        let amount = |xml_name, text_name| {
            self.number(
                section,
                (&["fb_memory_usage", xml_name], &[heading, text_name]),
                |place, cell| place.mib(cell),
            )
        };
        Ok(MemoryUse {
            total: amount("total", "Total")?,
            used: amount("used", "Used")?,
            free: amount("free", "Free")?,
        })
    }

    fn utilization(self, gpu: &Section) -> Result<Utilization, Error> {
        let share = |xml_name, text_name| {
            self.number(
                gpu,
                (&["utilization", xml_name], &["Utilization", text_name]),
                |place, cell| place.percent(cell),
            )
        };
        // Driver 570 renamed `Gpu` to `GPU` in the text form.
        let gpu_share = share("gpu_util", "GPU")?;
        Ok(Utilization {
            gpu: if gpu_share.is_some() {
                gpu_share
            } else {
                share("gpu_util", "Gpu")?
            },
            memory: share("memory_util", "Memory")?,
            encoder: share("encoder_util", "Encoder")?,
            decoder: share("decoder_util", "Decoder")?,
            jpeg: share("jpeg_util", "JPEG")?,
            ofa: share("ofa_util", "OFA")?,
        })
    }

    fn pcie(self, gpu: &Section) -> Result<PcieReading, Error> {
        let count = |group: (&str, &str), leaf: (&str, &str)| {
            let xml = ["pci", "pci_gpu_link_info", group.0, leaf.0];
            let text = ["PCI", "GPU Link Info", group.1, leaf.1];
            self.number(gpu, (&xml, &text), |place, cell| place.count(cell))
        };
        let (generation, width) = (
            ("pcie_gen", "PCIe Generation"),
            ("link_widths", "Link Width"),
        );
        Ok(PcieReading {
            generation: count(generation, ("current_link_gen", "Current"))?,
            max_generation: count(generation, ("max_link_gen", "Max"))?,
            width: count(width, ("current_link_width", "Current"))?,
            max_width: count(width, ("max_link_width", "Max"))?,
        })
    }

    fn mig_devices(self, gpu: &Section) -> Result<Vec<MigDevice>, Error> {
        let (holder, name) = match self.form {
            Form::Xml => (gpu.child("mig_devices"), "mig_device"),
            Form::Text => (Some(gpu), "MIG Device"),
        };
        let devices = holder
            .into_iter()
            .flat_map(|holder| &holder.children)
            .filter(|child| child.name == name);
        devices.map(|device| self.mig_device(device)).collect()
    }

    fn mig_device(self, device: &Section) -> Result<MigDevice, Error> {
        let count = |xml: &str, text: &str| {
            self.number(device, (&[xml], &[text]), |place, cell| place.count(cell))
        };
        let shared = |xml: &str, text: &str| {
            let paths: (&[&str], &[&str]) = (
                &["device_attributes", "shared", xml],
                &["Device Attributes", "Shared", text],
            );
            self.number(device, paths, |place, cell| place.count(cell))
        };
        Ok(MigDevice {
            index: count("index", "Index")?,
            gpu_instance: count("gpu_instance_id", "GPU Instance ID")?,
            compute_instance: count("compute_instance_id", "Compute Instance ID")?,
            sm_count: shared("multiprocessor_count", "Multiprocessor count")?,
            copy_engines: shared("copy_engine_count", "Copy Engine count")?,
            encoders: shared("encoder_count", "Encoder count")?,
            decoders: shared("decoder_count", "Decoder count")?,
            ofa: shared("ofa_count", "OFA count")?,
            jpeg: shared("jpg_count", "JPG count")?,
            memory: match self.memory(device, "Shared FB Memory Usage")?.total {
                Some(total) => Some(total),
                None => self.memory(device, "FB Memory Usage")?.total,
            },
        })
    }

    /// Driver 545 renamed the section from `throttle` to `event` reasons.
    fn throttle_reasons(self, gpu: &Section) -> Vec<String> {
        let headings = match self.form {
            Form::Xml => ["clocks_event_reasons", "clocks_throttle_reasons"],
            Form::Text => ["Clocks Event Reasons", "Clocks Throttle Reasons"],
        };
        let mut reasons = Vec::new();
        for section in headings
            .into_iter()
            .filter_map(|heading| gpu.child(heading))
        {
            collect_active(section, &mut reasons);
        }
        reasons
    }
}

/// Collects the names of active reasons, one word style for both forms.
fn collect_active(section: &Section, reasons: &mut Vec<String>) {
    for child in &section.children {
        if child.value == "Active" {
            let name = child.name.to_lowercase().replace(' ', "_");
            let bare = ["clocks_event_reason_", "clocks_throttle_reason_"]
                .iter()
                .find_map(|prefix| name.strip_prefix(prefix))
                .unwrap_or(&name)
                .to_owned();
            if !matches!(bare.as_str(), "gpu_idle" | "idle") {
                reasons.push(bare);
            }
        }
        collect_active(child, reasons);
    }
}

/// A version without the remark that newer drivers put behind it.
fn version(text: &str) -> String {
    text.split_whitespace().next().unwrap_or(text).to_owned()
}

fn virtualization(text: &str) -> Virtualization {
    match text {
        "None" => Virtualization::Bare,
        "Pass-Through" => Virtualization::PassThrough,
        "VGPU" => Virtualization::VgpuGuest,
        "Host VGPU" | "Host VSGA" => Virtualization::VgpuHost,
        other => Virtualization::Other(other.to_owned()),
    }
}
