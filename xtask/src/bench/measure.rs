//! How long a program runs and how much memory it takes.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::step::Step;

/// One run of a program, or the median of several.
pub(super) struct Measured {
    /// From the start to the end.
    pub(super) wall: Duration,
    /// The most memory that was resident at once.
    pub(super) peak_bytes: u64,
}

/// How often the kernel is asked for the peak: often enough that what the last moments add is small.
const POLL: Duration = Duration::from_millis(2);

/// Runs a program whose output is thrown away.
///
/// The peak is the kernel's own high-water mark, read until the process ends. It belongs to the process itself, so for
/// a program that starts others it says less than all of them take.
pub(super) fn run(step: &Step) -> Result<Measured> {
    let started = Instant::now();
    let mut child = step
        .command()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("starting `{}`", step.shown()))?;
    let status_file = format!("/proc/{}/status", child.id());
    let poller = thread::spawn(move || {
        let mut peak = 0;
        // The file of a process that has ended has no such line, and then no longer exists.
        while let Some(now) = fs::read_to_string(&status_file)
            .ok()
            .and_then(|text| high_water_mark(&text))
        {
            peak = peak.max(now);
            thread::sleep(POLL);
        }
        peak
    });
    let status = child.wait()?;
    let wall = started.elapsed();
    let peak_bytes = poller
        .join()
        .ok()
        .context("the thread that reads the memory ended early")?;
    if !status.success() {
        bail!("`{}` ended with {status}", step.shown());
    }
    Ok(Measured { wall, peak_bytes })
}

/// `VmHWM` of a process's status, in bytes.
fn high_water_mark(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib << 10)
}

/// The middle one of three durations.
pub(super) fn median_of_three(mut once: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    let mut runs = [once()?, once()?, once()?];
    runs.sort();
    Ok(runs[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_in_bytes() {
        let status = "Name:\tdsprof\nVmPeak:\t  900 kB\nVmHWM:\t  300 kB\nVmRSS:\t  200 kB\n";
        assert_eq!(high_water_mark(status), Some(307_200));
        assert_eq!(high_water_mark("Name:\tdsprof\nState:\tZ (zombie)\n"), None);
    }

    #[test]
    fn the_median_is_the_middle_one() {
        let mut runs = [3, 1, 2].into_iter().map(Duration::from_secs);
        let median = median_of_three(|| runs.next().context("three runs")).expect("three runs");
        assert_eq!(median, Duration::from_secs(2));
    }
}
