//! The ceilings as a flat list, for reports and comparisons.

use super::limit::{Confidence, Limit};
use super::measured::{Measurement, measurements};
use super::tensor::TensorCeiling;
use super::{Ceilings, CopyDirection};
use crate::codec::VideoProfile;
use crate::gpu::Precision;
use crate::units::{BytesPerSec, Fps, OpsPerSec, Resolution};

/// What the id of a tensor rate's bound ends in.
const SILICON: &str = ".silicon";

/// What the id of a decode rate's bound ends in.
const DECODE_LIMIT: &str = ".limit";

/// What a figure stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Figure {
    /// NVIDIA's own, to plan with and to take shares of. A measurement may exceed it.
    Published,
    /// What no measurement exceeds.
    Bound,
}

/// One ceiling, with its unit as text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CeilingRow {
    /// A stable name, such as `tensor.fp16`, `tensor.fp16.silicon`, `memory`, `pcie.h2d`,
    /// `decode.hevc_10`, `decode.hevc_10.limit`, `encode`. The bound of a published figure has its
    /// id with `.silicon` or `.limit` after it.
    pub id: String,
    /// A name for people.
    pub label: String,
    /// What the figure stands for.
    pub figure: Figure,
    /// The figure in `unit`; `None` if it is unknown.
    pub value: Option<f64>,
    /// The unit.
    pub unit: &'static str,
    /// How it was computed.
    pub formula: Option<String>,
    /// Where the numbers come from.
    pub source: Option<String>,
    /// How far it can be trusted.
    pub confidence: Option<Confidence>,
    /// What a reader must know before using it.
    pub caveat: Option<String>,
    /// Why it is unknown.
    pub reason: Option<String>,
    /// The most that was measured on a GPU of this name.
    pub measured: Option<&'static Measurement>,
}

impl CeilingRow {
    fn new<Q: Copy>(
        id: String,
        label: String,
        limit: &Limit<Q>,
        unit: &'static str,
        in_unit: fn(Q) -> f64,
    ) -> Self {
        let known = limit.known();
        Self {
            id,
            label,
            figure: Figure::Bound,
            value: limit.value().map(in_unit),
            unit,
            formula: known.map(|ceiling| ceiling.formula.clone()),
            source: known.map(|ceiling| ceiling.source.clone()),
            confidence: known.map(|ceiling| ceiling.confidence),
            caveat: known.and_then(|ceiling| ceiling.caveat.clone()),
            reason: limit.reason().map(str::to_owned),
            measured: None,
        }
    }

    /// What was measured over this figure, above 1 where light streams exceed a published decode
    /// rate; `None` without a measurement or a positive figure.
    #[must_use]
    pub fn achieved(&self) -> Option<f64> {
        self.share_of(self.measured?.value)
    }

    /// A value in this row's unit over its figure; `None` without a positive figure.
    pub(crate) fn share_of(&self, value: f64) -> Option<f64> {
        let figure = self.value.filter(|figure| *figure > 0.0)?;
        Some(value / figure)
    }

    /// The id of what the row is about: that of the published row, where this is its bound.
    pub(crate) fn subject(&self) -> &str {
        let bound = [SILICON, DECODE_LIMIT]
            .iter()
            .find_map(|suffix| self.id.strip_suffix(suffix));
        bound.unwrap_or(&self.id)
    }

    fn published(self) -> Self {
        Self {
            figure: Figure::Published,
            ..self
        }
    }
}

impl Ceilings {
    /// Every ceiling in a fixed order, decoding at 1920 × 1080.
    #[must_use]
    pub fn rows(&self) -> Vec<CeilingRow> {
        self.rows_at(Resolution::FULL_HD)
    }

    /// Every ceiling in a fixed order, decoding at the given frame size.
    #[must_use]
    pub fn rows_at(&self, resolution: Resolution) -> Vec<CeilingRow> {
        let mut rows: Vec<CeilingRow> = self.tensor.iter().flat_map(tensor_rows).collect();
        rows.push(copy_row(
            "memory".to_owned(),
            "device memory".to_owned(),
            &self.memory,
        ));
        for (direction, limit) in [
            (CopyDirection::HostToDevice, &self.host_to_device),
            (CopyDirection::DeviceToHost, &self.device_to_host),
        ] {
            let id = format!("pcie.{}", direction.to_string().to_lowercase());
            rows.push(copy_row(id, format!("host copy, {direction}"), limit));
        }
        for profile in VideoProfile::PRINTED {
            rows.extend(self.decode_rows(profile, resolution));
        }
        rows.push(CeilingRow::new(
            "encode".to_owned(),
            "encode".to_owned(),
            &self.encode,
            "fps",
            Fps::get,
        ));
        let name = self.product.as_ref().map(|product| product.name.as_str());
        for row in &mut rows {
            let subject = row.subject();
            let is_own = |measurement: &&Measurement| {
                Some(measurement.gpu.as_str()) == name && measurement.id == subject
            };
            // Decoder measurements were made at 1080p and say nothing about another size.
            let fits = !row.id.starts_with("decode.") || resolution == Resolution::FULL_HD;
            row.measured = measurements()
                .iter()
                .filter(|_| fits)
                .filter(is_own)
                .max_by(|a, b| a.value.total_cmp(&b.value));
        }
        rows
    }

    fn decode_rows(&self, profile: VideoProfile, resolution: Resolution) -> [CeilingRow; 2] {
        let id = format!("decode.{}", profile.key());
        let label = format!("decode {profile} {resolution}");
        let published = self.decoder.fps(profile, resolution);
        let limit = self.decoder.limit(profile, resolution);
        let row = |id, label, rate: &Limit<Fps>| CeilingRow::new(id, label, rate, "fps", Fps::get);
        [
            row(id.clone(), format!("{label}, published"), &published).published(),
            row(
                format!("{id}{DECODE_LIMIT}"),
                format!("{label}, limit"),
                &limit,
            ),
        ]
    }
}

fn tensor_rows(ceiling: &TensorCeiling) -> [CeilingRow; 2] {
    let TensorCeiling {
        precision,
        published,
        silicon,
    } = ceiling;
    let id = format!("tensor.{}", key(*precision));
    [
        CeilingRow::new(
            id.clone(),
            format!("{precision}, published"),
            published,
            precision.unit(),
            OpsPerSec::tera,
        )
        .published(),
        CeilingRow::new(
            format!("{id}{SILICON}"),
            format!("{precision}, silicon limit"),
            silicon,
            precision.unit(),
            OpsPerSec::tera,
        ),
    ]
}

fn copy_row(id: String, label: String, limit: &Limit<BytesPerSec>) -> CeilingRow {
    CeilingRow::new(id, label, limit, "GB/s", BytesPerSec::giga)
}

/// The precision as part of an id.
fn key(precision: Precision) -> &'static str {
    match precision {
        Precision::Fp16 => "fp16",
        Precision::Fp16Acc32 => "fp16_acc32",
        Precision::Bf16 => "bf16",
        Precision::Tf32 => "tf32",
        Precision::Fp8 => "fp8",
        Precision::Fp8Acc32 => "fp8_acc32",
        Precision::Int8 => "int8",
        Precision::Fp4 => "fp4",
    }
}
