//! Waiting for simulated hardware: work ends when the model says, however late the host wakes up.

use std::thread;
use std::time::{Duration, Instant};

/// How late a thread may come with its work without losing time: a scheduler's lateness is no property of the model,
/// and hardware with work queued ahead does not see it.
pub const HOST_LATENESS: Duration = Duration::from_millis(50);

/// Something that works on one thing at a time: the multiprocessors, a decoding engine, a tracker.
#[derive(Debug, Clone, Copy, Default)]
pub struct Server {
    free_at: Option<Instant>,
}

impl Server {
    /// When work that came at `arrival` and takes `service` is done.
    pub fn serve(&mut self, arrival: Instant, service: Duration) -> Instant {
        let start = match self.free_at {
            Some(free_at) => free_at.max(arrival.checked_sub(HOST_LATENESS).unwrap_or(arrival)),
            None => arrival,
        };
        let end = start + service;
        self.free_at = Some(end);
        end
    }

    /// When it has done all that it was given; `None` before its first work.
    pub fn free_at(&self) -> Option<Instant> {
        self.free_at
    }
}

/// Sleeps until then; returns at once when that is over.
pub fn sleep_until(then: Instant) {
    let left = then.saturating_duration_since(Instant::now());
    if !left.is_zero() {
        thread::sleep(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_work_of_a_busy_host_loses_no_time() {
        let start = Instant::now();
        let tick = Duration::from_millis(10);
        let mut server = Server::default();
        let ends: Vec<Duration> = (0..100_u32)
            // Every piece comes 3 ms after the one before it is done.
            .map(|n| server.serve(start + tick * n + Duration::from_millis(3), tick) - start)
            .collect();
        assert_eq!(ends[0], Duration::from_millis(13));
        assert_eq!(ends[99], Duration::from_millis(13) + tick * 99);
    }

    #[test]
    fn work_after_a_pause_starts_when_it_comes() {
        let start = Instant::now();
        let mut server = Server::default();
        server.serve(start, Duration::from_millis(10));
        let later = start + Duration::from_secs(1);
        let end = server.serve(later, Duration::from_millis(10));
        assert_eq!(end, later - HOST_LATENESS + Duration::from_millis(10));
    }
}
