//! Which GPUs a CUDA program sees.

use crate::identity::GpuIdentity;

/// A device that `CUDA_VISIBLE_DEVICES` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisibleDevice<'a> {
    /// A whole GPU.
    Gpu(&'a GpuIdentity),
    /// A MIG device, by its UUID.
    Mig(&'a str),
}

/// Reads `CUDA_VISIBLE_DEVICES`: indices, or UUIDs of which the beginning is enough where it is
/// unique. The list ends at the first entry that names no device. Source: CUDA C++ Programming
/// Guide, "CUDA Environment Variables".
///
/// Indices are taken as nvidia-smi's. CUDA counts that way only under
/// `CUDA_DEVICE_ORDER=PCI_BUS_ID`; on a machine with different GPUs its own order is fastest first.
#[must_use]
pub fn visible_devices<'a>(value: &'a str, gpus: &'a [GpuIdentity]) -> Vec<VisibleDevice<'a>> {
    value
        .split(',')
        .map_while(|entry| device(entry.trim(), gpus))
        .collect()
}

fn device<'a>(entry: &'a str, gpus: &'a [GpuIdentity]) -> Option<VisibleDevice<'a>> {
    if entry.starts_with("MIG-") {
        return Some(VisibleDevice::Mig(entry));
    }
    if entry.starts_with("GPU-") {
        let is_named = |gpu: &&GpuIdentity| {
            gpu.uuid
                .as_deref()
                .is_some_and(|uuid| uuid.starts_with(entry))
        };
        let mut named = gpus.iter().filter(is_named);
        return named
            .next()
            .filter(|_| named.next().is_none())
            .map(VisibleDevice::Gpu);
    }
    let index: usize = entry.parse().ok()?;
    let is_meant = |(position, gpu): &(usize, &GpuIdentity)| {
        gpu.index
            .and_then(|own| usize::try_from(own).ok())
            .unwrap_or(*position)
            == index
    };
    gpus.iter()
        .enumerate()
        .find(is_meant)
        .map(|(_, gpu)| VisibleDevice::Gpu(gpu))
}
