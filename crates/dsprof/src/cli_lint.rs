//! The arguments of `dsprof lint`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    /// Pipelines, or single files of one such as that of nvinfer
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// How findings are printed
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub(crate) format: LintFormat,
    /// Exit with status 11 when a finding is at least this grave
    #[arg(long, value_name = "LEVEL")]
    pub(crate) fail_on: Option<Level>,
    /// What the pipeline is run for [default: not said]
    #[arg(long = "for", value_name = "PURPOSE")]
    pub(crate) purpose: Option<LintPurpose>,
    /// Frame rate that is asked for, as a whole number or a fraction such as 30000/1001
    #[arg(long, value_name = "F", value_parser = rate)]
    pub(crate) fps: Option<ds_config::FrameRate>,
    /// Release of DeepStream that will run the pipeline, for example 9.1
    #[arg(long, value_name = "VERSION", value_parser = release)]
    pub(crate) deepstream: Option<ds_config::DeepStreamVersion>,
    /// Where the memory of the GPU is [default: not known]
    #[arg(long, value_name = "KIND")]
    pub(crate) gpu: Option<GpuPlace>,
    /// The network is to stay in FP32
    #[arg(long)]
    pub(crate) fp32: bool,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFormat {
    /// For a terminal, with the line at fault
    Text,
    /// Markdown
    Md,
    /// JSON, with its schema named in it
    Json,
    /// SARIF 2.1.0, as code hosts read it
    Sarif,
    /// JUnit XML, one test case a finding
    Junit,
}

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// It does not work
    Error,
    /// It costs speed or correctness
    Warning,
    /// Worth knowing
    Note,
}

/// What a pipeline is run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintPurpose {
    /// To measure
    Benchmark,
    /// To be watched or recorded
    Live,
}

/// Where the memory of a GPU is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GpuPlace {
    /// On a card of its own
    Discrete,
    /// Shared with the CPU: Jetson, Spark
    Integrated,
}

fn rate(text: &str) -> Result<ds_config::FrameRate, String> {
    let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
    match (numerator.trim().parse(), denominator.trim().parse()) {
        (Ok(numerator @ 1..), Ok(denominator @ 1..)) => Ok(ds_config::FrameRate {
            numerator,
            denominator,
        }),
        _ => Err(
            "give a whole number or a fraction above 0, for example 30 or 30000/1001".to_owned(),
        ),
    }
}

fn release(text: &str) -> Result<ds_config::DeepStreamVersion, String> {
    let parse = || {
        let (major, minor) = text.split_once('.')?;
        Some(ds_config::DeepStreamVersion {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    };
    parse().ok_or_else(|| "give major and minor, for example 9.1".to_owned())
}
