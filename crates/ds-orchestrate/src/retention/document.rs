//! `tracks/retention.json` of a bundle: what the dumps held, so that a replay needs none of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{IdCounts, MeasuredRetention, Retention, StreamId};

/// The place of the readings below the root of a bundle.
pub const RETENTION_FILE: &str = "tracks/retention.json";

/// The format of that file; raised when a reader of the old one would misread the new one.
pub const RETENTION_SCHEMA: &str = "dsprof.tracks/1";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    dumps: Vec<Dump>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Dump {
    interval: u32,
    path: String,
    streams: Vec<Stream>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stream {
    instance: u32,
    pad: u32,
    frames: u64,
    missing_frames: u64,
    detections: u64,
    untracked: u64,
    repeated: u64,
    kept: u64,
    replaced: u64,
    undecided: u64,
    short_gaps: u64,
    long_gaps: u64,
}

/// The file as text.
///
/// # Errors
///
/// When it cannot be put into JSON.
pub fn render_retention(measured: &[MeasuredRetention]) -> Result<String, serde_json::Error> {
    let stream = |(id, counts): (&StreamId, &IdCounts)| Stream {
        instance: id.instance,
        pad: id.pad,
        frames: counts.frames,
        missing_frames: counts.missing_frames,
        detections: counts.detections,
        untracked: counts.untracked,
        repeated: counts.repeated,
        kept: counts.kept,
        replaced: counts.replaced,
        undecided: counts.undecided,
        short_gaps: counts.short_gaps,
        long_gaps: counts.long_gaps,
    };
    let document = Document {
        schema: RETENTION_SCHEMA.to_owned(),
        dumps: measured
            .iter()
            .map(|dump| Dump {
                interval: dump.interval,
                path: dump.path.clone(),
                streams: dump.retention.streams.iter().map(stream).collect(),
            })
            .collect(),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Reads the file.
///
/// # Errors
///
/// What is wrong with it, in words.
pub fn parse_retention(bytes: &[u8]) -> Result<Vec<MeasuredRetention>, String> {
    let value: serde_json::Value =
        serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let schema = value.get("schema").and_then(serde_json::Value::as_str);
    if schema != Some(RETENTION_SCHEMA) {
        let found = schema.unwrap_or("(none)");
        return Err(format!(
            "its schema is `{found}`, this dsprof reads `{RETENTION_SCHEMA}`"
        ));
    }
    let document: Document = serde_json::from_value(value).map_err(|error| error.to_string())?;
    let stream = |stream: Stream| {
        let id = StreamId {
            instance: stream.instance,
            pad: stream.pad,
        };
        let counts = IdCounts {
            frames: stream.frames,
            missing_frames: stream.missing_frames,
            detections: stream.detections,
            untracked: stream.untracked,
            repeated: stream.repeated,
            kept: stream.kept,
            replaced: stream.replaced,
            undecided: stream.undecided,
            short_gaps: stream.short_gaps,
            long_gaps: stream.long_gaps,
        };
        (id, counts)
    };
    Ok(document
        .dumps
        .into_iter()
        .map(|dump| MeasuredRetention {
            interval: dump.interval,
            path: dump.path,
            retention: Retention {
                streams: dump
                    .streams
                    .into_iter()
                    .map(stream)
                    .collect::<BTreeMap<_, _>>(),
            },
        })
        .collect())
}
