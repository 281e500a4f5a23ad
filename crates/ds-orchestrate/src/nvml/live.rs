//! The library itself.

use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::Clock;
use nvml_wrapper::error::NvmlError as Code;
use nvml_wrapper::{Device, Nvml};

use super::{NvmlAnswer, NvmlError, NvmlGpu, NvmlMigDevice};

/// Loads the library and reads every GPU.
pub(super) fn read() -> NvmlAnswer {
    let nvml = Nvml::init().map_err(|code| failure("nvmlInit", &code, 0))?;
    let count = nvml
        .device_count()
        .map_err(|code| failure("nvmlDeviceGetCount", &code, 0))?;
    (0..count)
        .map(|index| {
            let device = nvml
                .device_by_index(index)
                .map_err(|code| failure("nvmlDeviceGetHandleByIndex", &code, index))?;
            let mut fields = Fields { unread: Vec::new() };
            let driver_version = fields.get("driver version", nvml.sys_driver_version());
            let mut gpu = fields.gpu(&device, index);
            gpu.driver_version = driver_version;
            gpu.unread = fields.unread;
            Ok(gpu)
        })
        .collect()
}

fn failure(call: &str, code: &Code, index: u32) -> NvmlError {
    match code {
        Code::LibloadingError(_) | Code::LibraryNotFound => NvmlError::LibraryMissing,
        Code::DriverNotLoaded => NvmlError::DriverNotLoaded,
        Code::LibRmVersionMismatch => NvmlError::VersionMismatch,
        Code::NoPermission => NvmlError::NoPermission,
        Code::GpuLost => NvmlError::GpuLost { index },
        other => NvmlError::Call {
            call: call.to_owned(),
            reason: other.to_string(),
        },
    }
}

/// Reads single values: one that a GPU does not offer is no gap, one whose call failed is.
struct Fields {
    unread: Vec<String>,
}

impl Fields {
    fn get<T>(&mut self, what: &str, result: Result<T, Code>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(Code::NotSupported | Code::FunctionNotFound | Code::FailedToLoadSymbol(_)) => None,
            Err(code) => {
                self.unread.push(format!("{what}: {code}"));
                None
            }
        }
    }

    fn gpu(&mut self, device: &Device<'_>, index: u32) -> NvmlGpu {
        let memory = self.get("memory", device.memory_info());
        let capability = self.get("compute capability", device.cuda_compute_capability());
        let mig_enabled = self
            .get("MIG mode", device.mig_mode())
            // NVML_DEVICE_MIG_ENABLE is 1 in `nvml.h`.
            .map(|mode| mode.current == 1);
        NvmlGpu {
            index,
            name: self.get("name", device.name()),
            uuid: self.get("UUID", device.uuid()),
            bus_id: self
                .get("PCI address", device.pci_info())
                .map(|pci| pci.bus_id),
            driver_version: None,
            compute_capability: capability
                .and_then(|cap| Some((cap.major.try_into().ok()?, cap.minor.try_into().ok()?))),
            memory_total_bytes: memory.as_ref().map(|memory| memory.total),
            memory_free_bytes: memory.as_ref().map(|memory| memory.free),
            max_sm_mhz: self.get("maximum SM clock", device.max_clock_info(Clock::SM)),
            max_memory_mhz: self.get("maximum memory clock", device.max_clock_info(Clock::Memory)),
            max_video_mhz: self.get("maximum video clock", device.max_clock_info(Clock::Video)),
            sm_mhz: self.get("SM clock", device.clock_info(Clock::SM)),
            memory_mhz: self.get("memory clock", device.clock_info(Clock::Memory)),
            video_mhz: self.get("video clock", device.clock_info(Clock::Video)),
            pcie_max_generation: self.get("PCIe generation", device.max_pcie_link_gen()),
            pcie_max_width: self.get("PCIe width", device.max_pcie_link_width()),
            pcie_width: self.get("current PCIe width", device.current_pcie_link_width()),
            memory_bus_bits: self.get("memory bus width", device.memory_bus_width()),
            cores: self.get("core count", device.num_cores()),
            mig_devices: match mig_enabled {
                Some(true) => self.mig_devices(device),
                Some(false) | None => Vec::new(),
            },
            mig_enabled,
            throttle_bits: self
                .get("throttle reasons", device.current_throttle_reasons())
                .as_ref()
                .map(ThrottleReasons::bits),
            virtualization: self.virtualization(device),
            unread: Vec::new(),
        }
    }

    /// The count of NVML is the highest possible one; an index without a device is not found.
    fn mig_devices(&mut self, device: &Device<'_>) -> Vec<NvmlMigDevice> {
        let count = self.get("MIG device count", device.mig_device_count());
        let mut devices = Vec::new();
        for index in 0..count.unwrap_or(0) {
            let mig = match device.mig_device_by_index(index) {
                Err(Code::NotFound | Code::InvalidArg) => continue,
                found => self.get("MIG device", found),
            };
            let Some(mig) = mig else { continue };
            let attributes = self.get("MIG attributes", mig.attributes());
            let attributes = attributes.as_ref();
            devices.push(NvmlMigDevice {
                index,
                uuid: self.get("MIG UUID", mig.uuid()),
                sm_count: attributes.map(|a| a.multiprocessor_count),
                copy_engines: attributes.map(|a| a.shared_copy_engine_count),
                encoders: attributes.map(|a| a.shared_encoder_count),
                decoders: attributes.map(|a| a.shared_decoder_count),
                ofa: attributes.map(|a| a.shared_ofa_count),
                jpeg: attributes.map(|a| a.shared_jpeg_count),
                memory_mib: attributes.map(|a| a.memory_size_mb),
            });
        }
        devices
    }

    #[cfg(target_os = "linux")]
    fn virtualization(&mut self, device: &Device<'_>) -> Option<String> {
        use nvml_wrapper::enum_wrappers::device::GpuVirtualizationMode as Mode;
        let mode = self.get("virtualization mode", device.virtualization_mode())?;
        let word = match mode {
            Mode::Bare => "None",
            Mode::PassThrough => "Pass-Through",
            Mode::Vgpu => "VGPU",
            Mode::HostVgpu => "Host VGPU",
            Mode::HostVsga => "Host VSGA",
        };
        Some(word.to_owned())
    }

    /// NVML offers this on Linux alone.
    #[cfg(not(target_os = "linux"))]
    fn virtualization(&mut self, _device: &Device<'_>) -> Option<String> {
        None
    }
}
