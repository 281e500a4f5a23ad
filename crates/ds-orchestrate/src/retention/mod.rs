//! How many object ids survive, measured from what a pipeline wrote about its tracks.
//!
//! ```text
//! retention = kept / (kept + replaced)
//! ```
//!
//! over the ids of a stream or of all streams:
//!
//! - *replaced*: the id was no longer seen, and within [`SUCCESSION`] frames of the dump another id with the same label,
//!   which was not in the frame before, began where the lost object would be by then. Where it would be is its last box, moved on by the
//!   speed between its last two boxes; the new box has to overlap it by [`OVERLAP`]. This is how SORT matches a track to a
//!   detection (Bewley et al., "Simple online and realtime tracking", ICIP 2016), applied to ids: one object got two, an
//!   identity switch in the sense of CLEAR MOT (Bernardin and Stiefelhagen, 2008).
//! - *kept*: the id was seen in at least two frames and not replaced. An object that leaves the picture is kept: nobody
//!   takes its place.
//! - *undecided*: the id was seen once and nobody followed it, or it was lost so close to the end that a successor had no
//!   time to appear. Such ids count on neither side.
//!
//! An object that enters exactly where another left is taken for a switch, so that retention errs towards fewer skipped
//! batches. There is no ground truth in it: an object that was never found, and two objects under one id, are not seen.
//!
//! A gap is a run of frames in which an id was missing before it came back: short up to [`SUCCESSION`] frames, long up to
//! [`MEMORY`]. An id that comes back later than that counts as another one, which bounds the memory: a stream needs room
//! for the ids of its last [`MEMORY`] frames and no more.

mod document;
mod error;
mod follower;
mod frame;
mod json_lines;
mod kitti;

use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;
use std::path::Path;

use ds_ceilings::Fraction;
use ds_derive::IdRetention;

pub use document::{RETENTION_FILE, RETENTION_SCHEMA, parse_retention, render_retention};
pub use error::TracksError;
pub use frame::{BoundingBox, Detection, Frame};

use self::follower::Follower;

/// Frames of the dump within which a successor has to begin, and the longest short gap: one second at 30 frames per
/// second. A choice of dsprof.
pub const SUCCESSION: u64 = 30;

/// Frames of the dump for which a missing id is remembered: ten seconds at 30 frames per second. A choice of dsprof.
pub const MEMORY: u64 = 300;

/// The overlap (intersection over union) from which a new box stands where the lost object would be: the default of the
/// reference code of SORT (`iou_threshold` in `sort.py`).
pub const OVERLAP: f64 = 0.3;

/// Which stream of a dump: the instance of the application, and the mux pad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// Index of the application instance; 0 where there is one.
    pub instance: u32,
    /// The mux pad, which is the number of the source.
    pub pad: u32,
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.instance {
            0 => write!(f, "{}", self.pad),
            instance => write!(f, "{instance}/{}", self.pad),
        }
    }
}

/// What became of the ids of a stream, or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IdCounts {
    /// Frames that were read.
    pub frames: u64,
    /// Frame numbers that are missing between the first and the last.
    pub missing_frames: u64,
    /// Objects in frames.
    pub detections: u64,
    /// Objects without an id of the tracker.
    pub untracked: u64,
    /// Objects whose id stood in the same frame already.
    pub repeated: u64,
    /// Ids that survived as long as they can be followed.
    pub kept: u64,
    /// Ids in whose place another one appeared.
    pub replaced: u64,
    /// Ids of which neither can be said.
    pub undecided: u64,
    /// Gaps of at most [`SUCCESSION`] frames.
    pub short_gaps: u64,
    /// Gaps of more, up to [`MEMORY`] frames.
    pub long_gaps: u64,
}

impl IdCounts {
    /// The share of the decided ids that were kept; `None` where none was decided.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a share needs no more than 53 bits"
    )]
    pub fn retention(&self) -> Option<Fraction> {
        Fraction::of(self.kept as f64, (self.kept + self.replaced) as f64)
    }

    /// The ids that were seen.
    pub fn ids(&self) -> u64 {
        self.kept + self.replaced + self.undecided
    }
}

impl<'a> Sum<&'a Self> for IdCounts {
    fn sum<I: Iterator<Item = &'a Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |sum, more| Self {
            frames: sum.frames + more.frames,
            missing_frames: sum.missing_frames + more.missing_frames,
            detections: sum.detections + more.detections,
            untracked: sum.untracked + more.untracked,
            repeated: sum.repeated + more.repeated,
            kept: sum.kept + more.kept,
            replaced: sum.replaced + more.replaced,
            undecided: sum.undecided + more.undecided,
            short_gaps: sum.short_gaps + more.short_gaps,
            long_gaps: sum.long_gaps + more.long_gaps,
        })
    }
}

/// The retention of one dump.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retention {
    /// Each stream.
    pub streams: BTreeMap<StreamId, IdCounts>,
}

impl Retention {
    /// All streams together.
    pub fn total(&self) -> IdCounts {
        self.streams.values().sum()
    }

    /// The retention of frames. Those of a stream have to ascend; streams may alternate.
    ///
    /// # Errors
    ///
    /// The first error of `frames`, or a frame that does not ascend.
    pub fn of_frames(
        frames: impl IntoIterator<Item = Result<Frame, TracksError>>,
    ) -> Result<Self, TracksError> {
        let mut followers: BTreeMap<StreamId, Follower> = BTreeMap::new();
        for frame in frames {
            let frame = frame?;
            let follower = followers.entry(frame.stream).or_default();
            follower.frame(&frame)?;
        }
        Ok(Self {
            streams: followers
                .into_iter()
                .map(|(stream, follower)| (stream, follower.finish()))
                .collect(),
        })
    }
}

/// The retention of a dump, and the interval that it was made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredRetention {
    /// Batches skipped between two inferences while the dump was made.
    pub interval: u32,
    /// The dump, as it was named.
    pub path: String,
    /// What it holds.
    pub retention: Retention,
}

impl MeasuredRetention {
    /// What rule R4a takes; `None` where no id was decided.
    pub fn for_rule(&self) -> Option<IdRetention> {
        Some(IdRetention {
            interval: self.interval,
            share: self.retention.total().retention()?,
        })
    }
}

/// Reads a dump: a directory that `kitti-track-output-dir` of deepstream-app named, or a file of JSON lines.
///
/// The files of a directory are `II_SSS_FFFFFF.txt`, instance, stream and frame, one line an object:
/// `label id 0.0 0 0.0 left top right bottom …`, in pixels of the mux (deepstream_app.c of DeepStream 4 to 9.1, all of
/// whose variants differ behind the box only).
///
/// A line of a JSON file is one frame of one stream; other members are ignored, and a frame without objects has a line
/// too:
///
/// ```text
/// {"stream": 0, "frame": 12, "objects": [{"id": 7, "label": "car", "bbox": [left, top, width, height]}]}
/// ```
///
/// One file and one frame are in memory at a time, beside 16 bytes a file for the order in which they are read.
///
/// # Errors
///
/// When something cannot be read or understood; the error names file and line.
pub fn read_tracks(path: &Path) -> Result<Retention, TracksError> {
    let retention = if path.is_dir() {
        kitti::read(path)?
    } else {
        json_lines::read(path)?
    };
    if retention.total().detections == 0 {
        return Err(TracksError::Unfit {
            path: path.to_owned(),
            reason:
                "no frame holds an object; was the tracker running, and the dump made behind it?"
                    .to_owned(),
        });
    }
    Ok(retention)
}
