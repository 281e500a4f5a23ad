//! Which of the GPUs a CUDA program sees.

use ds_ceilings::{GpuIdentity, VisibleDevice, visible_devices};

use super::{HwReading, Session};
use crate::error::Error;
use crate::nvml::NvmlGpu;

/// Leaves the GPUs that `CUDA_VISIBLE_DEVICES` names, in its order; the work runs on the first.
///
/// # Errors
///
/// When it names none, or a MIG device that nobody lists.
pub(super) fn only_visible(
    session: &mut Session<'_>,
    reading: &mut HwReading,
    nvml: Option<&[NvmlGpu]>,
) -> Result<(), Error> {
    let Some(value) = session.visible.clone() else {
        return Ok(());
    };
    let named = |what: &str| Error::Input {
        what: format!("CUDA_VISIBLE_DEVICES `{value}` {what}"),
    };
    let visible: Vec<GpuIdentity> = visible_devices(&value, &reading.gpus)
        .into_iter()
        .map(|device| match device {
            VisibleDevice::Gpu(gpu) => Ok(gpu.clone()),
            VisibleDevice::Mig(uuid) => instance(uuid, &reading.gpus, nvml).ok_or_else(|| {
                named(&format!(
                    "names the MIG device `{uuid}`, and NVML lists none of this UUID"
                ))
            }),
        })
        .collect::<Result<_, _>>()?;
    let Some(first) = visible.first() else {
        let count = reading.gpus.len();
        return Err(named(&format!("leaves none of {count} GPUs visible")));
    };
    session.gpu_index = first.index.unwrap_or(session.gpu_index);
    if visible != reading.gpus {
        reading.findings.push(format!(
            "CUDA_VISIBLE_DEVICES `{value}`: {} of the devices of {} GPUs are seen",
            visible.len(),
            reading.gpus.len()
        ));
    }
    reading.gpus = visible;
    Ok(())
}

/// The GPU as seen from one of its MIG devices, by the UUID that NVML gives the device.
fn instance(uuid: &str, gpus: &[GpuIdentity], nvml: Option<&[NvmlGpu]>) -> Option<GpuIdentity> {
    nvml?.iter().find_map(|parent| {
        let has_uuid = |own: &Option<String>| own.as_deref() == Some(uuid);
        let device = parent
            .mig_devices
            .iter()
            .find(|device| has_uuid(&device.uuid))?;
        let gpu = gpus.iter().find(|gpu| parent.is(gpu))?;
        gpu.on_instance(device.index)
    })
}
