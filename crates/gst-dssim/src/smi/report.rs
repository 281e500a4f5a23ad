//! `-q -x`: the part of the full report that says who the GPU is and what it does.

use super::gpu::{Gpu, Utilisation};

/// The report, in the order and with the names of the real one.
pub(super) fn xml(gpu: &Gpu, used_mib: u64, utilisation: Utilisation) -> String {
    let Gpu {
        name,
        uuid,
        driver,
        memory_mib,
        reserved_mib,
        max_sm_mhz,
        max_memory_mhz,
        max_video_mhz,
    } = gpu;
    let free = memory_mib.saturating_sub(reserved_mib + used_mib);
    let Utilisation {
        sm,
        memory,
        decoder,
    } = utilisation;
    format!(
        r#"<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
	<timestamp>Thu Jan  1 00:00:00 1970</timestamp>
	<driver_version>{driver}</driver_version>
	<cuda_version>12.4</cuda_version>
	<attached_gpus>1</attached_gpus>
	<gpu id="00000000:00:04.0">
		<product_name>{name}</product_name>
		<product_brand>NVIDIA</product_brand>
		<product_architecture>Turing</product_architecture>
		<mig_mode>
			<current_mig>N/A</current_mig>
			<pending_mig>N/A</pending_mig>
		</mig_mode>
		<mig_devices>
			None
		</mig_devices>
		<uuid>{uuid}</uuid>
		<minor_number>0</minor_number>
		<gpu_virtualization_mode>
			<virtualization_mode>None</virtualization_mode>
			<host_vgpu_mode>N/A</host_vgpu_mode>
		</gpu_virtualization_mode>
		<pci>
			<pci_bus>00</pci_bus>
			<pci_device>04</pci_device>
			<pci_domain>0000</pci_domain>
			<pci_device_id>1EB810DE</pci_device_id>
			<pci_bus_id>00000000:00:04.0</pci_bus_id>
			<pci_gpu_link_info>
				<pcie_gen>
					<max_link_gen>3</max_link_gen>
					<current_link_gen>3</current_link_gen>
				</pcie_gen>
				<link_widths>
					<max_link_width>16x</max_link_width>
					<current_link_width>16x</current_link_width>
				</link_widths>
			</pci_gpu_link_info>
		</pci>
		<performance_state>P0</performance_state>
		<fb_memory_usage>
			<total>{memory_mib} MiB</total>
			<reserved>{reserved_mib} MiB</reserved>
			<used>{used_mib} MiB</used>
			<free>{free} MiB</free>
		</fb_memory_usage>
		<utilization>
			<gpu_util>{sm} %</gpu_util>
			<memory_util>{memory} %</memory_util>
			<encoder_util>0 %</encoder_util>
			<decoder_util>{decoder} %</decoder_util>
		</utilization>
		<clocks>
			<graphics_clock>{max_sm_mhz} MHz</graphics_clock>
			<sm_clock>{max_sm_mhz} MHz</sm_clock>
			<mem_clock>{max_memory_mhz} MHz</mem_clock>
			<video_clock>{max_video_mhz} MHz</video_clock>
		</clocks>
		<max_clocks>
			<graphics_clock>{max_sm_mhz} MHz</graphics_clock>
			<sm_clock>{max_sm_mhz} MHz</sm_clock>
			<mem_clock>{max_memory_mhz} MHz</mem_clock>
			<video_clock>{max_video_mhz} MHz</video_clock>
		</max_clocks>
	</gpu>
</nvidia_smi_log>
"#
    )
}
