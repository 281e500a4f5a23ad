//! A file of JSON lines, one frame of one stream a line.

use std::fs::File;
use std::path::Path;

use serde::Deserialize;

use super::frame::UNTRACKED;
use super::kitti::Lines;
use super::{BoundingBox, Detection, Frame, Retention, StreamId, TracksError};

/// Reads the lines as they come.
pub(super) fn read(path: &Path) -> Result<Retention, TracksError> {
    let file = File::open(path).map_err(|source| TracksError::Read {
        path: path.to_owned(),
        source,
    })?;
    let mut lines = Lines::new(path.to_owned(), file);
    let frames = std::iter::from_fn(|| {
        loop {
            match lines.next() {
                Ok(None) => return None,
                Ok(Some((_, text))) if text.trim().is_empty() => {}
                Ok(Some((line, text))) => return Some(frame(path, line, &text)),
                Err(error) => return Some(Err(error)),
            }
        }
    });
    Retention::of_frames(frames)
}

#[derive(Deserialize)]
struct Line {
    stream: u32,
    frame: u64,
    objects: Vec<Object>,
}

#[derive(Deserialize)]
struct Object {
    id: u64,
    #[serde(default)]
    label: String,
    /// Left, top, width, height.
    bbox: [f64; 4],
}

fn frame(path: &Path, line: u64, text: &str) -> Result<Frame, TracksError> {
    let error = |reason: String| TracksError::Line {
        path: path.to_owned(),
        line,
        reason,
    };
    let read: Line = serde_json::from_str(text).map_err(|reason| {
        error(format!(
            "{reason}; a line is one frame: \
             {{\"stream\": 0, \"frame\": 12, \"objects\": [{{\"id\": 7, \"label\": \"car\", \"bbox\": [left, top, width, height]}}]}}"
        ))
    })?;
    let objects = read
        .objects
        .into_iter()
        .map(|object| {
            let [left, top, width, height] = object.bbox;
            let bbox = BoundingBox::new(left, top, width, height).ok_or_else(|| {
                error(format!(
                    "the box of id {} is {width} wide and {height} high; give left, top, width and height",
                    object.id
                ))
            })?;
            Ok(Detection {
                id: (object.id != UNTRACKED).then_some(object.id),
                label: object.label,
                bbox,
            })
        })
        .collect::<Result<_, TracksError>>()?;
    Ok(Frame {
        stream: StreamId {
            instance: 0,
            pad: read.stream,
        },
        number: read.frame,
        objects,
        place: (path.to_owned(), line),
    })
}
