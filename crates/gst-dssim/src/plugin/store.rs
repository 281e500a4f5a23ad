//! The values of an element's properties.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gst::glib;
use gst::prelude::*;
use gstreamer as gst;

use super::enums;
use crate::property::{Kind, MuxKind, element};

/// The specifications of an element's properties.
///
/// # Panics
///
/// Where the table does not hold the element, which the test of the plugin would show.
pub(super) fn specs(name: &str) -> Vec<glib::ParamSpec> {
    let mux = MuxKind::selected_by(std::env::var("USE_NEW_NVSTREAMMUX").ok().as_deref());
    let element = element(name, mux).expect("every registered element is in the table");
    element
        .properties
        .iter()
        .map(|property| spec(property.name, property.kind))
        .collect()
}

fn spec(name: &'static str, kind: Kind) -> glib::ParamSpec {
    match kind {
        Kind::Uint { min, max, default } => glib::ParamSpecUInt::builder(name)
            .nick(name)
            .blurb(name)
            .minimum(min)
            .maximum(max)
            .default_value(default)
            .build(),
        Kind::Int { min, max, default } => glib::ParamSpecInt::builder(name)
            .nick(name)
            .blurb(name)
            .minimum(min)
            .maximum(max)
            .default_value(default)
            .build(),
        Kind::Uint64 { default } => glib::ParamSpecUInt64::builder(name)
            .nick(name)
            .blurb(name)
            .default_value(default)
            .build(),
        Kind::Bool { default } => glib::ParamSpecBoolean::builder(name)
            .nick(name)
            .blurb(name)
            .default_value(default)
            .build(),
        Kind::Text => glib::ParamSpecString::builder(name)
            .nick(name)
            .blurb(name)
            .build(),
        Kind::Enum { choices, default } => enums::spec(name, choices, default),
    }
}

/// What was set, by name; what was not has its default.
#[derive(Debug, Default)]
pub(super) struct Store(Mutex<BTreeMap<String, glib::SendValue>>);

impl Store {
    pub(super) fn set(&self, spec: &glib::ParamSpec, value: &glib::Value) {
        // Only numbers, texts and enumerations are in the table, all of which may go to another thread.
        if let Some(value) = sendable(value) {
            self.lock().insert(spec.name().to_owned(), value);
        }
    }

    pub(super) fn get(&self, spec: &glib::ParamSpec) -> glib::Value {
        let values = self.lock();
        values
            .get(spec.name())
            .map_or_else(|| spec.default_value().clone(), |value| (**value).clone())
    }

    /// The value of a number that was set.
    pub(super) fn uint(&self, name: &str) -> Option<u32> {
        self.lock().get(name)?.get().ok()
    }

    /// The value of a signed number that was set.
    pub(super) fn int(&self, name: &str) -> Option<i32> {
        self.lock().get(name)?.get().ok()
    }

    /// Whether a switch was set to on.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.lock()
            .get(name)
            .is_some_and(|value| value.get() == Ok(true))
    }

    /// A text that was set.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.lock().get(name)?.get::<Option<String>>().ok()?
    }

    /// Everything that was set.
    pub(super) fn names(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, glib::SendValue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn sendable(value: &glib::Value) -> Option<glib::SendValue> {
    if let Ok(number) = value.get::<u32>() {
        return Some(number.to_send_value());
    }
    if let Ok(number) = value.get::<i32>() {
        return Some(number.to_send_value());
    }
    if let Ok(number) = value.get::<u64>() {
        return Some(number.to_send_value());
    }
    if let Ok(switch) = value.get::<bool>() {
        return Some(switch.to_send_value());
    }
    if let Ok(text) = value.get::<Option<String>>() {
        return Some(text.to_send_value());
    }
    let (class, chosen) = glib::EnumValue::from_value(value)?;
    class
        .to_value(chosen.value())?
        .try_into_send_value::<i32>()
        .ok()
}

/// The three functions by which an element has the properties of the table.
macro_rules! properties_of_the_table {
    ($name:literal) => {
        fn properties() -> &'static [glib::ParamSpec] {
            static SPECS: std::sync::OnceLock<Vec<glib::ParamSpec>> = std::sync::OnceLock::new();
            SPECS.get_or_init(|| $crate::plugin::store::specs($name))
        }

        fn set_property(&self, _id: usize, value: &glib::Value, spec: &glib::ParamSpec) {
            self.store.set(spec, value);
        }

        fn property(&self, _id: usize, spec: &glib::ParamSpec) -> glib::Value {
            self.store.get(spec)
        }
    };
}
pub(super) use properties_of_the_table;
