//! Facts of every shape, for the properties that hold whatever the pipeline is.

use ds_ceilings::{Resolution, StreamCount};
use ds_derive::{
    AspectRatio, BatchKey, CalibrationFile, Consumer, ConsumerKind, DecodeCeiling,
    DeepStreamVersion, Dims, Engine, Facts, Gpu, GpuKind, IdRetention, Infer, InferRole, Knob,
    ModelBatch, Mux, MuxGeneration, MuxSizeWish, Options, OutputWish, Place, Plateau, Precision,
    PrecisionWish, Present, Quantisation, Queue, QueuePosition, Queues, Sink, SinkKind, Source,
    SourceKind, TensorOrigin, Tracker, TrackerAlgorithm, plateau,
};
use proptest::prelude::*;
use proptest::sample::select;

use crate::support::{batch, flat_sweep, fps, share, tera};

/// What a knob may hold: nothing, a number, some other text, or a variable.
fn present(knob: Knob) -> BoxedStrategy<Present> {
    let place = || Place::new("pipeline.txt:9");
    let value = move |text: String| Present::Value {
        value: knob.read(&text),
        place: place(),
    };
    prop_oneof![
        3 => Just(Present::Absent),
        4 => (0_u32..64).prop_map(move |number| value(number.to_string())),
        1 => "[a-z;/.]{0,8}".prop_map(value),
        1 => "[A-Z]{1,4}".prop_map(move |text| Present::Computed { text, place: place() }),
    ]
    .boxed()
}

fn any_batch_key() -> BoxedStrategy<BatchKey> {
    prop_oneof![
        present(Knob::MuxBatchSize).prop_map(BatchKey::Own),
        Just(BatchKey::SourceList),
        present(Knob::MaxBatchSize)
            .prop_map(|max_batch_size| BatchKey::MultiUri { max_batch_size }),
    ]
    .boxed()
}

prop_compose! {
    fn any_mux()(
        generation in select(vec![MuxGeneration::Legacy, MuxGeneration::New]),
        batch_size in any_batch_key(),
        size in (present(Knob::MuxWidth), present(Knob::MuxHeight)),
        timeout in present(Knob::BatchedPushTimeout),
        rest in (present(Knob::NvbufMemoryType), present(Knob::LiveSource), present(Knob::EnablePadding)),
        policy in (
            present(Knob::OverallMinFpsN), present(Knob::OverallMinFpsD),
            present(Knob::OverallMaxFpsN), present(Knob::OverallMaxFpsD),
        ),
    ) -> Mux {
        Mux {
            generation,
            batch_size,
            width: size.0,
            height: size.1,
            batched_push_timeout: timeout,
            nvbuf_memory_type: rest.0,
            live_source: rest.1,
            enable_padding: rest.2,
            overall_min_fps_n: policy.0,
            overall_min_fps_d: policy.1,
            overall_max_fps_n: policy.2,
            overall_max_fps_d: policy.3,
        }
    }
}

fn any_model_batch() -> BoxedStrategy<ModelBatch> {
    prop_oneof![
        Just(ModelBatch::Unknown),
        Just(ModelBatch::Dynamic),
        (1_u32..64).prop_map(|size| ModelBatch::Static(batch(size))),
    ]
    .boxed()
}

fn any_engine() -> BoxedStrategy<Engine> {
    let precision = select(vec![
        None,
        Some(Precision::Fp16),
        Some(Precision::Int8),
        Some(Precision::Fp32),
    ]);
    ("[a-d]", proptest::option::of(1_u32..64), precision)
        .prop_map(|(path, size, precision)| Engine {
            path,
            max_batch: size.map(batch),
            precision,
        })
        .boxed()
}

