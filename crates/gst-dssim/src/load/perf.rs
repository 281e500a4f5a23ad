//! What deepstream-app prints: a header every twenty lines, the frames of each window over the configured interval.

use std::io::{self, Write};
use std::time::Duration;

/// The console of one run.
pub(super) struct Console<'a> {
    out: &'a mut dyn Write,
    interval: Duration,
    seen: Vec<u64>,
    windows: u32,
}

impl<'a> Console<'a> {
    pub(super) fn new(streams: u32, interval: Duration, out: &'a mut dyn Write) -> Self {
        Self {
            out,
            interval,
            seen: (0..streams).map(|_| 0).collect(),
            windows: 0,
        }
    }

    /// What stands before the pipeline runs: a header and one line of zeros.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        self.header()?;
        self.row(|_| (0.0, 0.0))?;
        writeln!(self.out, "** INFO: <bus_callback:291>: Pipeline ready\n")?;
        self.out.flush()
    }

    pub(super) fn running(&mut self) -> io::Result<()> {
        writeln!(self.out, "** INFO: <bus_callback:277>: Pipeline running\n")?;
        self.out.flush()
    }

    /// One window with the frames of each stream.
    pub(super) fn window(&mut self, frames: &[u64]) -> io::Result<()> {
        self.windows += 1;
        if self.windows.is_multiple_of(20) {
            self.header()?;
        }
        let interval = self.interval.as_secs_f64();
        let time = interval * f64::from(self.windows);
        let rates: Vec<(f64, f64)> = frames
            .iter()
            .zip(&mut self.seen)
            .map(|(now, seen)| {
                *seen += now;
                (as_f64(*now) / interval, as_f64(*seen) / time)
            })
            .collect();
        self.row(|stream| rates[stream])?;
        self.out.flush()
    }

    pub(super) fn end(&mut self) -> io::Result<()> {
        writeln!(
            self.out,
            "** INFO: <bus_callback:334>: Received EOS. Exiting ...\n\nQuitting\nApp run successful"
        )?;
        self.out.flush()
    }

    fn header(&mut self) -> io::Result<()> {
        let columns: String = (0..self.seen.len())
            .map(|stream| format!("FPS {stream} (Avg)\t"))
            .collect();
        writeln!(self.out, "\n**PERF:  {columns}")
    }

    fn row(&mut self, rate: impl Fn(usize) -> (f64, f64)) -> io::Result<()> {
        let columns: String = (0..self.seen.len())
            .map(|stream| {
                let (window, average) = rate(stream);
                format!("{window:.2} ({average:.2})\t")
            })
            .collect();
        writeln!(self.out, "**PERF:  {columns}")
    }
}

#[expect(clippy::cast_precision_loss, reason = "no run counts 2^53 frames")]
fn as_f64(frames: u64) -> f64 {
    frames as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_divided_by_the_configured_interval() {
        let mut out = Vec::new();
        let mut console = Console::new(2, Duration::from_millis(500), &mut out);
        console.window(&[10, 12]).expect("printed");
        console.window(&[15, 15]).expect("printed");
        let text = String::from_utf8(out).expect("text");
        assert_eq!(
            text,
            "**PERF:  20.00 (20.00)\t24.00 (24.00)\t\n**PERF:  30.00 (25.00)\t30.00 (27.00)\t\n"
        );
    }
}
