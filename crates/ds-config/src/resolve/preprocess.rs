//! nvdspreprocess, whose tensors decide the batch of the inference behind it.

use super::builder::{Builder, Search};
use super::keyed::{Keyed, site};
use crate::ini::IniType;
use crate::model::{Document, ElementId, Knob, Site};

/// Adds the configuration file of the element, and the shape of the tensors that it names.
pub(super) fn knobs(builder: &mut Builder<'_>, element: ElementId, named_at: Site, search: Search) {
    builder.knob(element, Knob::PreprocessConfigFile, vec![named_at], None);
    let path = builder.named_file(element, Knob::PreprocessConfigFile, search);
    let Some(file) = path.and_then(|path| builder.follow(&path)) else {
        return;
    };
    shape(builder, element, file);
}

/// Adds the shape of the tensors that a configuration file asks for.
pub(super) fn shape(builder: &mut Builder<'_>, element: ElementId, file: usize) {
    if matches!(
        builder.file(file).document,
        Document::Ini(_) | Document::Yaml(_)
    ) {
        let keyed = Keyed::new(builder.file(file));
        let key = Knob::PreprocessInputShape.key();
        let shape = site(keyed, file, "property", key, IniType::IntegerList);
        builder.knob(element, Knob::PreprocessInputShape, vec![shape], None);
    }
}
