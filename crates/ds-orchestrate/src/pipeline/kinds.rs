//! What ds-config and ds-ceilings call something, in the words of ds-derive.

use ds_ceilings::{
    Batch, BitDepth, Ceilings, Codec as VideoCodec, HostLink, Precision as TensorPrecision,
};
use ds_config::{EnginePrecision, KnobValue, OnnxBatch, OnnxDim, OnnxModel};
use ds_derive as rules;
use ds_derive::{Knob, Value};

pub(super) fn value_of(value: &KnobValue, knob: Knob) -> Value {
    match value {
        KnobValue::Flag(true) => Value::from(rules::Switch::On),
        KnobValue::Flag(false) => Value::from(rules::Switch::Off),
        other => knob.read(&other.to_string()),
    }
}

pub(super) fn source_kind(kind: ds_config::SourceKind) -> rules::SourceKind {
    match kind {
        ds_config::SourceKind::File => rules::SourceKind::File,
        ds_config::SourceKind::Rtsp => rules::SourceKind::Rtsp,
        ds_config::SourceKind::Usb => rules::SourceKind::UsbCamera,
        ds_config::SourceKind::Csi => rules::SourceKind::CsiCamera,
        _ => rules::SourceKind::Other,
    }
}

pub(super) fn sink_kind(kind: ds_config::SinkKind) -> rules::SinkKind {
    match kind {
        ds_config::SinkKind::Fake => rules::SinkKind::Fake,
        ds_config::SinkKind::Display => rules::SinkKind::Display,
        ds_config::SinkKind::File => rules::SinkKind::File,
        ds_config::SinkKind::Network => rules::SinkKind::Network,
        ds_config::SinkKind::MessageBroker => rules::SinkKind::Message,
        _ => rules::SinkKind::Other,
    }
}

pub(super) fn queue_position(position: ds_config::QueuePosition) -> rules::QueuePosition {
    match position {
        ds_config::QueuePosition::DecoderToMux => rules::QueuePosition::DecoderToMux,
        ds_config::QueuePosition::MuxToInfer => rules::QueuePosition::MuxToInfer,
        ds_config::QueuePosition::MessageBranch => rules::QueuePosition::MessageBranch,
        ds_config::QueuePosition::FileBranch => rules::QueuePosition::FileBranch,
        _ => rules::QueuePosition::Other,
    }
}

/// The algorithm, by the names of the configurations that DeepStream 9.1 ships
/// (`samples/configs/deepstream-app/config_tracker_*.yml`).
pub(super) fn tracker_algorithm(config: Option<&str>) -> rules::TrackerAlgorithm {
    use rules::TrackerAlgorithm as Algorithm;
    let Some(config) = config else {
        return Algorithm::NotConfigured;
    };
    let name = config
        .rsplit('/')
        .next()
        .unwrap_or(config)
        .to_ascii_lowercase();
    let table = [
        ("3d", Algorithm::ThreeD),
        ("mask", Algorithm::Mask),
        ("sam2", Algorithm::Mask),
        ("nvdeepsort", Algorithm::NvDeepSort),
        ("deepsort", Algorithm::NvDeepSort),
        ("nvsort", Algorithm::NvSort),
        ("nvdcf", Algorithm::NvDcf),
        ("iou", Algorithm::Iou),
    ];
    table
        .iter()
        .find(|(word, _)| name.contains(word))
        .map_or(Algorithm::Unknown, |(_, algorithm)| *algorithm)
}

pub(super) fn engine_precision(precision: EnginePrecision) -> Option<rules::Precision> {
    match precision {
        EnginePrecision::Fp32 => Some(rules::Precision::Fp32),
        EnginePrecision::Fp16 => Some(rules::Precision::Fp16),
        EnginePrecision::Int8 => Some(rules::Precision::Int8),
        // TensorRT's choice, layer by layer, is no one of them.
        _ => None,
    }
}

pub(super) fn model_batch(model: &OnnxModel) -> rules::ModelBatch {
    match model.batch() {
        OnnxBatch::Fixed(batch) => u32::try_from(batch)
            .ok()
            .and_then(Batch::new)
            .map_or(rules::ModelBatch::Unknown, rules::ModelBatch::Static),
        OnnxBatch::Dynamic => rules::ModelBatch::Dynamic,
        _ => rules::ModelBatch::Unknown,
    }
}

/// The size of the only picture that a model takes: batch, channels, height, width, or with the channels last.
pub(super) fn model_dims(model: &OnnxModel) -> Option<rules::Dims> {
    let fixed = |dim: &OnnxDim| match dim {
        OnnxDim::Fixed(size) => u32::try_from(*size).ok(),
        _ => None,
    };
    let pictures = model
        .inputs()
        .iter()
        .filter_map(|input| match &*input.dims {
            [_, a, b, c] => Some((fixed(a)?, fixed(b)?, fixed(c)?)),
            _ => None,
        });
    // Pictures have one, three or four channels; no side of one is that small.
    match only(pictures)? {
        (channels @ (1 | 3 | 4), height, width) => rules::Dims::new(channels, height, width),
        (height, width, channels @ (1 | 3 | 4)) => rules::Dims::new(channels, height, width),
        _ => None,
    }
}

pub(super) fn gpu(ceilings: &Ceilings) -> rules::Gpu {
    let rate = |precision| {
        ceilings
            .tensor(precision)
            .and_then(|tensor| tensor.published.value())
    };
    let kind = ceilings
        .product
        .as_ref()
        .map(|product| match product.host_link {
            HostLink::SharedMemory => rules::GpuKind::Integrated,
            HostLink::Pcie | HostLink::NvlinkC2c => rules::GpuKind::Discrete,
        });
    rules::Gpu {
        name: ceilings
            .product
            .as_ref()
            .map(|product| product.name.clone()),
        kind,
        int8: rate(TensorPrecision::Int8),
        fp16: rate(TensorPrecision::Fp16),
        fp32: rate(TensorPrecision::Tf32),
    }
}

/// The value that all items share; `None` where they differ or there are none.
pub(super) fn only<T: PartialEq>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.all(|item| item == first).then_some(first)
}

/// The decode ceiling at the size that all decoded sources share; unknown where they differ or nobody says it.
pub(super) fn decode_ceiling(
    sources: &[rules::Source],
    codec: Option<VideoCodec>,
    ceilings: &Ceilings,
) -> rules::DecodeCeiling {
    let mut decoded = sources
        .iter()
        .filter(|source| source.kind.is_decoded())
        .peekable();
    if decoded.peek().is_none() {
        return rules::DecodeCeiling::NotUsed;
    }
    let size = only(decoded.map(|source| source.size)).flatten();
    let fps = codec
        .zip(size)
        .and_then(|(codec, size)| ceilings.decode_fps(codec, BitDepth::Eight, size).value());
    fps.map_or(rules::DecodeCeiling::Unknown, rules::DecodeCeiling::Known)
}
