//! Asks GStreamer's own parser whether it takes a gst-launch line, and starts nothing: `dssim-parse ELEMENT PROPERTY=VALUE …`.
//!
//! The words are what stands behind `gst-launch-1.0` and its options.

use std::io::{Write as _, stderr};
use std::process::ExitCode;

use gstreamer as gst;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let parsed = gst::init().and_then(|()| {
        let mut context = gst::ParseContext::new();
        gst::parse::launchv_full(&words, Some(&mut context), gst::ParseFlags::FATAL_ERRORS)
    });
    match parsed {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to be told where even standard error is closed.
            let _ = writeln!(stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}
