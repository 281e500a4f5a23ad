//! Follows the ids of one stream through its frames.

use std::collections::BTreeMap;

use super::frame::{BoundingBox, Detection, Frame};
use super::{IdCounts, MEMORY, OVERLAP, SUCCESSION, TracksError};

/// The ids of the last frames of a stream, and what became of those before.
#[derive(Debug, Default)]
pub(super) struct Follower {
    tracks: BTreeMap<u64, Track>,
    counts: IdCounts,
    /// The number of the last frame.
    number: Option<u64>,
}

/// An id that is remembered. Frames are counted as they stand in the dump: one that keeps every fifth frame has no gaps.
#[derive(Debug)]
struct Track {
    label: String,
    bbox: BoundingBox,
    /// Pixels a frame, between the last two boxes.
    speed: (f64, f64),
    /// In how many frames it was seen.
    seen: u64,
    /// Where in the dump it was seen last.
    last: u64,
    /// The id that took its place.
    successor: Option<u64>,
}

impl Follower {
    /// Takes in the next frame.
    pub(super) fn frame(&mut self, frame: &Frame) -> Result<(), TracksError> {
        if let Some(before) = self.number {
            if frame.number <= before {
                let number = frame.number;
                return Err(frame.error(format!(
                    "frame {number} of stream {} comes after frame {before}: give the frames of a stream in order, each \
                     once",
                    frame.stream
                )));
            }
            self.counts.missing_frames += frame.number - before - 1;
        }
        self.number = Some(frame.number);
        let now = self.counts.frames;
        self.counts.frames += 1;
        self.forget(now);
        let mut begun = Vec::new();
        for object in &frame.objects {
            self.counts.detections += 1;
            match object.id {
                None => self.counts.untracked += 1,
                Some(id) => self.see(id, object, now, &mut begun),
            }
        }
        self.find_successors(&begun, now);
        Ok(())
    }

    /// Decides about the ids that are left.
    pub(super) fn finish(mut self) -> IdCounts {
        let end = self.counts.frames.saturating_sub(1);
        for (_, track) in std::mem::take(&mut self.tracks) {
            self.settle(&track, end);
        }
        self.counts
    }

    fn see(&mut self, id: u64, object: &Detection, now: u64, begun: &mut Vec<u64>) {
        let Some(track) = self.tracks.get_mut(&id) else {
            begun.push(id);
            self.tracks.insert(id, Track::new(object, now));
            return;
        };
        let Some(gap) = (now - track.last).checked_sub(1) else {
            self.counts.repeated += 1;
            return;
        };
        match gap {
            0 => {}
            1..=SUCCESSION => self.counts.short_gaps += 1,
            _ => self.counts.long_gaps += 1,
        }
        if gap > 0 {
            begun.push(id);
        }
        track.see(object, now);
    }

    /// Matches ids that begin, or begin again, to lost ones, the best overlap first.
    fn find_successors(&mut self, begun: &[u64], now: u64) {
        let mut pairs: Vec<(f64, u64, u64)> = Vec::new();
        for new in begun {
            let Some(track) = self.tracks.get(new) else {
                continue;
            };
            pairs.extend(
                self.tracks
                    .iter()
                    .filter(|(_, lost)| {
                        lost.last < now
                            && now - lost.last <= SUCCESSION
                            && lost.successor.is_none()
                            && lost.label == track.label
                    })
                    .map(|(id, lost)| (lost.expected(now).overlap(&track.bbox), *id, *new))
                    .filter(|(overlap, ..)| *overlap >= OVERLAP),
            );
        }
        // Equal overlaps are settled by the ids, so that the order of objects in a frame does not matter.
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut taken: Vec<u64> = Vec::new();
        for (_, lost, new) in pairs {
            if let Some(track) = self.tracks.get_mut(&lost)
                && track.successor.is_none()
                && !taken.contains(&new)
            {
                track.successor = Some(new);
                taken.push(new);
            }
        }
    }

    /// Drops what has been missing for longer than anything is remembered.
    fn forget(&mut self, now: u64) {
        let gone: Vec<u64> = self
            .tracks
            .iter()
            .filter(|(_, track)| now - track.last > MEMORY + 1)
            .map(|(id, _)| *id)
            .collect();
        for id in gone {
            if let Some(track) = self.tracks.remove(&id) {
                self.settle(&track, now);
            }
        }
    }

    fn settle(&mut self, track: &Track, now: u64) {
        let absent = now - track.last;
        let had_time = absent == 0 || absent >= SUCCESSION;
        if track.successor.is_some() {
            self.counts.replaced += 1;
        } else if track.seen >= 2 && had_time {
            self.counts.kept += 1;
        } else {
            self.counts.undecided += 1;
        }
    }
}

impl Track {
    fn new(object: &Detection, now: u64) -> Self {
        Self {
            label: object.label.clone(),
            bbox: object.bbox,
            speed: (0.0, 0.0),
            seen: 1,
            last: now,
            successor: None,
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "frames between two sights are few"
    )]
    fn see(&mut self, object: &Detection, now: u64) {
        let (x, y) = self.bbox.way_to(&object.bbox);
        let frames = (now - self.last) as f64;
        self.speed = (x / frames, y / frames);
        self.bbox = object.bbox;
        self.seen += 1;
        self.last = now;
        // It is back, so that nobody took its place.
        self.successor = None;
    }

    /// Where the object would be now.
    #[expect(
        clippy::cast_precision_loss,
        reason = "frames between two sights are few"
    )]
    fn expected(&self, now: u64) -> BoundingBox {
        let frames = (now - self.last) as f64;
        self.bbox
            .moved((self.speed.0 * frames, self.speed.1 * frames))
    }
}
