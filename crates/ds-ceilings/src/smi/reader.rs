//! From the tree of a report to its values, by the names of either form.

use super::cell::{Place, present};
use super::report::{
    Clocks, MemoryUse, MigDevice, MigMode, PcieReading, SmiGpu, SmiReport, Utilization,
    Virtualization,
};
use super::tree::Section;
use crate::error::{Error, Output};

/// The two forms of a report.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Xml,
    Text,
}

/// Reads a tree by the names of one form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    form: Form,
}

impl Reader {
    pub(super) fn new(form: Form) -> Self {
        Self { form }
    }

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

    /// Reads the root of a report.
    pub(super) fn report(self, root: &Section) -> Result<SmiReport, Error> {
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
