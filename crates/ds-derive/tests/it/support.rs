//! Facts to start from, and the pages that snapshots show.

use std::fmt::Write as _;

use ds_ceilings::{Batch, Fps, Fraction, OpsPerSec, Resolution, StreamCount};
use ds_derive::{
    BatchKey, CalibrationFile, Consumer, ConsumerKind, DecodeCeiling, DeepStreamVersion,
    Derivation, Dims, Disposition, Engine, Entry, Facts, Gpu, GpuKind, Infer, InferRole, Knob,
    ModelBatch, Mux, MuxGeneration, Outcome, Place, Plan, Plateau, Precision, Present,
    Quantisation, Queue, QueuePosition, Queues, RuleId, Sink, SinkKind, Source, SourceKind,
    SweepPoint, Target, Tracker, TrackerAlgorithm, Value, Variant, derive, plateau,
};

pub(crate) fn fps(value: f64) -> Fps {
    Fps::new(value).unwrap()
}

pub(crate) fn batch(value: u32) -> Batch {
    Batch::new(value).unwrap()
}

pub(crate) fn share(value: f64) -> Fraction {
    Fraction::new(value).unwrap()
}

pub(crate) fn tera(value: f64) -> OpsPerSec {
    OpsPerSec::from_tera(value).unwrap()
}

/// A value that stands in the pipeline's file.
pub(crate) fn at(knob: Knob, text: &str) -> Present {
    Present::literal(knob, text, Place::new("pipeline.txt:9"))
}

/// A sweep of as many streams as frames in a batch, with `windows` equal windows each.
pub(crate) fn flat_sweep(rates: &[(u32, f64)], windows: usize) -> Vec<SweepPoint> {
    rates
        .iter()
        .map(|(size, rate)| SweepPoint {
            batch: batch(*size),
            streams: StreamCount::new(*size),
            outcome: Outcome::Ran {
                windows: vec![fps(*rate); windows],
            },
        })
        .collect()
}

/// A sweep that reaches its plateau of 1,000 frames per second at batch 8.
pub(crate) fn plateau_at_8(streams: u32) -> Plateau {
    let rates = [
        (1, 200.0),
        (2, 390.0),
        (4, 700.0),
        (8, 1000.0),
        (16, 1020.0),
    ];
    plateau(&flat_sweep(&rates, 6), StreamCount::new(streams))
}

/// A sweep that is still worth it at its last batch of 32.
pub(crate) fn plateau_not_reached(streams: u32) -> Plateau {
    let rates = [
        (1, 70.0),
        (2, 140.0),
        (4, 270.0),
        (8, 560.0),
        (16, 1080.0),
        (32, 1739.0),
    ];
    plateau(&flat_sweep(&rates, 6), StreamCount::new(streams))
}

pub(crate) fn hopper() -> Gpu {
    Gpu {
        name: Some("NVIDIA H200".to_owned()),
        kind: Some(GpuKind::Discrete),
        int8: Some(tera(1979.0)),
        fp16: Some(tera(989.0)),
        fp32: Some(tera(495.0)),
    }
}

pub(crate) fn primary() -> Infer {
    let mut infer = Infer::new(InferRole::Primary);
    infer.batch_size = at(Knob::InferBatchSize, "1");
    infer.network_mode = at(Knob::NetworkMode, "0");
    infer.model_dims = Dims::new(3, 544, 960);
    infer.model_batch = ModelBatch::Dynamic;
    infer.calibration = CalibrationFile::NotNamed;
    infer.quantisation = Quantisation::Implicit;
    infer.engines = vec![Engine {
        path: "model.onnx_b16_gpu0_fp16.engine".to_owned(),
        max_batch: Some(batch(16)),
        precision: Some(Precision::Fp16),
    }];
    infer
}

pub(crate) fn source(name: &str, kind: SourceKind) -> Source {
    let mut source = Source::new(name, kind);
    source.size = Some(Resolution::FULL_HD);
    source
}

pub(crate) fn consumer(kind: ConsumerKind, knob: Knob) -> Consumer {
    Consumer {
        kind,
        enable: at(knob, "1"),
    }
}