prop_compose! {
    fn any_infer(role: InferRole)(
        knobs in (
            present(Knob::InferBatchSize), present(Knob::NetworkMode), present(Knob::Interval),
            present(Knob::InferDims), present(Knob::ModelEngineFile),
        ),
        dims in proptest::option::of((1_u32..2000, 1_u32..2000)),
        model_batch in any_model_batch(),
        engines in prop::collection::vec(any_engine(), 0..4),
        kinds in (
            select(vec![TensorOrigin::Frames, TensorOrigin::Frames, TensorOrigin::Preprocess]),
            select(vec![AspectRatio::Stretched, AspectRatio::Kept]),
            select(vec![
                CalibrationFile::Unknown, CalibrationFile::Readable, CalibrationFile::Missing, CalibrationFile::NotNamed,
            ]),
            select(vec![Quantisation::Unknown, Quantisation::Implicit, Quantisation::Explicit]),
            select(vec![PrecisionWish::ByRule, PrecisionWish::Fp32]),
        ),
    ) -> Infer {
        Infer {
            role,
            tensors: kinds.0,
            batch_size: knobs.0,
            network_mode: knobs.1,
            interval: knobs.2,
            infer_dims: knobs.3,
            model_engine_file: knobs.4,
            aspect_ratio: kinds.1,
            model_dims: dims.and_then(|(height, width)| Dims::new(3, height, width)),
            model_batch,
            engines,
            calibration: kinds.2,
            quantisation: kinds.3,
            precision: kinds.4,
        }
    }
}

fn any_sources() -> BoxedStrategy<Vec<Source>> {
    let kinds = vec![
        SourceKind::File,
        SourceKind::Rtsp,
        SourceKind::UsbCamera,
        SourceKind::CsiCamera,
        SourceKind::Other,
    ];
    let source = (
        select(kinds),
        proptest::option::of((1_u32..4000, 1_u32..4000)),
        present(Knob::NumExtraSurfaces),
        present(Knob::CudadecMemtype),
        present(Knob::FileLoop),
    );
    prop::collection::vec(source, 0..4)
        .prop_map(|sources| {
            let named = sources.into_iter().enumerate();
            named
                .map(|(number, (kind, size, surfaces, memory, looping))| {
                    let mut source = Source::new(format!("[source{number}]"), kind);
                    source.size = size.and_then(|(width, height)| Resolution::new(width, height));
                    source.num_extra_surfaces = surfaces;
                    source.cudadec_memtype = memory;
                    source.file_loop = looping;
                    source
                })
                .collect()
        })
        .boxed()
}

fn any_consumers() -> BoxedStrategy<Vec<Consumer>> {
    let kinds = vec![
        ConsumerKind::Osd,
        ConsumerKind::Tiler,
        ConsumerKind::Analytics,
        ConsumerKind::Preprocess,
        ConsumerKind::MessageConverter,
    ];
    (
        prop::sample::subsequence(kinds, 0..=5),
        prop::array::uniform5(present(Knob::OsdEnable)),
    )
        .prop_map(|(kinds, switches)| {
            let pairs = kinds.into_iter().zip(switches);
            pairs
                .map(|(kind, enable)| Consumer { kind, enable })
                .collect()
        })
        .boxed()
}

fn any_tracker() -> BoxedStrategy<Option<Tracker>> {
    let algorithm = select(vec![
        TrackerAlgorithm::NotConfigured,
        TrackerAlgorithm::NvDcf,
        TrackerAlgorithm::Iou,
        TrackerAlgorithm::Mask,
        TrackerAlgorithm::ThreeD,
        TrackerAlgorithm::Unknown,
    ]);
    let tracker = (
        algorithm,
        present(Knob::TrackerWidth),
        present(Knob::TrackerHeight),
        present(Knob::LlConfigFile),
    );
    proptest::option::of(
        tracker.prop_map(|(algorithm, width, height, ll_config_file)| Tracker {
            algorithm,
            width,
            height,
            ll_config_file,
        }),
    )
    .boxed()
}

fn any_queues() -> BoxedStrategy<Queues> {
    let position = select(vec![
        QueuePosition::DecoderToMux,
        QueuePosition::MuxToInfer,
        QueuePosition::MessageBranch,
        QueuePosition::FileBranch,
        QueuePosition::Other,
    ]);
    let queue = (
        position,
        present(Knob::QueueMaxSizeBuffers),
        present(Knob::QueueMaxSizeBytes),
        present(Knob::QueueMaxSizeTime),
        present(Knob::QueueLeaky),
    );
    let named = prop::collection::vec(queue, 0..4).prop_map(|queues| {
        let numbered = queues.into_iter().enumerate();
        let queues = numbered.map(|(number, (position, buffers, bytes, time, leaky))| Queue {
            name: format!("queue{number}"),
            position,
            max_size_buffers: buffers,
            max_size_bytes: bytes,
            max_size_time: time,
            leaky,
        });
        Queues::Named(queues.collect())
    });
    prop_oneof![1 => Just(Queues::NotConfigurable), 4 => named].boxed()
}

