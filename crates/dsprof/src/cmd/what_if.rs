//! `dsprof capacity --what-if`: what was measured on one GPU, projected onto others.

use anyhow::Result;
use ds_ceilings::{Ceilings, Precision};
use ds_derive::{CapacityInputs, DecodeCeiling, GpuRates, Projection, Speedup, project};
use ds_orchestrate::report::{Align, Block, CapacityReport, Document, Table};
use serde::Serialize;

use super::hw::planned;
use crate::args::PrecisionArg;
use crate::cli::CapacityArgs;
use crate::exit::Usage;

/// The format of the JSON document.
const SCHEMA: &str = "dsprof.projection/1";

/// What was measured, and on what.
pub(crate) struct Measured<'a> {
    pub(crate) inputs: CapacityInputs,
    pub(crate) ceilings: &'a Ceilings,
    /// Whether the model was said to stay in FP32 when it was measured.
    pub(crate) is_fp32: bool,
    /// What bounds decoding the same sources on another GPU.
    pub(crate) decode: &'a dyn Fn(&Ceilings) -> DecodeCeiling,
}

/// The projections, in the order in which they were asked for.
pub(crate) struct Projected {
    from: String,
    precision: Precision,
    rows: Vec<(String, Projection)>,
}

/// Projects onto every GPU of `--what-if`; `None` where none is named.
///
/// # Errors
///
/// When a GPU is not known by its name, or nobody says which GPU the numbers are of.
pub(crate) fn projected(
    args: &CapacityArgs,
    measured: Option<&Measured<'_>>,
) -> Result<Option<Projected>> {
    if args.what_if.is_empty() {
        return Ok(None);
    }
    let Some(measured) = measured else {
        return Err(Usage(
            "--what-if compares two GPUs: say with --gpu which one the numbers were measured on, or give --replay"
                .to_owned(),
        )
        .into());
    };
    let precision = match (args.precision, measured.is_fp32) {
        (Some(PrecisionArg::Int8), _) => Precision::Int8,
        // Tensor cores have no FP32; TensorRT lets FP32 layers use TF32 unless it is told otherwise.
        (Some(PrecisionArg::Fp32), _) | (None, true) => Precision::Tf32,
        (Some(PrecisionArg::Fp16), _) | (None, false) => Precision::Fp16,
    };
    let rates = |ceilings: &Ceilings| GpuRates {
        tensor: ceilings
            .tensor(precision)
            .and_then(|tensor| tensor.published.value()),
        memory: ceilings.memory.value(),
        decode: (measured.decode)(ceilings),
    };
    let from = rates(measured.ceilings);
    let rows = args
        .what_if
        .iter()
        .map(|name| {
            let ceilings = planned(name)?;
            let projection = project(&measured.inputs, &from, &rates(&ceilings));
            Ok((label(&ceilings, name), projection))
        })
        .collect::<Result<_>>()?;
    Ok(Some(Projected {
        from: label(measured.ceilings, "the measured GPU"),
        precision,
        rows,
    }))
}

fn label(ceilings: &Ceilings, otherwise: &str) -> String {
    let product = ceilings.product.as_ref();
    product
        .map_or(otherwise, |product| product.label())
        .to_owned()
}

impl Projected {
    /// What the numbers rest on, as sentences.
    fn assumptions(&self) -> Vec<String> {
        let Self {
            from, precision, ..
        } = self;
        vec![
            format!("projected from {from}, not measured: confidence low"),
            format!(
                "compute follows the ratio of the published {precision} tensor rates, as if the model reached the same \
                 share of them everywhere"
            ),
            "the column for memory takes the smaller of that ratio and the ratio of memory bandwidths, for a model that \
             waits for memory"
                .to_owned(),
            "decoding is the ceiling of the other GPU; host, power and memory size are left out".to_owned(),
        ]
    }

    /// The JSON document: the capacity as it was found, and the projections.
    pub(crate) fn document<'a>(&self, capacity: &'a CapacityReport) -> JsonDocument<'a> {
        JsonDocument {
            schema: SCHEMA,
            from: self.from.clone(),
            precision: self.precision.name(),
            capacity,
            assumptions: self.assumptions(),
            projections: self.rows.iter().map(row).collect(),
        }
    }
}

/// What `--format json` prints.
#[derive(Serialize)]
pub(crate) struct JsonDocument<'a> {
    schema: &'static str,
    from: String,
    precision: &'static str,
    capacity: &'a CapacityReport,
    assumptions: Vec<String>,
    projections: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    gpu: String,
    text: String,
    streams: Option<u32>,
    decides: Option<&'static str>,
    compute_ratio: Option<f64>,
    memory_ratio: Option<f64>,
    text_if_memory_bound: String,
    streams_if_memory_bound: Option<u32>,
    limits: Vec<String>,
    confidence: String,
}

fn row((gpu, projection): &(String, Projection)) -> Row {
    let Projection {
        compute,
        memory,
        capacity,
        capped,
        confidence,
    } = projection;
    // A ratio of two published figures has no more digits than they have.
    let ratio = |speedup: &Option<Speedup>| speedup.map(|s| (s.factor() * 1e4).round() / 1e4);
    Row {
        gpu: gpu.clone(),
        text: capacity.to_string(),
        streams: capacity.streams.map(|streams| streams.get()),
        decides: capacity.dominating.map(|resource| resource.name()),
        compute_ratio: ratio(compute),
        memory_ratio: ratio(memory),
        text_if_memory_bound: capped.to_string(),
        streams_if_memory_bound: capped.streams.map(|streams| streams.get()),
        limits: capacity.limits.iter().map(ToString::to_string).collect(),
        confidence: confidence.to_string(),
    }
}

/// The table with its assumptions.
pub(crate) fn projection_document(projected: &Projected, fps: f64) -> Document {
    let shown = |speedup: Option<Speedup>| {
        speedup.map_or_else(|| "unknown".to_owned(), |speedup| speedup.to_string())
    };
    let rows: Vec<Vec<String>> = projected
        .rows
        .iter()
        .map(|(gpu, projection)| {
            vec![
                gpu.clone(),
                projection.capacity.to_string(),
                projection
                    .capacity
                    .dominating
                    .map_or("–", |resource| resource.name())
                    .to_owned(),
                shown(projection.compute),
                projection.capped.to_string(),
                shown(projection.memory),
                projection.confidence.to_string(),
            ]
        })
        .collect();
    let compute = format!("{} rate", projected.precision);
    let columns = [
        ("GPU", Align::Left),
        ("Projected", Align::Left),
        ("Decides", Align::Left),
        (&compute, Align::Right),
        ("If memory-bound", Align::Left),
        ("Memory rate", Align::Right),
        ("Confidence", Align::Left),
    ];
    let mut out = Document::default();
    out.push(Block::Paragraph(format!(
        "Projected onto other GPUs at {fps} frames/s:"
    )));
    out.push(Block::Table(Table::new(&columns, rows)));
    out.bullets(projected.assumptions());
    out
}
