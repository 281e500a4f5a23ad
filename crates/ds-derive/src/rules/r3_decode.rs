//! Sets how many frames a decoder may have in flight and where it puts them.
//!
//! | Knob | Value | Withheld when |
//! |---|---|---|
//! | `num-extra-surfaces` | min(final batch, 5) | the source delivers raw frames |
//! | `cudadec-memtype` | 0 | integrated GPU; the source delivers raw frames |
//! | `file-loop` | 1, in the benchmark variant only | – (files only) |
//! | `max-batch-size` of nvmultiurisrcbin | max(streams, present value) | – |
//!
//! `max-batch-size` is a hard cap: nvmultiurisrcbin refuses every source above it, so that it follows the streams and
//! never the batch. Every surface costs memory per stream; the bound of five is a choice of dsprof.
//!
//! Sources: the DeepStream 9.1 source (default of one extra surface; 0 device memory, 1 pinned, 2 unified, boards only;
//! `file-loop` for file URIs; the cap).

use super::batch::{NOTHING_RAN, final_batch};
use super::line::{Derived, Line, fixed};
use crate::derivation::{Confidence, Entry, RuleId, Target};
use crate::facts::{BatchKey, Facts, GpuKind, Source, SourceKind};
use crate::knob::Knob;
use crate::value::{Present, Switch, Value};

/// The most extra surfaces that the rule asks for. A choice of dsprof.
const MOST_EXTRA_SURFACES: u32 = 5;

const RAW_FRAMES: &str = "the source delivers raw frames: no decoder takes part";

pub(super) fn derive(facts: &Facts) -> Vec<Entry> {
    let mut entries: Vec<Entry> = facts
        .sources
        .iter()
        .flat_map(|source| of_source(facts, source))
        .collect();
    entries.extend(cap(facts));
    entries
}

fn line<'a>(source: &Source, knob: Knob, present: &'a Present) -> Line<'a> {
    Line {
        rule: RuleId::R3,
        knob,
        target: Target::Source(source.name.clone()),
        present,
    }
}

fn of_source(facts: &Facts, source: &Source) -> Vec<Entry> {
    let mut entries = vec![extra_surfaces(facts, source), memory_type(facts, source)];
    if source.kind == SourceKind::File {
        let line = line(source, Knob::FileLoop, &source.file_loop);
        entries.push(line.set_in_benchmark(fixed(
            Switch::On,
            "a file that ends cuts the measurement short; the user's own variant keeps what it has",
            Confidence::High,
        )));
    }
    entries
}

fn extra_surfaces(facts: &Facts, source: &Source) -> Entry {
    let line = line(source, Knob::NumExtraSurfaces, &source.num_extra_surfaces);
    if !source.kind.is_decoded() {
        return line.withhold(RAW_FRAMES);
    }
    let Some(chosen) = final_batch(facts) else {
        return line.missing(NOTHING_RAN);
    };
    let batch = chosen.batch.get();
    let surfaces = batch.min(MOST_EXTRA_SURFACES);
    line.set(Derived {
        new: Value::from(surfaces),
        formula: format!("min(final batch {batch}, {MOST_EXTRA_SURFACES}) = {surfaces}"),
        because: "the decoder goes on while the batch holds its frames".to_owned(),
        confidence: chosen.confidence.min(Confidence::Medium),
    })
}

fn memory_type(facts: &Facts, source: &Source) -> Entry {
    let line = line(source, Knob::CudadecMemtype, &source.cudadec_memtype);
    if !source.kind.is_decoded() {
        return line.withhold(RAW_FRAMES);
    }
    let confidence = match facts.gpu.kind {
        Some(GpuKind::Integrated) => {
            return line.withhold("the property exists on boards only");
        }
        Some(GpuKind::Discrete) => Confidence::High,
        None => Confidence::Medium,
    };
    line.set(fixed(
        0,
        "device memory: pinned or unified frames cross the bus or fault on their way to the mux",
        confidence,
    ))
}

fn cap(facts: &Facts) -> Option<Entry> {
    let BatchKey::MultiUri { max_batch_size } = &facts.mux.as_ref()?.batch_size else {
        return None;
    };
    let line = Line {
        rule: RuleId::R3,
        knob: Knob::MaxBatchSize,
        target: Target::MultiUriSource,
        present: max_batch_size,
    };
    let streams = i64::from(facts.streams.get());
    let (cap, formula) = match max_batch_size {
        Present::Absent => (streams, format!("streams {streams}")),
        Present::Value { value, .. } => {
            let present = value.as_integer().unwrap_or(0);
            let cap = streams.max(present);
            (
                cap,
                format!("max(streams {streams}, present {present}) = {cap}"),
            )
        }
        Present::Computed { .. } => {
            return Some(
                line.missing("a present max-batch-size that can be read: it must not be lowered"),
            );
        }
    };
    Some(line.set(Derived {
        new: Value::Integer(cap),
        formula,
        because: "nvmultiurisrcbin refuses every source above it".to_owned(),
        confidence: Confidence::High,
    }))
}
