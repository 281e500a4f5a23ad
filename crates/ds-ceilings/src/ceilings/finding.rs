//! What a reader should know beside the numbers.

use std::fmt;

use super::context::Context;
use crate::gpu::GpuMatch;
use crate::identity::Conflict;
use crate::smi::MigMode;
use crate::units::Megahertz;

/// A remark on a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// The product was not recognised.
    NotRecognised {
        /// Why.
        reason: String,
    },
    /// Only a share of the GPU is here.
    Vgpu,
    /// The GPU is divided, and no instance was chosen: no process reaches the ceilings of the
    /// whole.
    MigWithoutInstance {
        /// How many MIG devices exist.
        devices: usize,
    },
    /// The link runs with fewer lanes than it could.
    NarrowLink {
        /// Lanes now.
        width: u32,
        /// Lanes at most.
        max_width: u32,
    },
    /// Something holds the clocks down.
    Throttled {
        /// The reasons, as nvidia-smi names them.
        reasons: Vec<String>,
    },
    /// The machine's highest SM clock lies below the clock of NVIDIA's figures, so these cannot be
    /// reached.
    SlowerThanPublished {
        /// The machine's highest SM clock.
        max: Megahertz,
        /// The clock of NVIDIA's figures.
        published: Megahertz,
    },
    /// Two programs said different things.
    Conflict(Conflict),
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRecognised { reason } => f.write_str(reason),
            Self::Vgpu => f.write_str("this is a vGPU: compute and decode ceilings are withheld"),
            Self::MigWithoutInstance { devices } => {
                write!(
                    f,
                    "MIG is on ({devices} devices), these ceilings are of the whole GPU: choose a device"
                )
            }
            Self::NarrowLink { width, max_width } => {
                write!(
                    f,
                    "the link has {width} of {max_width} lanes: if so under load too, that bounds copies"
                )
            }
            Self::Throttled { reasons } => {
                write!(f, "clocks are held down by: {}", reasons.join(", "))
            }
            Self::SlowerThanPublished { max, published } => {
                write!(
                    f,
                    "the highest SM clock {max} lies below the {published} of NVIDIA's figures"
                )
            }
            Self::Conflict(conflict) => write!(f, "programs disagree about {conflict}"),
        }
    }
}

pub(super) fn findings(context: &Context<'_>) -> Vec<Finding> {
    let identity = context.identity;
    let mut findings = Vec::new();
    if identity.is_vgpu() {
        findings.push(Finding::Vgpu);
    } else if !matches!(context.found, GpuMatch::Found(_)) {
        findings.push(Finding::NotRecognised {
            reason: context.not_recognised(),
        });
    }
    if identity.mig_mode == Some(MigMode::Enabled) && identity.instance.is_none() {
        findings.push(Finding::MigWithoutInstance {
            devices: identity.mig_devices.len(),
        });
    }
    if let (Some(width), Some(max_width)) = (identity.pcie_width, identity.pcie_max_width)
        && width < max_width
    {
        findings.push(Finding::NarrowLink { width, max_width });
    }
    if !identity.throttle_reasons.is_empty() {
        findings.push(Finding::Throttled {
            reasons: identity.throttle_reasons.clone(),
        });
    }
    if let (Some(max), Some(published)) = (
        identity.max_clocks.sm,
        context.spec().and_then(|s| s.published_clock()),
    ) && max < published
    {
        findings.push(Finding::SlowerThanPublished { max, published });
    }
    findings.extend(identity.conflicts.iter().cloned().map(Finding::Conflict));
    findings
}
