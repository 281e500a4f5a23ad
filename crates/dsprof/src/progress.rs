//! Progress on standard error: a line that moves on a terminal, plain lines where there is none, nothing with `--quiet`.

use std::fmt;
use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ds_orchestrate::{Estimate, Event, rough};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::output;

/// Shows events.
pub(crate) struct Bar {
    /// The line, or where no line moves, what keeps the time.
    bar: ProgressBar,
    shown: Shown,
    estimate: Arc<Mutex<Estimate>>,
    step: String,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// A line that moves, and lines that stay for what is done.
    Moving,
    /// Lines that stay.
    Lines,
    /// What went wrong, and nothing else.
    Notes,
}

impl Bar {
    /// A line that moves on a terminal while one thing takes its time.
    pub(crate) fn during(step: &str) -> Self {
        let progress = Self::new();
        progress.bar.set_message(step.to_owned());
        progress
    }

    /// The progress of a run.
    pub(crate) fn new() -> Self {
        Self::showing(
            match (output::is_quiet(), std::io::stderr().is_terminal()) {
                (true, _) => Shown::Notes,
                (false, true) => Shown::Moving,
                (false, false) => Shown::Lines,
            },
        )
    }

    /// The progress of a run that takes no time.
    pub(crate) fn silent() -> Self {
        Self::showing(Shown::Notes)
    }

    fn showing(shown: Shown) -> Self {
        let estimate = Arc::new(Mutex::new(Estimate::default()));
        let bar = if shown == Shown::Moving {
            let bar = ProgressBar::new_spinner();
            let left = Arc::clone(&estimate);
            let left = move |state: &ProgressState, out: &mut dyn fmt::Write| {
                if let Some(left) = remaining(&left, state.elapsed()) {
                    // A line that cannot be drawn is drawn again in a moment.
                    let _ = write!(out, "{left}");
                }
            };
            if let Ok(style) =
                ProgressStyle::with_template("{spinner} {elapsed:>4} {wide_msg} {left}")
            {
                bar.set_style(style.with_key("left", left));
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        } else {
            ProgressBar::hidden()
        };
        Self {
            bar,
            shown,
            estimate,
            step: String::new(),
        }
    }

    /// Shows one event. What a user has to know later stays as a line of its own, also without a terminal.
    pub(crate) fn show(&mut self, event: &Event) {
        let now = self.bar.elapsed();
        let position = {
            let mut estimate = self.estimate.lock().unwrap_or_else(PoisonError::into_inner);
            estimate.note(event, now);
            estimate.position()
        };
        let place = position.map_or_else(String::new, |(at, of)| format!(" ({at} of {of})"));
        match event {
            Event::Fallback(_) => self.stay(&event.to_string()),
            Event::Rate(rate) => self.bar.set_message(format!("{}: {rate:.0}", self.step)),
            Event::Percent(_) => self.bar.set_message(format!("{}: {event}", self.step)),
            Event::BatchDone(batch, what) => {
                let left = remaining(&self.estimate, now)
                    .map_or_else(String::new, |left| format!("; {left}"));
                self.done(&format!("sweep: batch {batch}{place}: {what}{left}"));
            }
            Event::Batch(batch, ..) => {
                self.step = format!("sweep: batch {batch}{place}");
                self.bar.set_message(self.step.clone());
            }
            Event::Planned(_) | Event::Load(_) => {}
            event => {
                self.step = event.to_string();
                self.bar.set_message(self.step.clone());
                if self.shown == Shown::Lines {
                    output::message(&self.step);
                }
            }
        }
    }

    fn done(&self, line: &str) {
        if self.shown != Shown::Notes {
            self.stay(line);
        }
    }

    fn stay(&self, line: &str) {
        self.bar.suspend(|| output::message(line));
    }
}

/// How long the stage will yet take, in words.
fn remaining(estimate: &Mutex<Estimate>, now: Duration) -> Option<String> {
    let estimate = estimate.lock().unwrap_or_else(PoisonError::into_inner);
    Some(format!("{} left", rough(estimate.remaining(now)?)))
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
