//! How fast the tensor cores multiply.

use super::context::Context;
use super::limit::{Ceiling, Confidence, Limit};
use crate::gpu::{ClockBasis, GpuSpec, Precision};
use crate::units::{Megahertz, OpsPerSec};

/// Dense operations per second: `SM × operations per clock and SM × clock`.
#[must_use]
pub fn tensor_rate(sm_count: u32, ops_per_clk_sm: u32, clock: Megahertz) -> OpsPerSec {
    let ops_per_clk = f64::from(sm_count) * f64::from(ops_per_clk_sm);
    // Three factors below 2³² stay far below the largest double.
    OpsPerSec::new(ops_per_clk * f64::from(clock.get()) * 1e6)
        .expect("a product of whole numbers is finite")
}

/// The two ceilings of one precision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorCeiling {
    /// The number format.
    pub precision: Precision,
    /// At the clock of NVIDIA's figures: the reference for percentages.
    pub published: Limit<OpsPerSec>,
    /// At the highest clock of the machine: the bound that no measurement exceeds.
    pub silicon: Limit<OpsPerSec>,
}

pub(super) fn ceiling(context: &Context<'_>, precision: Precision) -> TensorCeiling {
    TensorCeiling {
        precision,
        published: published(context, precision),
        silicon: silicon(context, precision),
    }
}

fn published(context: &Context<'_>, precision: Precision) -> Limit<OpsPerSec> {
    let spec = match context.whole_product() {
        Ok(spec) => spec,
        Err(reason) => return Limit::Unknown { reason },
    };
    let Some(ops) = spec.ops_per_clk_sm(precision) else {
        return printed_only(context, spec, precision, no_rate(spec, precision));
    };
    let Some(clock) = spec.published_clock() else {
        let reason = format!("no data sheet clock of {} is known", spec.label());
        return printed_only(context, spec, precision, reason);
    };
    let Some(sm_count) = context.identity.usable_sms(Some(spec)) else {
        let reason = format!("the number of SMs of {} is not known", spec.label());
        return printed_only(context, spec, precision, reason);
    };
    let is_fitted = spec
        .tensor_clock
        .is_some_and(|tensor| tensor.basis == ClockBasis::Fitted);
    let confidence = match (spec.printed(precision), is_fitted) {
        (Some(_), false) if !spec.is_quoted() => Confidence::High,
        (Some(_), _) | (None, false) => Confidence::Medium,
        (None, true) => Confidence::Low,
    };
    let value = tensor_rate(sm_count, ops, clock);
    Limit::Known(Ceiling {
        value,
        formula: formula(sm_count, ops, clock, value, precision),
        source: spec.sources.join("; "),
        confidence,
        caveat: is_fitted.then(|| "the clock was computed back from the printed figure".into()),
    })
}

/// The printed rate where the formula lacks a factor: INT8 on B300, or the SM count of GB300. An
/// instance has only a share of it.
fn printed_only(
    context: &Context<'_>,
    spec: &GpuSpec,
    precision: Precision,
    reason: String,
) -> Limit<OpsPerSec> {
    match spec.printed(precision) {
        Some(value) if context.identity.instance.is_none() => Limit::Known(Ceiling::new(
            value,
            format!("{} as NVIDIA prints it", show(value, precision)),
            spec.sources.join("; "),
            Confidence::Medium,
        )),
        _ => Limit::Unknown { reason },
    }
}

fn silicon(context: &Context<'_>, precision: Precision) -> Limit<OpsPerSec> {
    if let Some(reason) = context.withheld() {
        return Limit::Unknown { reason };
    }
    let identity = context.identity;
    let (ops, ops_confidence, source) = match context.rate(precision) {
        Ok(rate) => rate,
        Err(reason) => {
            return printed_at_max_clock(context, precision).unwrap_or(Limit::Unknown { reason });
        }
    };
    let Some(sm_count) = identity.usable_sms(context.spec()) else {
        let reason = "the number of SMs is not known: NVML or CUDA tells it on the machine";
        return printed_at_max_clock(context, precision).unwrap_or(Limit::unknown(reason));
    };
    let seen = context.spec().and_then(GpuSpec::seen_sm_clock);
    let (clock, clock_confidence, caveat) = match (identity.max_clocks.sm, seen) {
        (Some(clock), _) => (clock, Confidence::High, None),
        (None, Some(clock)) => (
            clock,
            Confidence::Medium,
            Some("the highest SM clock seen on another board".into()),
        ),
        (None, None) => {
            return Limit::unknown(
                "the highest SM clock is not known: `clocks.max.sm` on the machine tells it",
            );
        }
    };
    let value = tensor_rate(sm_count, ops, clock);
    Limit::Known(Ceiling {
        value,
        formula: formula(sm_count, ops, clock, value, precision),
        source: format!("clocks.max.sm; {source}"),
        confidence: ops_confidence.min(clock_confidence),
        caveat,
    })
}

/// The silicon limit where only a printed rate is known: that rate at the machine's highest clock.
fn printed_at_max_clock(context: &Context<'_>, precision: Precision) -> Option<Limit<OpsPerSec>> {
    let spec = context
        .spec()
        .filter(|_| context.identity.instance.is_none())?;
    let (printed, published) = (spec.printed(precision)?, spec.published_clock()?);
    let max = context.identity.max_clocks.sm?;
    let value = printed.scaled(f64::from(max.get()) / f64::from(published.get()))?;
    let (from, to) = (show(printed, precision), show(value, precision));
    Some(Limit::Known(Ceiling {
        value,
        formula: format!(
            "{from} as printed × {}/{} MHz = {to}",
            max.get(),
            published.get()
        ),
        source: format!("clocks.max.sm; {}", spec.sources.join("; ")),
        confidence: Confidence::Low,
        caveat: Some("assumes that the printed rate holds at the published clock".to_owned()),
    }))
}

pub(super) fn no_rate(spec: &GpuSpec, precision: Precision) -> String {
    format!(
        "no {precision} tensor rate of {} is known: it has none, or none is published",
        spec.label()
    )
}

fn formula(
    sm_count: u32,
    ops: u32,
    clock: Megahertz,
    value: OpsPerSec,
    precision: Precision,
) -> String {
    format!(
        "{sm_count} SM × {ops} op/clk/SM × {clock} = {}",
        show(value, precision)
    )
}

fn show(value: OpsPerSec, precision: Precision) -> String {
    format!("{:.1} {}", value.tera(), precision.unit())
}
