//! A1 to A3: the batch of the mux against the number of sources.

use super::{Look, Report, Rule, Severity};
use crate::model::KnobSetting;

/// A batch that cannot take a frame of every source.
pub(super) const A1: Rule = Rule {
    id: "DS001",
    code: "A1",
    severity: Severity::Warning,
    title: "the mux batch is smaller than the number of sources",
    reason: "The mux sends a batch on as soon as it is full, so the sources are served in several batches, and the \
             frame rate of each falls while the sum stays.",
    guard: "`[source-list]` and nvmultiurisrcbin set the batch themselves; so does the new mux unless \
            `adaptive-batching=0`; several muxes; a number of sources that a program decides; \
            `num-surfaces-per-frame` above 1; a batch of 16 or more, which rarely is a forgotten one. Where a sweep chose \
            a smaller one, allow the finding.",
    remedy: "set `batch-size` of the mux to the number of sources",
    fixed_by: Some("R1"),
    check: below_sources,
};

/// A batch that the sources cannot fill.
pub(super) const A2: Rule = Rule {
    id: "DS002",
    code: "A2",
    severity: Severity::Note,
    title: "the mux batch is larger than the number of sources",
    reason: "A batch takes one frame of each source; the mux waits for `batched-push-timeout` to fill the rest, and a \
             larger batch does not make a single stream faster.",
    guard: "As DS001. Where sources are added at run time, allow the finding.",
    remedy: "set `batch-size` of the mux to the number of sources",
    fixed_by: Some("R1"),
    check: above_sources,
};

/// No batch at all.
pub(super) const A3: Rule = Rule {
    id: "DS003",
    code: "A3",
    severity: Severity::Warning,
    title: "the mux has no batch size",
    reason: "The legacy mux must be told how many frames a batch holds; deepstream-app does not forward a 0.",
    guard: "As DS001; a Flow takes the number of its sources.",
    remedy: "set `batch-size` of the mux to the number of sources",
    fixed_by: Some("R1"),
    check: missing,
};

/// The batch of the mux where it counts.
fn batch<'a>(look: &Look<'a>) -> Option<&'a KnobSetting> {
    let mux = look.mux()?;
    // A source may give several surfaces, as a dewarper does.
    let surfaces = look.own(mux, "num-surfaces-per-frame");
    let is_single = surfaces.is_none_or(|surfaces| surfaces.integer() == Some(1));
    look.mux_batch().filter(|_| {
        is_single && !look.needs_new_mux(mux) && !look.sources_set_batch() && !look.is_adaptive()
    })
}

/// From here on a batch is taken for a chosen one: R1 caps the batch at the plateau, and serves more streams than that in
/// several batches a tick. The public reports of this fault have batches of 1 to 4.
const CHOSEN: i64 = 16;

fn below_sources(look: &Look<'_>, report: &mut Report<'_>) {
    compare(look, report, |batch, streams| {
        batch < streams && batch < CHOSEN
    });
}

fn above_sources(look: &Look<'_>, report: &mut Report<'_>) {
    compare(look, report, |batch, streams| batch > streams);
}

fn compare(look: &Look<'_>, report: &mut Report<'_>, is_fault: fn(i64, i64) -> bool) {
    let (Some(setting), Some(streams)) = (batch(look), look.pipeline.streams()) else {
        return;
    };
    let streams = i64::from(streams);
    let Some(batch) = setting.integer().filter(|batch| *batch > 0) else {
        return;
    };
    if streams > 0 && is_fault(batch, streams) {
        let sources = if streams == 1 {
            "there is 1 source".to_owned()
        } else {
            format!("there are {streams} sources")
        };
        let message = format!("the mux batch is {batch}, and {sources}");
        report.add(look.place(setting), message).remedy = format!("set `batch-size={streams}`");
    }
}

fn missing(look: &Look<'_>, report: &mut Report<'_>) {
    let Some(setting) = batch(look) else {
        return;
    };
    let is_flow = look.mux().is_some_and(|mux| look.is_flow(mux));
    if (setting.is_missing() || setting.integer() == Some(0)) && !is_flow {
        report.add(look.place(setting), "the mux has no `batch-size`");
    }
}
