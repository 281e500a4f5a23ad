//! S2, S4 and S5: sources of deepstream-app.

use super::{Look, Report, Rule, Severity};
use crate::detect::Form;
use crate::model::{Knob, KnobSetting, SourceKind};

/// Frames that are not dropped.
pub(super) const S2: Rule = Rule {
    id: "DS044",
    code: "S2",
    severity: Severity::Warning,
    title: "`drop-frame-interval` on a USB camera",
    reason: "It is a key of the decoder; a USB camera delivers raw frames and has none.",
    guard: "A value of 0.",
    remedy: "lower `camera-fps-n`, or let the inference skip batches with `interval`",
    fixed_by: None,
    check: drops_on_usb,
};

/// Batches that a list sets.
pub(super) const S4: Rule = Rule {
    id: "DS045",
    code: "S4",
    severity: Severity::Note,
    title: "batch keys beside `[source-list]` are without effect",
    reason: "The number of URIs, or `max-batch-size` with nvmultiurisrcbin, replaces them. In YAML deepstream-app knows \
             no source list: the group is ignored.",
    guard: "Values that are equal to what replaces them.",
    remedy: "remove the batch key; in YAML name a table of sources in `source: csv-file-path`",
    fixed_by: None,
    check: beside_list,
};

/// More than a bus carries.
pub(super) const S5: Rule = Rule {
    id: "DS046",
    code: "S5",
    severity: Severity::Warning,
    title: "USB cameras ask for more raw video than a USB 2.0 bus carries",
    reason: "deepstream-app asks USB cameras for raw frames and never for compressed ones; above the bandwidth of the \
             bus they deliver fewer frames, or none.",
    guard: "A camera whose size or rate is not stated; cameras on buses of their own or on USB 3: allow the finding.",
    remedy: "lower the size or the rate of the cameras, or give them buses of their own",
    fixed_by: None,
    check: above_bus,
};

/// What USB 2.0 carries at high speed, in bits per second (USB 2.0 specification).
const USB2_BITS_PER_SECOND: u64 = 480_000_000;

/// Bits of a pixel of YUY2, the raw format that USB cameras have in common (USB video class 1.5).
const BITS_PER_PIXEL: u64 = 16;

fn drops_on_usb(look: &Look<'_>, report: &mut Report<'_>) {
    for source in look
        .pipeline
        .sources
        .iter()
        .filter(|source| source.kind == SourceKind::Usb)
    {
        let element = look.pipeline.element(source.element);
        let written = element.and_then(|element| look.own(element, "drop-frame-interval"));
        if let Some(written) = written.filter(|written| written.integer().is_some_and(|n| n > 0)) {
            report.add(
                written.place.clone(),
                "`drop-frame-interval` does nothing on a USB camera",
            );
        }
    }
}

fn beside_list(look: &Look<'_>, report: &mut Report<'_>) {
    if look.pipeline.form == Form::AppYml {
        let file = &look.pipeline.files[0];
        if crate::resolve::has_group(file, "source-list") {
            let message = "deepstream-app knows no source list in YAML: the group is ignored";
            report.add(file.group_place("source-list"), message);
        }
        return;
    }
    if !look.has_source_list() {
        return;
    }
    let batches = [Knob::MuxBatchSize, Knob::InferBatchSize];
    for setting in batches
        .into_iter()
        .flat_map(|knob| look.pipeline.knobs_of(knob))
    {
        if !is_replaced(setting) {
            continue;
        }
        let Some(written) = setting.overridden.first() else {
            continue;
        };
        if setting.value.as_ref() != Some(&written.value) {
            let by = setting
                .value
                .as_ref()
                .map_or_else(String::new, |value| format!(" by {value}"));
            let message = format!(
                "`batch-size` {} is replaced{by}: `[source-list]` sets it",
                written.value
            );
            report.add(written.place.clone(), message);
        }
    }
}

/// Whether no key holds the value in effect.
fn is_replaced(setting: &KnobSetting) -> bool {
    setting.place.is_none() && setting.computed.is_none()
}

fn above_bus(look: &Look<'_>, report: &mut Report<'_>) {
    let mut total: u64 = 0;
    let mut first = None;
    for source in look
        .pipeline
        .sources
        .iter()
        .filter(|source| source.kind == SourceKind::Usb)
    {
        let (Some(size), Some(rate)) = (source.size, source.rate) else {
            return;
        };
        let pixels = u64::from(size.width).saturating_mul(u64::from(size.height));
        let bits = pixels
            .saturating_mul(u64::from(rate.numerator))
            .saturating_mul(BITS_PER_PIXEL);
        total = total.saturating_add(bits / u64::from(rate.denominator.max(1)));
        first.get_or_insert(source.element);
    }
    if let Some(first) = first.filter(|_| total > USB2_BITS_PER_SECOND) {
        let message = format!(
            "the USB cameras ask for {} Mbit/s of raw video, and a USB 2.0 bus carries {} Mbit/s",
            total / 1_000_000,
            USB2_BITS_PER_SECOND / 1_000_000
        );
        report.add(look.element_place(first), message);
    }
}
