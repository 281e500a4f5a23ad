//! Stage 2: which GPU this is.

use std::collections::BTreeSet;

use ds_ceilings::{GpuIdentity, IDENTITY_FIELDS, SmiFailure, SmiQuery, SmiReport};

use super::Session;
use super::decoder_library::missing_decoder_library;
use super::jetson::{is_jetson, jetson, jetson_in_place_of_smi};
use super::visible::only_visible;
use crate::error::Error;
use crate::nvml::{NVML_FILE, NvmlAnswer, NvmlError, NvmlGpu, render};
use crate::process::{CommandSpec, Exit, Outcome, RunError};
use crate::progress::Event;

/// Who says which GPUs a machine has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Via {
    /// nvidia-smi and NVML, the one completed by the other; one of them is enough.
    #[default]
    Both,
    /// nvidia-smi alone.
    NvidiaSmi,
    /// NVML alone.
    Nvml,
}

/// What nvidia-smi and NVML said about the machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HwReading {
    /// Every GPU that the work can see.
    pub gpus: Vec<GpuIdentity>,
    /// What could not be read, and why.
    pub gaps: Vec<String>,
    /// What to know about this machine beside its GPUs.
    pub findings: Vec<String>,
}

impl HwReading {
    /// The GPU with this index.
    ///
    /// # Errors
    ///
    /// When the machine has none.
    pub fn gpu(&self, index: u32) -> Result<&GpuIdentity, Error> {
        let by_index = self.gpus.iter().find(|gpu| gpu.index == Some(index));
        let by_place = || {
            let unnumbered = self.gpus.iter().all(|gpu| gpu.index.is_none());
            usize::try_from(index)
                .ok()
                .filter(|_| unnumbered)
                .and_then(|place| self.gpus.get(place))
        };
        by_index.or_else(by_place).ok_or(Error::NoSuchGpu {
            index,
            available: self.gpus.len(),
        })
    }
}

/// Asks nvidia-smi and NVML who the GPUs are, each completing the other: what both say and say differently is noted as
/// a conflict of that GPU. On a Jetson without nvidia-smi the device tree and tegrastats answer.
///
/// # Errors
///
/// When nobody answers who was asked, or `CUDA_VISIBLE_DEVICES` names no GPU.
pub fn read_hw(session: &mut Session<'_>) -> Result<HwReading, Error> {
    let mut reading = HwReading::default();
    let nvml = match session.via {
        Via::NvidiaSmi => None,
        Via::Both | Via::Nvml => read_nvml(session)?,
    };
    let smi = match session.via {
        Via::Nvml => None,
        Via::Both | Via::NvidiaSmi => Some(read_smi(session, &mut reading.gaps)),
    };
    let told = reading.gaps.len();
    reading.gpus = listed(session, smi, nvml.as_ref(), &mut reading.gaps)?;
    for gpu in nvml.iter().flatten().flatten() {
        let unread = gpu.unread.iter();
        reading
            .gaps
            .extend(unread.map(|what| format!("NVML, GPU {}: {what}", gpu.index)));
    }
    for gap in reading.gaps.iter().skip(told) {
        session.tell(&Event::Fallback(gap.clone()));
    }
    complete_jetson(session, &mut reading.gpus)?;
    only_visible(
        session,
        &mut reading,
        nvml.as_ref().and_then(|nvml| nvml.as_deref().ok()),
    )?;
    reading
        .findings
        .extend(missing_decoder_library(session, &reading.gpus)?);
    Ok(reading)
}

