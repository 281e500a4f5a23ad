//! `nvidia-smi -L`: GPUs and their MIG devices.

use crate::error::{Error, Output, SmiFailure};

/// The GPUs of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SmiList {
    /// In the order of the output.
    pub gpus: Vec<ListedGpu>,
}

/// One GPU of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedGpu {
    /// Its index.
    pub index: u32,
    /// Its full name.
    pub name: String,
    /// Its UUID.
    pub uuid: Option<String>,
    /// Its MIG devices.
    pub mig_devices: Vec<ListedMigDevice>,
}

/// One MIG device of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedMigDevice {
    /// Its index below the GPU.
    pub index: u32,
    /// Its profile, such as `1c.3g.71gb`.
    pub profile: String,
    /// Its UUID, which is what `CUDA_VISIBLE_DEVICES` takes.
    pub uuid: Option<String>,
}

impl SmiList {
    /// Reads the list.
    ///
    /// # Errors
    ///
    /// If the text is an error of nvidia-smi or holds no GPU.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if let Some(failure) = SmiFailure::from_text(text) {
            return Err(failure.into());
        }
        let mut gpus: Vec<ListedGpu> = Vec::new();
        for line in text.lines().map(str::trim) {
            if let Some(gpu) = gpu(line) {
                gpus.push(gpu);
            } else if let (Some(device), Some(gpu)) = (mig_device(line), gpus.last_mut()) {
                gpu.mig_devices.push(device);
            }
        }
        if gpus.is_empty() {
            return Err(Error::Missing {
                output: Output::List,
                what: "GPU",
            });
        }
        Ok(Self { gpus })
    }
}

/// `GPU 0: NVIDIA H200 (UUID: GPU-…)`. A name may hold brackets of its own: `Orin (nvgpu)`.
fn gpu(line: &str) -> Option<ListedGpu> {
    let (index, rest) = line.strip_prefix("GPU ")?.split_once(": ")?;
    let (name, uuid) = split_uuid(rest);
    Some(ListedGpu {
        index: index.trim().parse().ok()?,
        name: name.to_owned(),
        uuid,
        mig_devices: Vec::new(),
    })
}

/// `MIG 1c.3g.71gb  Device  0: (UUID: MIG-…)`.
fn mig_device(line: &str) -> Option<ListedMigDevice> {
    let (profile, rest) = line.strip_prefix("MIG ")?.split_once(" Device ")?;
    let (index, rest) = rest.split_once(':')?;
    let (_, uuid) = split_uuid(rest);
    Some(ListedMigDevice {
        index: index.trim().parse().ok()?,
        profile: profile.trim().to_owned(),
        uuid,
    })
}

/// The text before `(UUID: …)`, and the UUID if it is one; some listings had it removed or lost the
/// closing bracket.
fn split_uuid(text: &str) -> (&str, Option<String>) {
    let Some((before, uuid)) = text.split_once("(UUID:") else {
        return (text.trim(), None);
    };
    let uuid = uuid.trim().trim_end_matches(')');
    let is_uuid = uuid.starts_with("GPU-") || uuid.starts_with("MIG-");
    (before.trim(), is_uuid.then(|| uuid.to_owned()))
}
