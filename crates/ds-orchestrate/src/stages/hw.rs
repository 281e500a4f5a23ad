//! Stage 2: which GPU this is.

use std::collections::BTreeSet;

use ds_ceilings::{GpuIdentity, IDENTITY_FIELDS, SmiFailure, SmiQuery, SmiReport};

use super::Session;
use crate::error::Error;
use crate::process::{CommandSpec, Exit, Outcome, RunError};
use crate::progress::Event;

/// What nvidia-smi said about the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct HwReading {
    /// Every GPU of the machine.
    pub gpus: Vec<GpuIdentity>,
    /// What could not be read, and why.
    pub gaps: Vec<String>,
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

/// Asks nvidia-smi who the GPUs are: one query for what it prints in columns, one full report for the video clock.
/// A field that this driver does not know is left out and asked for no more.
///
/// # Errors
///
/// When nvidia-smi is missing, fails, or prints something else than a table. A report that cannot be read is a gap, not
/// an error.
pub fn read_hw(session: &mut Session<'_>) -> Result<HwReading, Error> {
    let mut gaps = Vec::new();
    let query = identity_query(session, &mut gaps)?;
    let spec = CommandSpec::new("hw/report", "nvidia-smi", ["-q", "-x"]);
    let report = checked(session.runner.run_quietly(&spec))
        .and_then(|outcome| Ok(SmiReport::parse_xml(&outcome.stdout_text())?));
    let report = match report {
        Ok(report) => Some(report),
        Err(error @ Error::Run(RunError::NotRecorded { .. })) => return Err(error),
        Err(error) => {
            let gap = format!(
                "no full report of nvidia-smi, so the maximum video clock is unknown: {error}"
            );
            session.tell(&Event::Fallback(gap.clone()));
            gaps.push(gap);
            None
        }
    };
    Ok(HwReading {
        gpus: GpuIdentity::from_machine(&query, report.as_ref())?,
        gaps,
    })
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
