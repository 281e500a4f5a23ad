//! The command line of `dssim-load`.

use std::time::Duration;

use crate::model::Sinks;

/// What to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Frames in a batch.
    pub batch: u32,
    /// Streams.
    pub streams: u32,
    /// How long it runs; without it until it is ended.
    pub seconds: Option<Duration>,
    /// How often rates are printed.
    pub interval: Duration,
    /// Which elements there are.
    pub extent: Extent,
    /// How the sinks take frames.
    pub sinks: Sinks,
}

/// Which elements a pipeline has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Sources, mux, inference and one sink: what is swept.
    InferenceOnly,
    /// The tracker as well.
    Whole,
}

/// An argument that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}; usage: dssim-load --batch N [--streams N] [--seconds S] [--interval S] [--whole] [--sync]"
)]
pub struct OptionsError(String);

impl Options {
    /// Reads the arguments; there are as many streams as frames in a batch where nothing is said.
    ///
    /// # Errors
    ///
    /// When an argument makes no sense.
    pub fn parse(args: &[String]) -> Result<Self, OptionsError> {
        let mut batch = None;
        let mut streams = None;
        let mut options = Self {
            batch: 0,
            streams: 0,
            seconds: None,
            interval: Duration::from_secs(1),
            extent: Extent::InferenceOnly,
            sinks: Sinks::AsFast,
        };
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                words
                    .next()
                    .ok_or_else(|| OptionsError(format!("`{word}` needs a value")))
            };
            match word.as_str() {
                "--batch" => batch = Some(count(word, value()?)?),
                "--streams" => streams = Some(count(word, value()?)?),
                "--seconds" => options.seconds = Some(time(word, value()?)?),
                "--interval" => options.interval = time(word, value()?)?,
                "--whole" => options.extent = Extent::Whole,
                "--sync" => options.sinks = Sinks::Paced,
                other => return Err(OptionsError(format!("`{other}` is not known"))),
            }
        }
        options.batch = batch.ok_or_else(|| OptionsError("`--batch` is missing".to_owned()))?;
        options.streams = streams.unwrap_or(options.batch);
        Ok(options)
    }
}

fn count(option: &str, text: &str) -> Result<u32, OptionsError> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| OptionsError(format!("`{option} {text}`: give a number above 0")))
}

fn time(option: &str, text: &str) -> Result<Duration, OptionsError> {
    let seconds = text.parse().ok();
    seconds
        .and_then(|seconds: f64| Duration::try_from_secs_f64(seconds).ok())
        .filter(|time| !time.is_zero())
        .ok_or_else(|| OptionsError(format!("`{option} {text}`: give seconds above 0")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, OptionsError> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&args)
    }

    #[test]
    fn streams_follow_the_batch_where_they_are_not_given() {
        let options = parse("--batch 4 --seconds 2.5 --whole --sync").expect("options");
        assert_eq!((options.batch, options.streams), (4, 4));
        assert_eq!(options.seconds, Some(Duration::from_millis(2500)));
        assert_eq!(
            (options.extent, options.sinks),
            (Extent::Whole, Sinks::Paced)
        );
    }

    #[test]
    fn arguments_without_sense_are_quoted() {
        for (line, expected) in [
            ("--streams 4", "`--batch` is missing"),
            ("--batch 0", "`--batch 0`: give a number above 0"),
            ("--batch", "`--batch` needs a value"),
            ("--batch 1 --fast", "`--fast` is not known"),
            (
                "--batch 1 --interval 0",
                "`--interval 0`: give seconds above 0",
            ),
        ] {
            let error = parse(line).expect_err("no sense").to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
