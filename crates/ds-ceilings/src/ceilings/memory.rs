//! How fast memory can be read and written.

use super::context::Context;
use super::limit::{Ceiling, Confidence, Limit};
use crate::gpu::{GpuSpec, HostLink};
use crate::units::{BytesPerSec, Megahertz};

/// Bytes per second: `2 × clock × bus width / 8`, with the clock as nvidia-smi prints it.
///
/// Holds for GDDR5 to GDDR7 and HBM2 to HBM3e, whose printed clock is half the data rate of a pin;
/// not for the shared memory of Jetson and GB10.
#[must_use]
pub fn memory_rate(clock: Megahertz, bus_bits: u32) -> BytesPerSec {
    let bytes_per_transfer = f64::from(bus_bits) / 8.0;
    // Two factors below 2³² stay far below the largest double.
    BytesPerSec::new(2.0 * f64::from(clock.get()) * 1e6 * bytes_per_transfer)
        .expect("a product of whole numbers is finite")
}

pub(super) fn ceiling(context: &Context<'_>) -> Limit<BytesPerSec> {
    if let Some(reason) = context.withheld() {
        return Limit::Unknown { reason };
    }
    let (identity, spec) = (context.identity, context.spec());
    if spec.is_some_and(|spec| spec.host_link == HostLink::SharedMemory) {
        return printed(context);
    }
    let clock = identity
        .max_clocks
        .memory
        .map(|clock| (clock, Confidence::High));
    let clock = clock.or_else(|| Some((spec?.memory.clock?, Confidence::Medium)));
    let bus_bits = identity.bus_bits.or_else(|| spec?.memory.bus_bits);
    let (Some((clock, confidence)), Some(bus_bits)) = (clock, bus_bits) else {
        return printed(context);
    };
    let value = memory_rate(clock, bus_bits);
    let caveat = shared_by_instances(context);
    Limit::Known(Ceiling {
        value,
        formula: format!("2 × {clock} × {bus_bits} bit / 8 = {value}"),
        source: format!("clocks.max.memory; {}", sources(spec)),
        confidence: if caveat.is_some() {
            Confidence::Low
        } else {
            confidence
        },
        caveat,
    })
}

/// What NVIDIA prints, where clock or width are unknown.
fn printed(context: &Context<'_>) -> Limit<BytesPerSec> {
    let Some(spec) = context.spec() else {
        return Limit::Unknown {
            reason: context.not_recognised(),
        };
    };
    let Some(value) = spec.memory.bandwidth else {
        return Limit::unknown(format!(
            "neither clock and width nor the printed bandwidth of {} are known",
            spec.label()
        ));
    };
    Limit::Known(Ceiling {
        value,
        formula: format!("{value} as NVIDIA prints it"),
        source: spec.sources.join("; "),
        confidence: Confidence::Medium,
        caveat: shared_by_instances(context),
    })
}

/// No document says how bandwidth divides among MIG instances; the whole GPU's is still a bound.
fn shared_by_instances(context: &Context<'_>) -> Option<String> {
    context
        .identity
        .instance
        .map(|_| "of the whole GPU; how MIG divides it is not documented".to_owned())
}

fn sources(spec: Option<&GpuSpec>) -> String {
    spec.map_or_else(
        || "memory bus width read on the machine".to_owned(),
        |spec| spec.sources.join("; "),
    )
}
