//! The GStreamer elements: the names, pads and properties of DeepStream's, and the times of the model.
//!
//! A buffer stands for a frame or for a batch and holds the numbers of the streams that its frames came from, four
//! bytes each, where the real ones hold an `NvBufSurface`.

mod convert;
mod decoder;
mod demux;
mod enums;
mod frames;
mod infer_config;
mod logger;
mod machine;
mod multi_source;
mod mux;
mod passing;
mod sink;
mod source;
mod stage;
mod store;
mod work;

use gst::glib;
use gstreamer as gst;

fn plugin_init(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    source::register(plugin)?;
    multi_source::register(plugin)?;
    decoder::register(plugin)?;
    mux::register(plugin)?;
    stage::register(plugin)?;
    passing::register(plugin)?;
    logger::register(plugin)?;
    demux::register(plugin)?;
    sink::register(plugin)
}

gst::plugin_define!(
    dssim,
    env!("CARGO_PKG_DESCRIPTION"),
    plugin_init,
    env!("CARGO_PKG_VERSION"),
    "MIT/X11",
    env!("CARGO_PKG_NAME"),
    env!("CARGO_PKG_NAME"),
    "dsprof",
    "2026-01-01"
);