/// A pipeline of 16 files at 30 fps with the faults that public reports are full of: batch 1, a time-out copied from a
/// 25 fps sample, FP32, a display.
pub(crate) fn faulty() -> Facts {
    let mut facts = Facts::new(StreamCount::new(16), fps(30.0));
    facts.gpu = hopper();
    facts.deepstream = Some(DeepStreamVersion { major: 9, minor: 1 });
    let mut mux = Mux::new(MuxGeneration::Legacy);
    mux.batch_size = BatchKey::Own(at(Knob::MuxBatchSize, "1"));
    mux.width = at(Knob::MuxWidth, "1920");
    mux.height = at(Knob::MuxHeight, "1080");
    mux.batched_push_timeout = at(Knob::BatchedPushTimeout, "40000");
    facts.mux = Some(mux);
    facts.infers = vec![primary()];
    facts.sources = vec![source("[source0]", SourceKind::File)];
    facts.sinks = vec![display_sink()];
    facts.plateau = Some(plateau_at_8(16));
    facts.decode = DecodeCeiling::Known(fps(7652.0));
    facts
}

pub(crate) fn display_sink() -> Sink {
    let mut sink = Sink::new("[sink0]", SinkKind::Display);
    sink.element = at(Knob::SinkElement, "nveglglessink");
    sink.sync = at(Knob::SinkSync, "1");
    sink
}

pub(crate) fn nvdcf() -> Tracker {
    let mut tracker = Tracker::new(TrackerAlgorithm::NvDcf);
    tracker.width = at(Knob::TrackerWidth, "960");
    tracker.height = at(Knob::TrackerHeight, "544");
    tracker.ll_config_file = at(Knob::LlConfigFile, "config_tracker_NvDCF_accuracy.yml");
    tracker
}

pub(crate) fn queue(name: &str, position: QueuePosition) -> Queue {
    Queue::new(name, position)
}

/// What a rule derived for a knob of the first target that has it.
#[track_caller]
pub(crate) fn derived(facts: &Facts, rule: RuleId, knob: Knob) -> Derivation {
    let plan = derive(facts);
    let found = plan
        .derivations()
        .find(|derivation| derivation.rule == rule && derivation.knob == knob);
    found
        .cloned()
        .unwrap_or_else(|| panic!("no value for {knob:?}:\n{}", page(facts, rule)))
}

/// The number that a rule derived for a knob.
#[track_caller]
pub(crate) fn number(facts: &Facts, rule: RuleId, knob: Knob) -> i64 {
    let new = derived(facts, rule, knob).new;
    new.as_integer()
        .unwrap_or_else(|| panic!("{new:?} is no number"))
}

fn present(present: &Present) -> String {
    match present {
        Present::Absent => "(absent)".to_owned(),
        Present::Value { value, place } => format!("{value} at {place}"),
        Present::Computed { text, place } => format!("`{text}` at {place}"),
    }
}

fn line(entry: &Entry) -> String {
    let name = format!("{} {}", entry.target(), entry.knob().name());
    match entry {
        Entry::Derived(d) => {
            let verb = match (d.disposition, d.variant) {
                (Disposition::Unchanged, _) => "keep",
                (Disposition::Propose, _) => "propose",
                (Disposition::Write, Variant::Every) => "write",
                (Disposition::Write, Variant::Benchmark) => "bench",
            };
            format!(
                "{verb:<8} {name}: {} -> {}\n         {}\n         {} [{}]",
                present(&d.old),
                d.new,
                d.formula,
                d.because,
                d.confidence
            )
        }
        Entry::Withheld(w) => {
            let verb = match w.consequence {
                ds_derive::Consequence::Keep => "withheld",
                ds_derive::Consequence::Stop => "STOP",
            };
            format!(
                "{verb:<8} {name}: {}\n         {}",
                present(&w.present),
                w.reason
            )
        }
        Entry::NotDerivable(n) => format!("missing  {name}\n         {}", n.missing),
    }
}

/// The entries of one rule, as a reader would see them.
pub(crate) fn page(facts: &Facts, rule: RuleId) -> String {
    let plan = derive(facts);
    let mut page = String::new();
    for entry in plan.entries.iter().filter(|entry| entry.rule() == rule) {
        writeln!(page, "{}", line(entry)).unwrap();
    }
    page
}

/// Compares a text with `snapshots/<name>.snap`.
#[track_caller]
pub(crate) fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Writes what a plan says for every variant into the facts, as an editor would into the files.
pub(crate) fn apply(facts: &mut Facts, plan: &Plan) {
    let changes: Vec<(Knob, Target, Value)> = plan
        .changes(Variant::Every)
        .filter(|change| change.variant == Variant::Every)
        .map(|change| (change.knob, change.target.clone(), change.new.clone()))
        .collect();
    for (knob, target, value) in changes {
        let place = Place::new("pipeline.txt:9");
        if let (Knob::SinkElement, Target::Sink(name)) = (knob, &target) {
            let sink = facts.sinks.iter_mut().find(|sink| sink.name == *name);
            sink.unwrap().kind = SinkKind::Fake;
        }
        *slot(facts, knob, &target) = Present::Value { value, place };
    }
}

