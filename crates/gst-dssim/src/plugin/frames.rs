//! Buffers and caps that stand for frames.

use gstreamer as gst;

/// A buffer of frames of these streams.
pub(super) fn buffer(streams: &[u32], pts: Option<gst::ClockTime>) -> gst::Buffer {
    let bytes: Vec<u8> = streams
        .iter()
        .flat_map(|stream| stream.to_le_bytes())
        .collect();
    let mut buffer = gst::Buffer::from_slice(bytes);
    if let Some(buffer) = buffer.get_mut() {
        buffer.set_pts(pts);
    }
    buffer
}

/// The streams that the frames of a buffer came from; a buffer from elsewhere holds one frame of stream 0.
pub(super) fn streams(buffer: &gst::BufferRef) -> Vec<u32> {
    let Ok(bytes) = buffer.map_readable() else {
        return vec![0];
    };
    let (numbers, rest) = bytes.as_chunks::<4>();
    if numbers.is_empty() || !rest.is_empty() || numbers.len() > 1024 {
        return vec![0];
    }
    numbers
        .iter()
        .map(|bytes| u32::from_le_bytes(*bytes))
        .collect()
}

/// Raw video in GPU memory, of any size.
pub(super) fn nvmm() -> gst::Caps {
    gst::Caps::builder("video/x-raw")
        .features(["memory:NVMM"])
        .build()
}

/// Raw video anywhere.
pub(super) fn anywhere() -> gst::Caps {
    let mut caps = nvmm();
    caps.merge(gst::Caps::new_empty_simple("video/x-raw"));
    caps
}

/// Frames of one size.
pub(super) fn sized(width: u32, height: u32, fps: f64) -> gst::Caps {
    let side = |side: u32| i32::try_from(side).unwrap_or(i32::MAX);
    gst::Caps::builder("video/x-raw")
        .features(["memory:NVMM"])
        .field("format", "NV12")
        .field("width", side(width))
        .field("height", side(height))
        .field(
            "framerate",
            gst::Fraction::approximate_f64(fps).unwrap_or_else(|| gst::Fraction::new(30, 1)),
        )
        .build()
}

/// The template of a pad.
pub(super) fn template(
    name: &str,
    direction: gst::PadDirection,
    presence: gst::PadPresence,
    caps: &gst::Caps,
) -> gst::PadTemplate {
    gst::PadTemplate::new(name, direction, presence, caps)
        .expect("the names of templates here are well formed")
}
