//! The two generations of nvstreammux, and the policy file of the new one.

use super::builder::{Builder, Search};
use super::keyed::{Keyed, site};
use crate::ini::IniType;
use crate::model::{ElementId, Knob, MuxGeneration, Site};

/// The knobs of the legacy mux besides the batch, with the defaults of deepstream-app's groups in
/// DeepStream 9.1. The new mux has none of them, or takes no notice.
pub(super) const LEGACY: [(Knob, Option<&str>); 6] = [
    (Knob::MuxWidth, None),
    (Knob::MuxHeight, None),
    (Knob::MuxBatchedPushTimeout, Some("-1")),
    (Knob::MuxNvbufMemoryType, Some("0")),
    (Knob::MuxLiveSource, Some("0")),
    (Knob::MuxEnablePadding, Some("0")),
];

/// The knobs of the policy file, with the defaults of `nvstreammux` in DeepStream 9.1.
const POLICY: [(Knob, &str); 5] = [
    (Knob::MuxMinFpsNumerator, "5"),
    (Knob::MuxMinFpsDenominator, "1"),
    (Knob::MuxMaxFpsNumerator, "120"),
    (Knob::MuxMaxFpsDenominator, "1"),
    (Knob::MuxAdaptiveBatching, "1"),
];

/// Which mux a value of `USE_NEW_NVSTREAMMUX` selects: the new one only for exactly `yes`.
pub(super) fn generation(variable: Option<&str>) -> MuxGeneration {
    match variable {
        Some("yes") => MuxGeneration::New,
        _ => MuxGeneration::Legacy,
    }
}

/// Adds the policy file of the new mux, and its knobs. Gives the file where it could be read.
pub(super) fn policy(
    builder: &mut Builder<'_>,
    element: ElementId,
    named_at: Site,
    search: Search,
) -> Option<usize> {
    builder.knob(element, Knob::MuxConfigFile, vec![named_at], None);
    let path = builder.named_file(element, Knob::MuxConfigFile, search)?;
    let file = builder.follow(&path)?;
    policy_knobs(builder, element, file);
    Some(file)
}

/// Adds the knobs that a policy file holds.
pub(super) fn policy_knobs(builder: &mut Builder<'_>, element: ElementId, file: usize) {
    for (knob, default) in POLICY {
        let keyed = Keyed::new(builder.file(file));
        let site = site(keyed, file, "property", knob.key(), IniType::Integer);
        builder.knob(element, knob, vec![site], Some(default));
    }
}

/// The place of the batch in the policy file, if it is given there: it beats the property.
pub(super) fn batch_in_policy(builder: &Builder<'_>, policy: Option<usize>) -> Option<Site> {
    let file = policy?;
    let keyed = Keyed::new(builder.file(file));
    keyed.integer("property", "batch-size").ok()??;
    Some(site(
        keyed,
        file,
        "property",
        "batch-size",
        IniType::Integer,
    ))
}
