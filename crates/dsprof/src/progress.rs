//! Progress on a terminal. Where standard error is none, nothing is shown.

use std::io::IsTerminal as _;
use std::time::Duration;

use ds_orchestrate::Event;
use indicatif::{ProgressBar, ProgressStyle};

use crate::output;

/// Shows events.
pub(crate) struct Bar {
    bar: Option<ProgressBar>,
    step: String,
}

impl Bar {
    /// A line that moves on a terminal while one thing takes its time.
    pub(crate) fn during(step: &str) -> Self {
        let progress = Self::new();
        if let Some(bar) = &progress.bar {
            bar.set_message(step.to_owned());
        }
        progress
    }

    /// A line that moves on a terminal, or nothing.
    pub(crate) fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed:>4} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self {
            bar,
            step: String::new(),
        }
    }

    /// Shows one event. What a user has to know later stays as a line of its own, also without a terminal.
    pub(crate) fn show(&mut self, event: &Event) {
        if let Event::Fallback(_) = event {
            match &self.bar {
                Some(bar) => bar.suspend(|| output::message(&event.to_string())),
                None => output::message(&event.to_string()),
            }
            return;
        }
        let Some(bar) = &self.bar else { return };
        match event {
            Event::Rate(rate) => bar.set_message(format!("{}: {rate}", self.step)),
            Event::BatchDone(..) => bar.suspend(|| output::message(&event.to_string())),
            event => {
                self.step = event.to_string();
                bar.set_message(self.step.clone());
            }
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
