//! Lines of single elements and of programs with a format of their own.

use super::{Cumulative, Line, Sample, Single, leading_number, sample, stream_id};
use crate::fps::log::{FpsEmitter, FpsStreamId, FpsUnit};

/// Recognises a line of one of these emitters.
pub(super) fn parse(line: &str) -> Option<Line<'static>> {
    fps_display_sink(line)
        .or_else(|| perf_element(line))
        .or_else(|| get_fps(line))
        .map(Line::Single)
        .or_else(|| dsl_debug_log(line))
        .or_else(|| ipc_test(line))
}

/// `<path>: last-message = rendered: 203, dropped: 0, current: 200.04, average: 201.04`, or with `fps: x, drop rate: y`
/// once it drops.
fn fps_display_sink(line: &str) -> Option<Single> {
    let at = line.find("rendered:")?;
    let (before, message) = line.split_at(at);
    let (_, figures) = message.split_once("dropped:")?;
    let value = figures.split(',').find_map(|field| {
        let (key, value) = field.split_once(':')?;
        matches!(key.trim(), "current" | "fps").then(|| value.trim())
    })?;
    // gst-launch -v prints the path of the element, `/GstPipeline:pipeline0/GstFPSDisplaySink:sink`, before a property.
    let name = before
        .split_once(": ")
        .and_then(|(path, _)| path.rsplit(':').next())
        .filter(|name| !name.is_empty())
        .unwrap_or("fpsdisplaysink");
    Some(Single {
        emitter: FpsEmitter::FpsDisplaySink,
        stream: FpsStreamId::Name(name.to_owned()),
        unit: FpsUnit::Buffers,
        sample: sample(value)?,
    })
}

/// `perf: name; timestamp: t; bps: b; mean_bps: b; fps: x; mean_fps: y`.
fn perf_element(line: &str) -> Option<Single> {
    let (_, record) = line.split_once("perf: ")?;
    let mut fields = record.split(';');
    let name = fields.next()?.trim();
    let value = fields
        .find_map(|field| field.trim().strip_prefix("fps:"))?
        .trim();
    // An element named after a request pad of the muxer stands in front of it and counts frames. Where any other one
    // stands is not known; behind the muxer it counts batches, so it is never taken for frames.
    let pad = name
        .rsplit_once("sink_")
        .and_then(|(_, pad)| pad.parse().ok());
    let (stream, unit) = match pad {
        Some(pad) => (FpsStreamId::Index(pad), FpsUnit::Frames),
        None => (FpsStreamId::Name(name.to_owned()), FpsUnit::Buffers),
    };
    Some(Single {
        emitter: FpsEmitter::PerfElement,
        stream,
        unit,
        sample: sample(value)?,
    })
}

/// `Fps of stream 0 is  30.2`.
fn get_fps(line: &str) -> Option<Single> {
    let (_, rest) = line.split_once("Fps of stream")?;
    let (stream, value) = rest.split_once(" is ")?;
    let value = value.trim();
    // NVIDIA's code divides by the interval and prints a float. A public copy prints the count of frames in the same
    // place, an integer; that is no rate.
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(Single {
        emitter: FpsEmitter::PythonGetFps,
        stream: stream_id(stream.trim()),
        unit: FpsUnit::Frames,
        sample: sample(value)?,
    })
}

/// `… Source '0' interval FPS avg = 29.97`, and the same with `session`, which is since start.
fn dsl_debug_log(line: &str) -> Option<Line<'static>> {
    const EMITTER: FpsEmitter = FpsEmitter::DslDebugLog;
    let (_, rest) = line.split_once("Source '")?;
    let (name, rest) = rest.split_once('\'')?;
    let (kind, value) = rest.split_once("FPS avg =")?;
    let sample = sample(value.trim())?;
    let stream = stream_id(name);
    match kind.trim() {
        "interval" => Some(Line::Single(Single {
            emitter: EMITTER,
            stream,
            unit: FpsUnit::Frames,
            sample,
        })),
        "session" => Some(Line::Cumulative(Cumulative {
            emitter: EMITTER,
            stream,
            average: sample,
            total: None,
        })),
        _ => None,
    }
}

/// `AVG FPS (num_sources 4 * 65.370): 261.481`.
fn ipc_test(line: &str) -> Option<Line<'static>> {
    let (_, rest) = line.split_once("AVG FPS (num_sources ")?;
    let (n_sources, rest) = leading_number(rest.trim_start())?;
    let (each, total) = rest.trim_start().strip_prefix('*')?.split_once("):")?;
    let average: Sample = sample(each.trim())?;
    Some(Line::Cumulative(Cumulative {
        emitter: FpsEmitter::IpcTest,
        stream: FpsStreamId::EachOf(n_sources),
        average,
        total: sample(total.trim())?,
    }))
}