fn slot<'a>(facts: &'a mut Facts, knob: Knob, target: &Target) -> &'a mut Present {
    match target {
        Target::Mux | Target::MuxPolicy | Target::MultiUriSource => {
            mux_slot(facts.mux.as_mut().unwrap(), knob)
        }
        Target::PrimaryInfer => infer_slot(facts, InferRole::Primary, knob),
        Target::SecondaryInfer(number) => infer_slot(facts, InferRole::Secondary(*number), knob),
        Target::Source(name) => {
            let source = facts.sources.iter_mut().find(|source| source.name == *name);
            let source = source.unwrap();
            match knob {
                Knob::NumExtraSurfaces => &mut source.num_extra_surfaces,
                Knob::CudadecMemtype => &mut source.cudadec_memtype,
                _ => panic!("a source has no {knob:?}"),
            }
        }
        Target::Tracker => {
            let tracker = facts.tracker.as_mut().unwrap();
            match knob {
                Knob::TrackerWidth => &mut tracker.width,
                Knob::TrackerHeight => &mut tracker.height,
                Knob::LlConfigFile => &mut tracker.ll_config_file,
                _ => panic!("a tracker has no {knob:?}"),
            }
        }
        Target::Queue(name) => {
            let Queues::Named(queues) = &mut facts.queues else {
                panic!("queues that cannot be set were set")
            };
            let queue = queues.iter_mut().find(|queue| queue.name == *name).unwrap();
            match knob {
                Knob::QueueMaxSizeBuffers => &mut queue.max_size_buffers,
                Knob::QueueMaxSizeBytes => &mut queue.max_size_bytes,
                Knob::QueueMaxSizeTime => &mut queue.max_size_time,
                Knob::QueueLeaky => &mut queue.leaky,
                _ => panic!("a queue has no {knob:?}"),
            }
        }
        Target::Queues => panic!("queues that cannot be set were set"),
        Target::Osd => consumer_slot(facts, ConsumerKind::Osd),
        Target::Tiler => consumer_slot(facts, ConsumerKind::Tiler),
        Target::Sink(name) => {
            let sink = facts.sinks.iter_mut().find(|sink| sink.name == *name);
            let sink = sink.unwrap();
            match knob {
                Knob::SinkElement => &mut sink.element,
                Knob::SinkSync => &mut sink.sync,
                _ => panic!("a sink has no {knob:?}"),
            }
        }
    }
}

fn mux_slot(mux: &mut Mux, knob: Knob) -> &mut Present {
    match (knob, &mut mux.batch_size) {
        (Knob::MuxBatchSize, BatchKey::Own(present)) => present,
        (Knob::MaxBatchSize, BatchKey::MultiUri { max_batch_size }) => max_batch_size,
        (Knob::MuxWidth, _) => &mut mux.width,
        (Knob::MuxHeight, _) => &mut mux.height,
        (Knob::BatchedPushTimeout, _) => &mut mux.batched_push_timeout,
        (Knob::NvbufMemoryType, _) => &mut mux.nvbuf_memory_type,
        (Knob::LiveSource, _) => &mut mux.live_source,
        (Knob::EnablePadding, _) => &mut mux.enable_padding,
        (Knob::OverallMinFpsN, _) => &mut mux.overall_min_fps_n,
        (Knob::OverallMinFpsD, _) => &mut mux.overall_min_fps_d,
        (Knob::OverallMaxFpsN, _) => &mut mux.overall_max_fps_n,
        (Knob::OverallMaxFpsD, _) => &mut mux.overall_max_fps_d,
        _ => panic!("this mux has no {knob:?}"),
    }
}

fn infer_slot(facts: &mut Facts, role: InferRole, knob: Knob) -> &mut Present {
    let infer = facts.infers.iter_mut().find(|infer| infer.role == role);
    let infer = infer.unwrap();
    match knob {
        Knob::InferBatchSize => &mut infer.batch_size,
        Knob::NetworkMode => &mut infer.network_mode,
        Knob::Interval => &mut infer.interval,
        Knob::InferDims => &mut infer.infer_dims,
        Knob::ModelEngineFile => &mut infer.model_engine_file,
        _ => panic!("a model has no {knob:?}"),
    }
}

fn consumer_slot(facts: &mut Facts, kind: ConsumerKind) -> &mut Present {
    let consumer = facts
        .consumers
        .iter_mut()
        .find(|consumer| consumer.kind == kind);
    &mut consumer.unwrap().enable
}
