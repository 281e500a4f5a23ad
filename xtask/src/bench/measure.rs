//! How long a program runs and how much memory it takes.

use std::fs;
use std::io::{Read as _, Seek as _};
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
    /// What it printed.
    pub(super) output: String,
}

/// What is done with what a program prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// It can be compared.
    Output,
    /// It is too much to keep.
    Nothing,
}

/// How often the kernel is asked for the peak: often enough that what the last moments add is small.
const POLL: Duration = Duration::from_millis(2);

/// Runs a program.
///
/// The peak is the kernel's own high-water mark, read until the process ends. It belongs to the process itself, so for
/// a program that starts others it says less than all of them take.
pub(super) fn run(step: &Step, keep: Keep) -> Result<Measured> {
    // A file takes everything at once: a pipe would make the program wait for its reader.
    let mut printed = match keep {
        Keep::Output => Some(tempfile::tempfile().context("creating a temporary file")?),
        Keep::Nothing => None,
    };
    let stdout = match &printed {
        Some(file) => Stdio::from(file.try_clone()?),
        None => Stdio::null(),
    };
    let started = Instant::now();
    let mut child = step
        .command()
        .stdin(Stdio::null())
        .stdout(stdout)
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
    let mut output = String::new();
    if let Some(printed) = &mut printed {
        printed.rewind()?;
        printed.read_to_string(&mut output)?;
    }
    Ok(Measured {
        wall,
        peak_bytes,
        output,
    })
}

/// The run of the middle duration among three, with the largest peak of all.
pub(super) fn three_runs(step: &Step) -> Result<Measured> {
    let once = || run(step, Keep::Output);
    let mut runs = [once()?, once()?, once()?];
    runs.sort_by_key(|run| run.wall);
    let peak_bytes = runs.iter().map(|run| run.peak_bytes).max();
    let [_, median, _] = runs;
    Ok(Measured {
        peak_bytes: peak_bytes.unwrap_or(median.peak_bytes),
        ..median
    })
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
    fn a_run_keeps_what_the_program_prints() {
        let measured = three_runs(&Step::cargo().args(["--version"])).expect("three runs");
        assert!(measured.output.starts_with("cargo "), "{}", measured.output);
    }

    #[test]
    fn a_program_that_fails_is_not_measured() {
        assert!(run(&Step::cargo().args(["no-such-command"]), Keep::Output).is_err());
    }

    #[test]
    fn the_median_is_the_middle_one() {
        let mut runs = [3, 1, 2].into_iter().map(Duration::from_secs);
        let median = median_of_three(|| runs.next().context("three runs")).expect("three runs");
        assert_eq!(median, Duration::from_secs(2));
    }
}