fn any_sinks() -> BoxedStrategy<Vec<Sink>> {
    let kind = select(vec![
        SinkKind::Fake,
        SinkKind::Display,
        SinkKind::File,
        SinkKind::Network,
        SinkKind::Message,
        SinkKind::Other,
    ]);
    prop::collection::vec(
        (kind, present(Knob::SinkElement), present(Knob::SinkSync)),
        0..4,
    )
    .prop_map(|sinks| {
        let numbered = sinks.into_iter().enumerate();
        let sinks = numbered.map(|(number, (kind, element, sync))| Sink {
            name: format!("[sink{number}]"),
            kind,
            element,
            sync,
        });
        sinks.collect()
    })
    .boxed()
}

fn any_gpu() -> BoxedStrategy<Gpu> {
    let rate = || proptest::option::of(0.0_f64..3000.0);
    let kind = select(vec![
        None,
        Some(GpuKind::Discrete),
        Some(GpuKind::Integrated),
    ]);
    (kind, rate(), rate(), rate())
        .prop_map(|(kind, int8, fp16, fp32)| Gpu {
            name: None,
            kind,
            int8: int8.map(tera),
            fp16: fp16.map(tera),
            fp32: fp32.map(tera),
        })
        .boxed()
}

fn any_plateau(streams: u32) -> BoxedStrategy<Option<Plateau>> {
    let sweep = prop::collection::vec(0.0_f64..3000.0, 0..7).prop_map(move |rates| {
        let rates: Vec<(u32, f64)> = (0_u32..).map(|power| 1 << power).zip(rates).collect();
        plateau(&flat_sweep(&rates, 1), StreamCount::new(streams))
    });
    proptest::option::of(sweep).boxed()
}

fn any_decode() -> BoxedStrategy<DecodeCeiling> {
    prop_oneof![
        Just(DecodeCeiling::Unknown),
        Just(DecodeCeiling::NotUsed),
        (0.0_f64..9000.0).prop_map(|rate| DecodeCeiling::Known(fps(rate))),
    ]
    .boxed()
}

fn any_options() -> BoxedStrategy<Options> {
    let size = select(vec![
        MuxSizeWish::ByRule,
        MuxSizeWish::Model,
        MuxSizeWish::Source,
    ]);
    let output = select(vec![
        OutputWish::None,
        OutputWish::Visible,
        OutputWish::Recorded,
    ]);
    (size, output)
        .prop_map(|(mux_size, output)| Options { mux_size, output })
        .boxed()
}

prop_compose! {
    /// A pipeline of any shape, well-typed and otherwise unlikely.
    pub(crate) fn any_facts()(streams in 0_u32..80)(
        streams in Just(streams),
        rate in prop_oneof![1 => Just(0.0), 9 => 0.5_f64..240.0],
        gpu in any_gpu(),
        release in proptest::option::of((4_u32..10, 0_u32..3)),
        mux in proptest::option::of(any_mux().boxed()),
        infers in (proptest::option::of(any_infer(InferRole::Primary).boxed()), proptest::option::of(any_infer(InferRole::Secondary(0)).boxed())),
        sources in any_sources(),
        consumers in any_consumers(),
        elements in (any_tracker(), any_queues(), any_sinks()),
        options in any_options(),
        retention in prop::collection::vec((0_u32..4, 0.8_f64..1.0), 0..3),
        measured in (any_plateau(streams), any_decode()),
    ) -> Facts {
        let mut facts = Facts::new(StreamCount::new(streams), fps(rate));
        facts.gpu = gpu;
        facts.deepstream = release.map(|(major, minor)| DeepStreamVersion { major, minor });
        facts.mux = mux;
        facts.infers = [infers.0, infers.1].into_iter().flatten().collect();
        facts.sources = sources;
        facts.consumers = consumers;
        (facts.tracker, facts.queues, facts.sinks) = elements;
        facts.options = options;
        facts.id_retention = retention
            .into_iter()
            .map(|(interval, kept)| IdRetention { interval, share: share(kept) })
            .collect();
        (facts.plateau, facts.decode) = measured;
        facts
    }
}