/// The GPUs by whoever answers.
fn listed(
    session: &Session<'_>,
    smi: Option<Result<Vec<GpuIdentity>, Error>>,
    nvml: Option<&NvmlAnswer>,
    gaps: &mut Vec<String>,
) -> Result<Vec<GpuIdentity>, Error> {
    let identities = |gpus: &[NvmlGpu]| gpus.iter().map(NvmlGpu::identity).collect();
    match (smi, nvml) {
        (Some(Ok(gpus)), Some(Ok(nvml))) => Ok(completed(gpus, nvml, gaps)),
        (Some(Ok(gpus)), Some(Err(error))) => {
            // A build without NVML is no surprise on any machine.
            if *error != NvmlError::NotBuilt {
                gaps.push(format!(
                    "no reading of NVML, nvidia-smi speaks alone: {error}"
                ));
            }
            Ok(gpus)
        }
        (Some(Ok(gpus)), None) => Ok(gpus),
        (Some(Err(error)), Some(Ok(nvml))) if is_silence(&error) && !nvml.is_empty() => {
            gaps.push(format!(
                "no reading of nvidia-smi, NVML speaks alone: {}",
                chain(&error)
            ));
            Ok(identities(nvml))
        }
        (Some(Err(error)), _) => match jetson_in_place_of_smi(session, &error)? {
            Some(gpu) => Ok(vec![gpu]),
            None => Err(silence(error, nvml)),
        },
        (None, Some(Ok(nvml))) if !nvml.is_empty() => Ok(identities(nvml)),
        (None, Some(Ok(_))) => Err(ds_ceilings::Error::from(SmiFailure::NoDevices).into()),
        (None, Some(Err(error))) => Err(Error::Nvml(error.clone())),
        (None, None) => Err(Error::NotInRecording {
            what: "the recording holds no reading of NVML".to_owned(),
        }),
    }
}

/// What NVML says, kept in the bundle where one is written; `None` where it was not asked when a recording was made.
fn read_nvml(session: &Session<'_>) -> Result<Option<NvmlAnswer>, Error> {
    let answer = session.nvml.read()?;
    if let (Some(answer), Some(bundle)) = (&answer, &session.bundle) {
        let mut bundle = bundle.borrow_mut();
        bundle.write(NVML_FILE, render(answer)?.as_bytes())?;
        bundle.save()?;
    }
    Ok(answer)
}

/// The GPUs of nvidia-smi, each completed by what NVML says of it, and those that NVML alone sees.
fn completed(
    mut gpus: Vec<GpuIdentity>,
    nvml: &[NvmlGpu],
    gaps: &mut Vec<String>,
) -> Vec<GpuIdentity> {
    for gpu in &mut gpus {
        match nvml.iter().find(|other| other.is(gpu)) {
            Some(other) => gpu.complete(&other.identity()),
            None => gaps.push(format!(
                "NVML does not list `{}`, nvidia-smi does",
                label(gpu)
            )),
        }
    }
    let alone: Vec<GpuIdentity> = nvml
        .iter()
        .filter(|other| !gpus.iter().any(|gpu| other.is(gpu)))
        .map(NvmlGpu::identity)
        .collect();
    for gpu in &alone {
        gaps.push(format!(
            "nvidia-smi does not list `{}`, NVML does",
            label(gpu)
        ));
    }
    gpus.extend(alone);
    gpus
}

fn label(gpu: &GpuIdentity) -> &str {
    gpu.uuid.as_deref().unwrap_or(&gpu.name)
}

/// Whether an error means that nvidia-smi says nothing of use: then somebody else may speak. A missing recording, a
/// bundle that cannot be read and an interrupt are errors of their own.
fn is_silence(error: &Error) -> bool {
    matches!(
        error,
        Error::Smi(_) | Error::Program { .. } | Error::Run(RunError::Io { .. })
    )
}

/// The error for a machine on which nobody answers.
fn silence(smi: Error, nvml: Option<&NvmlAnswer>) -> Error {
    match nvml {
        Some(Err(nvml)) if is_silence(&smi) && *nvml != NvmlError::NotBuilt => {
            Error::NobodyAnswers {
                nvml: nvml.clone(),
                smi: Box::new(smi),
            }
        }
        _ => smi,
    }
}

fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// nvidia-smi of a Jetson prints a name and hardly anything else.
fn complete_jetson(session: &Session<'_>, gpus: &mut [GpuIdentity]) -> Result<(), Error> {
    if let [gpu] = gpus
        && gpu.device_tree.is_none()
        && is_jetson(gpu)
        && let Some(board) = jetson(session)?
    {
        gpu.complete(&board);
    }
    Ok(())
}

