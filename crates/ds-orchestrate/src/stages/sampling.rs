//! `nvidia-smi` beside a load: utilisation, and memory in use.

use ds_ceilings::{Bytes, Dmon, DmonColumn, Fraction};

use crate::process::{CommandSpec, Exit, Outcome, RunError};

/// Utilisation of one GPU over the steady samples of a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GpuLoad {
    /// How many samples were steady.
    pub samples: usize,
    /// The share of time in which a kernel ran.
    pub sm: Option<Fraction>,
    /// The share of time in which memory was read or written.
    pub memory: Option<Fraction>,
    /// Utilisation of the decoders.
    pub decoder: Option<Fraction>,
}

/// The sampler: utilisation once a second until it is stopped.
pub(super) fn sampler(purpose: String, load: &CommandSpec) -> CommandSpec {
    CommandSpec::new(purpose, "nvidia-smi", ["dmon", "-s", "u", "-d", "1"])
        .timeout(load.timeout)
        .line_buffered()
}

/// The second sampler: memory in use, once a second until it is stopped. dmon has it in a column that older releases lack.
pub(super) fn memory_sampler(purpose: String, load: &CommandSpec) -> CommandSpec {
    CommandSpec::new(
        purpose,
        "nvidia-smi",
        [
            "--query-gpu=index,memory.used",
            "--format=csv,noheader,nounits",
            "--loop=1",
        ],
    )
    .timeout(load.timeout)
    .line_buffered()
}

/// The most memory that was in use on a GPU, whoever used it; `None` where nobody says, as in recordings of older
/// releases.
pub(super) fn read_memory(sampled: &Result<Outcome, RunError>, gpu: u32) -> Option<Bytes> {
    let text = sampled.as_ref().ok()?.stdout_text();
    // A line without an end was cut while it was written.
    let whole = text.get(..text.rfind('\n')?)?;
    whole
        .lines()
        .filter_map(|line| {
            let (index, used) = line.split_once(',')?;
            let is_this = index.trim().parse() == Ok(gpu);
            is_this.then(|| used.trim().parse().ok()).flatten()
        })
        .max()
        .map(Bytes::from_mib)
}

/// Reads what the sampler printed.
pub(super) fn read_load(sampled: Result<Outcome, RunError>, gpu: u32) -> Result<GpuLoad, String> {
    let outcome = sampled.map_err(|error| error.to_string())?;
    match outcome.exit {
        // It runs until it is stopped; ending by itself with an error is a failure.
        Exit::Stopped | Exit::Code(0) => {}
        exit => {
            let text = outcome.stdout_text() + &outcome.stderr_text();
            return Err(format!(
                "nvidia-smi dmon ended ({exit}): {}",
                text.lines().next().unwrap_or("no output")
            ));
        }
    }
    let dmon = Dmon::parse(&outcome.stdout_text()).map_err(|error| error.to_string())?;
    let steady = dmon
        .steady(gpu)
        .ok_or_else(|| format!("GPU {gpu} did no work while it was sampled"))?;
    Ok(GpuLoad {
        samples: steady.samples().len(),
        sm: steady.mean(DmonColumn::Sm),
        memory: steady.mean(DmonColumn::Mem),
        decoder: steady.mean(DmonColumn::Dec),
    })
}
