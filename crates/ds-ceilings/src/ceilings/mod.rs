//! What bounds one GPU, computed from its identity and the table.

mod compare;
mod context;
mod decode;
mod finding;
mod limit;
mod measured;
mod memory;
mod pcie;
mod rows;
mod tensor;

pub use compare::Comparison;
pub use decode::{Decoder, decode_rate};
pub use finding::Finding;
pub use limit::{Ceiling, Confidence, Limit};
pub use measured::{Measurement, measurements};
pub use memory::memory_rate;
pub use pcie::{CopyDirection, MaxPayload, PcieGeneration, PcieLink};
pub use rows::{CeilingRow, Figure};
pub use tensor::{TensorCeiling, tensor_rate};

use crate::codec::{BitDepth, Codec, VideoProfile};
use crate::gpu::{GpuSpec, GpuTable, Precision};
use crate::identity::GpuIdentity;
use crate::units::{BytesPerSec, Fps, Resolution};
use context::Context;

/// Everything that bounds one GPU.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ceilings {
    /// The product as it was recognised; `None` if it was not.
    pub product: Option<GpuSpec>,
    /// The streaming multiprocessors that the work can use.
    pub sm_count: Option<u32>,
    /// One entry per precision, in the order of [`Precision::ALL`].
    pub tensor: Vec<TensorCeiling>,
    /// Reading and writing of device memory, together.
    pub memory: Limit<BytesPerSec>,
    /// The link to the host, where it is PCIe and known.
    pub pcie_link: Option<PcieLink>,
    /// Copies from the host.
    pub host_to_device: Limit<BytesPerSec>,
    /// Copies to the host.
    pub device_to_host: Limit<BytesPerSec>,
    /// The video decoders.
    pub decoder: Decoder,
    /// Encoded frames per second. Only their absence is known: the sources used print no speed per
    /// engine and clock.
    pub encode: Limit<Fps>,
    /// What a reader should know beside the numbers.
    pub findings: Vec<Finding>,
}

impl Ceilings {
    /// Computes the ceilings of a GPU. A GPU that is not recognised has unknown ceilings, each with
    /// its reason.
    #[must_use]
    pub fn new(identity: &GpuIdentity, table: &GpuTable) -> Self {
        let context = Context::new(identity, table);
        Self {
            product: context.spec().cloned(),
            sm_count: if identity.is_vgpu() {
                None
            } else {
                identity.usable_sms(context.spec())
            },
            tensor: Precision::ALL
                .into_iter()
                .map(|precision| tensor::ceiling(&context, precision))
                .collect(),
            memory: memory::ceiling(&context),
            pcie_link: pcie::slot(&context),
            host_to_device: pcie::ceiling(&context, CopyDirection::HostToDevice),
            device_to_host: pcie::ceiling(&context, CopyDirection::DeviceToHost),
            decoder: Decoder::new(&context),
            encode: encode(&context),
            findings: finding::findings(&context),
        }
    }

    /// The ceilings of a product that is only planned, by the name that nvidia-smi would print.
    #[must_use]
    pub fn planned(name: &str, table: &GpuTable) -> Self {
        Self::new(&GpuIdentity::named(name), table)
    }

    /// The tensor ceilings of one precision.
    #[must_use]
    pub fn tensor(&self, precision: Precision) -> Option<&TensorCeiling> {
        self.tensor
            .iter()
            .find(|ceiling| ceiling.precision == precision)
    }

    /// Decoded frames per second of all engines together, 4:2:0, as NVIDIA publishes them: for
    /// planning, and as the reference of a share. Streams that are lighter than NVIDIA's decode
    /// faster, so it is no bound of a measurement; that is [`Ceilings::decode_limit`].
    #[must_use]
    pub fn decode_fps(&self, codec: Codec, depth: BitDepth, resolution: Resolution) -> Limit<Fps> {
        self.decoder
            .fps(VideoProfile::new(codec, depth), resolution)
    }

    /// The bound of what a measurement of all engines together may show, 4:2:0: the best rate that
    /// was measured of one engine, scaled. To judge whether a measurement is plausible; to plan
    /// with it promises too much, since real streams are heavier. Unknown where no such engine was
    /// measured.
    #[must_use]
    pub fn decode_limit(
        &self,
        codec: Codec,
        depth: BitDepth,
        resolution: Resolution,
    ) -> Limit<Fps> {
        self.decoder
            .limit(VideoProfile::new(codec, depth), resolution)
    }
}

fn encode(context: &Context<'_>) -> Limit<Fps> {
    let spec = match context.whole_product() {
        Ok(spec) => spec,
        Err(reason) => return Limit::Unknown { reason },
    };
    let count = context
        .identity
        .instance
        .map_or(spec.nvenc_count, |instance| instance.encoders);
    if count == Some(0) {
        let source = spec.sources.join("; ");
        return Limit::Known(Ceiling::new(
            Fps::ZERO,
            "0 encoders",
            source,
            Confidence::High,
        ));
    }
    Limit::unknown(format!(
        "no encoder speed of {} per engine and clock is in the sources used",
        spec.label()
    ))
}
