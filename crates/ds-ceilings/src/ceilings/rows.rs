//! The ceilings as a flat list, for reports and comparisons.

use super::limit::{Confidence, Limit};
use super::measured::{Measurement, measurements};
use super::tensor::TensorCeiling;
use super::{Ceilings, CopyDirection};
use crate::codec::VideoProfile;
use crate::gpu::Precision;
use crate::units::{BytesPerSec, Fps, OpsPerSec, Resolution};

/// One ceiling, with its unit as text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CeilingRow {
    /// A stable name, such as `tensor.fp16`, `tensor.fp16.silicon`, `memory`, `pcie.h2d`,
    /// `decode.hevc_10`, `encode`.
    pub id: String,
    /// A name for people.
    pub label: String,
    /// The bound in `unit`; `None` if it is unknown.
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
    /// What was measured on a GPU of this name.
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

    /// The measured share of the bound; `None` without a measurement or a positive bound.
    #[must_use]
    pub fn achieved(&self) -> Option<f64> {
        let bound = self.value.filter(|bound| *bound > 0.0)?;
        Some(self.measured?.value / bound)
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
            let limit = self.decoder.fps(profile, resolution);
            let (id, label) = (
                format!("decode.{}", profile.key()),
                format!("decode {profile} {resolution}"),
            );
            rows.push(CeilingRow::new(id, label, &limit, "fps", Fps::get));
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
            let is_own = |measurement: &&Measurement| {
                Some(measurement.gpu.as_str()) == name && measurement.id == row.id
            };
            // Decoder measurements were made at 1080p and say nothing about another size.
            let fits = !row.id.starts_with("decode.") || resolution == Resolution::FULL_HD;
            row.measured = measurements().iter().filter(|_| fits).find(is_own);
        }
        rows
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
        ),
        CeilingRow::new(
            format!("{id}.silicon"),
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
