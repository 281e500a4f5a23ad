//! What goes wrong in a run, on demand.

use std::fmt;
use std::time::Duration;

/// Something that goes wrong; written `stall@MS`, `crash@MS`, `eos@MS` or `oom@BATCH`, several with commas between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No frame leaves inference any more after this long; the program goes on.
    Stall {
        /// From the first frame.
        after: Duration,
    },
    /// The process ends by a signal after this long.
    Crash {
        /// From the first frame.
        after: Duration,
    },
    /// The sources end after this long, though they were to loop.
    EndOfStream {
        /// From the first frame.
        after: Duration,
    },
    /// Batches from this size on do not fit into GPU memory.
    OutOfMemory {
        /// The smallest batch that does not fit.
        batch: u32,
    },
}

impl Fault {
    /// Reads a list of faults.
    ///
    /// # Errors
    ///
    /// What is wrong with the first that is none.
    pub fn parse_list(list: &str) -> Result<Vec<Self>, String> {
        let words = list.split(',').map(str::trim);
        words
            .filter(|word| !word.is_empty())
            .map(Self::parse)
            .collect()
    }

    fn parse(word: &str) -> Result<Self, String> {
        let unknown = || format!("`{word}` is none of stall@MS, crash@MS, eos@MS, oom@BATCH");
        let (kind, number) = word.split_once('@').ok_or_else(unknown)?;
        let number: u32 = number.parse().map_err(|_| unknown())?;
        let after = Duration::from_millis(u64::from(number));
        match kind {
            "stall" => Ok(Self::Stall { after }),
            "crash" => Ok(Self::Crash { after }),
            "eos" => Ok(Self::EndOfStream { after }),
            "oom" => Ok(Self::OutOfMemory { batch: number }),
            _ => Err(unknown()),
        }
    }

    /// Whether a batch of this size does not fit.
    pub fn refuses(self, size: u32) -> bool {
        matches!(self, Self::OutOfMemory { batch } if size >= batch)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stall { after } => write!(f, "stall@{}", after.as_millis()),
            Self::Crash { after } => write!(f, "crash@{}", after.as_millis()),
            Self::EndOfStream { after } => write!(f, "eos@{}", after.as_millis()),
            Self::OutOfMemory { batch } => write!(f, "oom@{batch}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Fault;

    #[test]
    fn what_is_no_fault_is_quoted() {
        let error = Fault::parse_list("oom@8, melt@3").expect_err("no fault");
        assert_eq!(
            error,
            "`melt@3` is none of stall@MS, crash@MS, eos@MS, oom@BATCH"
        );
    }
}
