//! Enumerations, registered from the table of properties.
#![expect(
    unsafe_code,
    reason = "the bindings register enumerations that are Rust types, and these come from a table"
)]

use std::collections::BTreeMap;
use std::ffi::CString;
use std::ptr;
use std::sync::OnceLock;

use gst::glib;
use gst::glib::gobject_ffi;
use gst::glib::translate::{FromGlib, IntoGlib, from_glib_none};
use gstreamer as gst;

use crate::property::Choices;

/// The GType of an enumeration; all are registered by the first call.
pub(super) fn type_of(choices: Choices) -> glib::Type {
    static TYPES: OnceLock<BTreeMap<Choices, glib::Type>> = OnceLock::new();
    let types = TYPES.get_or_init(|| Choices::ALL.into_iter().map(|c| (c, register(c))).collect());
    types[&choices]
}

fn c_text(text: &str) -> *const std::ffi::c_char {
    // A type lives as long as the process, and so do the texts that it points to.
    CString::new(text).unwrap_or_default().into_raw()
}

fn register(choices: Choices) -> glib::Type {
    let end = gobject_ffi::GEnumValue {
        value: 0,
        value_name: ptr::null(),
        value_nick: ptr::null(),
    };
    let values = choices.values().iter().map(|(value, nick)| {
        let text = c_text(nick);
        gobject_ffi::GEnumValue {
            value: *value,
            value_name: text,
            value_nick: text,
        }
    });
    let values: Vec<_> = values.chain([end]).collect();
    // SAFETY: name and values live as long as the process, and a null name ends the values.
    unsafe {
        glib::Type::from_glib(gobject_ffi::g_enum_register_static(
            c_text(choices.type_name()),
            values.leak().as_ptr(),
        ))
    }
}

/// A property of an enumeration.
pub(super) fn spec(name: &str, choices: Choices, default: i32) -> glib::ParamSpec {
    let text = c_text(name);
    // SAFETY: all texts live as long as the process, the type is an enumeration and holds the default.
    unsafe {
        from_glib_none(gobject_ffi::g_param_spec_enum(
            text,
            text,
            text,
            type_of(choices).into_glib(),
            default,
            gobject_ffi::G_PARAM_READWRITE,
        ))
    }
}