/// One query for what nvidia-smi prints in columns, one full report for the video clock. A field that this driver does
/// not know is left out and asked for no more. A report that cannot be read is a gap, not an error.
fn read_smi(session: &mut Session<'_>, gaps: &mut Vec<String>) -> Result<Vec<GpuIdentity>, Error> {
    let query = identity_query(session, gaps)?;
    let spec = CommandSpec::new("hw/report", "nvidia-smi", ["-q", "-x"]);
    let report = checked(session.runner.run_quietly(&spec))
        .and_then(|outcome| Ok(SmiReport::parse_xml(&outcome.stdout_text())?));
    let report = match report {
        Ok(report) => Some(report),
        Err(
            error @ Error::Run(
                RunError::NotRecorded { .. } | RunError::Interrupted { .. } | RunError::Bundle(_),
            ),
        ) => return Err(error),
        Err(error) => {
            let gap = format!(
                "no full report of nvidia-smi, so it does not tell the maximum video clock: {error}"
            );
            session.tell(&Event::Fallback(gap.clone()));
            gaps.push(gap);
            None
        }
    };
    Ok(GpuIdentity::from_machine(&query, report.as_ref())?)
}

fn identity_query(session: &mut Session<'_>, gaps: &mut Vec<String>) -> Result<SmiQuery, Error> {
    let mut unknown = BTreeSet::new();
    loop {
        let fields: Vec<&str> = IDENTITY_FIELDS
            .into_iter()
            .filter(|f| !unknown.contains(*f))
            .collect();
        let query = format!("--query-gpu={}", fields.join(","));
        let spec = CommandSpec::new(
            "hw/identity",
            "nvidia-smi",
            [query.as_str(), "--format=csv"],
        );
        match checked(session.runner.run_quietly(&spec)) {
            Ok(outcome) => return Ok(SmiQuery::parse(&outcome.stdout_text())?),
            Err(Error::Smi(ds_ceilings::Error::Smi(SmiFailure::InvalidField { field })))
                if fields.contains(&field.as_str()) =>
            {
                let gap = format!("this driver knows no query field `{field}`");
                session.tell(&Event::Fallback(gap.clone()));
                gaps.push(gap);
                unknown.insert(field);
            }
            Err(error) => return Err(error),
        }
    }
}

/// nvidia-smi prints its errors on standard output, so the exit status decides before anything is parsed.
fn checked(result: Result<Outcome, RunError>) -> Result<Outcome, Error> {
    let outcome = match result {
        Ok(outcome) => outcome,
        Err(RunError::NotFound { .. }) => {
            return Err(ds_ceilings::Error::from(SmiFailure::CommandNotFound).into());
        }
        Err(error) => return Err(error.into()),
    };
    let text = format!("{}{}", outcome.stdout_text(), outcome.stderr_text());
    match outcome.exit {
        Exit::Code(0) => Ok(outcome),
        Exit::Code(code) => Err(match SmiFailure::from_run(code, &text) {
            Some(failure) => ds_ceilings::Error::from(failure).into(),
            None => failed(outcome.exit, &text),
        }),
        exit => Err(failed(exit, &text)),
    }
}

fn failed(exit: Exit, text: &str) -> Error {
    let detail = text
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("it printed nothing");
    Error::Program {
        program: "nvidia-smi".to_owned(),
        exit: exit.to_string(),
        detail: detail.trim().to_owned(),
    }
}

/// Reads the GPUs out of a file that holds what nvidia-smi printed on another machine: `-q -x`, or a query as CSV with
/// its header.
///
/// # Errors
///
/// When the text is neither.
pub fn gpus_from_text(text: &str) -> Result<Vec<GpuIdentity>, Error> {
    if text.trim_start().starts_with("<?xml") || text.contains("<nvidia_smi_log>") {
        let report = SmiReport::parse_xml(text)?;
        let mut gpus: Vec<GpuIdentity> = report.gpus.iter().map(GpuIdentity::from_report).collect();
        for gpu in &mut gpus {
            gpu.driver_version = gpu
                .driver_version
                .take()
                .or_else(|| report.driver_version.clone());
        }
        return Ok(gpus);
    }
    Ok(GpuIdentity::from_machine(&SmiQuery::parse(text)?, None)?)
}
