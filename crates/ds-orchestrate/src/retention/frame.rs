//! One frame of a dump: its objects and their boxes.

use std::path::PathBuf;

use super::{StreamId, TracksError};

/// One frame of one stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The stream.
    pub stream: StreamId,
    /// The number of the frame in its stream.
    pub number: u64,
    /// Its objects.
    pub objects: Vec<Detection>,
    /// Where it stands, for messages: a file and a line.
    pub place: (PathBuf, u64),
}

/// One object of a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    /// The id that the tracker gave it; `None` for an object that it did not follow.
    pub id: Option<u64>,
    /// Its class.
    pub label: String,
    /// Where it is.
    pub bbox: BoundingBox,
}

/// The id that DeepStream gives to objects that no tracker follows (`UNTRACKED_OBJECT_ID` of nvdsmeta.h).
pub(super) const UNTRACKED: u64 = u64::MAX;

/// A box in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundingBox {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl BoundingBox {
    /// A box; `None` where a number is not finite or a side is negative.
    pub fn new(left: f64, top: f64, width: f64, height: f64) -> Option<Self> {
        let is_finite = [left, top, width, height].iter().all(|n| n.is_finite());
        (is_finite && width >= 0.0 && height >= 0.0).then_some(Self {
            left,
            top,
            width,
            height,
        })
    }

    /// Its left side.
    pub fn left(&self) -> f64 {
        self.left
    }

    /// The area that two boxes share, over the area that they cover together; 0 for boxes without area.
    pub fn overlap(&self, other: &Self) -> f64 {
        let shared = |from: f64, length: f64, other_from: f64, other_length: f64| {
            let end = (from + length).min(other_from + other_length);
            (end - from.max(other_from)).max(0.0)
        };
        let both = shared(self.left, self.width, other.left, other.width)
            * shared(self.top, self.height, other.top, other.height);
        let either = self.width * self.height + other.width * other.height - both;
        if either > 0.0 { both / either } else { 0.0 }
    }

    /// How far the middle of the box moved to that of `later`.
    pub(super) fn way_to(&self, later: &Self) -> (f64, f64) {
        let middle = |bbox: &Self| (bbox.left + bbox.width / 2.0, bbox.top + bbox.height / 2.0);
        let ((x, y), (later_x, later_y)) = (middle(self), middle(later));
        (later_x - x, later_y - y)
    }

    /// The box at another place.
    pub(super) fn moved(&self, (x, y): (f64, f64)) -> Self {
        Self {
            left: self.left + x,
            top: self.top + y,
            ..*self
        }
    }
}

impl Frame {
    /// An error that names the frame's place.
    pub(super) fn error(&self, reason: String) -> TracksError {
        let (path, line) = &self.place;
        TracksError::Line {
            path: path.clone(),
            line: *line,
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::BoundingBox;

    fn bbox(left: f64, top: f64, width: f64, height: f64) -> BoundingBox {
        BoundingBox::new(left, top, width, height).expect("a box")
    }

    #[test]
    fn overlaps_by_hand() {
        // 10 x 10 and the same moved by 5: shared 50, together 150.
        let square = bbox(0.0, 0.0, 10.0, 10.0);
        assert!((square.overlap(&bbox(5.0, 0.0, 10.0, 10.0)) - 1.0 / 3.0).abs() < 1e-12);
        assert!((square.overlap(&square) - 1.0).abs() < 1e-12);
        assert!(square.overlap(&bbox(20.0, 0.0, 10.0, 10.0)).abs() < 1e-12);
        assert!(bbox(1.0, 1.0, 0.0, 0.0).overlap(&square).abs() < 1e-12);
    }

    #[test]
    fn boxes_that_are_none() {
        assert_eq!(BoundingBox::new(0.0, 0.0, -1.0, 1.0), None);
        assert_eq!(BoundingBox::new(f64::NAN, 0.0, 1.0, 1.0), None);
    }
}
