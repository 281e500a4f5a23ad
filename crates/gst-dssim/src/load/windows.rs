//! Frames by window, by the times of the model: a thread that wakes up late moves no frame into the next window.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The frames of each stream in each window.
#[derive(Debug)]
pub(super) struct Windows {
    start: Instant,
    length: Duration,
    streams: usize,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    /// Windows that were taken.
    taken: usize,
    /// Those after them.
    open: Vec<Vec<u64>>,
}

impl Windows {
    pub(super) fn new(start: Instant, length: Duration, streams: u32) -> Self {
        Self {
            start,
            length,
            streams: streams as usize,
            counts: Mutex::default(),
        }
    }

    /// Counts a frame of a stream; one that comes after its window was taken counts in the next.
    pub(super) fn add(&self, stream: u32, at: Instant) {
        let since = at.saturating_duration_since(self.start).as_nanos();
        let window = usize::try_from(since / self.length.as_nanos()).unwrap_or(usize::MAX);
        let mut counts = self.lock();
        let index = window.saturating_sub(counts.taken);
        while counts.open.len() <= index {
            let empty = (0..self.streams).map(|_| 0).collect();
            counts.open.push(empty);
        }
        if let Some(count) = counts.open[index].get_mut(stream as usize) {
            *count += 1;
        }
    }

    /// The frames of each stream in the next window.
    pub(super) fn take(&self) -> Vec<u64> {
        let mut counts = self.lock();
        counts.taken += 1;
        if counts.open.is_empty() {
            (0..self.streams).map(|_| 0).collect()
        } else {
            counts.open.remove(0)
        }
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        // Plain numbers are whole whatever happened to the thread that changed them.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_counts_where_its_time_lies_unless_that_is_over() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let windows = Windows::new(start, second, 2);
        windows.add(0, start + second / 2);
        windows.add(1, start + second * 2 + second / 2);
        assert_eq!(windows.take(), [1, 0]);
        windows.add(0, start + second / 2);
        assert_eq!(windows.take(), [1, 0]);
        assert_eq!(windows.take(), [0, 1]);
        assert_eq!(windows.take(), [0, 0]);
    }
}
