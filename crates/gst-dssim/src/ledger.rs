//! What the simulated GPU did, summed up by every process that used it, in a folder that all of them share.
//!
//! Each process writes a file of its own, named by its process id, a few times a second: microseconds of inference,
//! microseconds of decoding over all engines, MiB of memory in use. Whoever reads sums the files up: busy time only
//! grows, and memory counts while its process lives.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use crate::model::Model;

/// How often a process writes: often enough that one second of a reader is off by a tenth at most.
const WRITE_EVERY: Duration = Duration::from_millis(50);

/// The counters of this process.
#[derive(Debug, Default)]
pub struct Ledger {
    inference_us: AtomicU64,
    decode_us: AtomicU64,
    memory_mib: AtomicU64,
}

static OF_PROCESS: OnceLock<Arc<Ledger>> = OnceLock::new();

impl Ledger {
    /// The counters of this process; the first call starts to write them where the model names a folder.
    pub fn of_process(model: &Model) -> Arc<Self> {
        let ledger = OF_PROCESS.get_or_init(|| {
            let ledger = Arc::new(Self::default());
            if let Some(folder) = model.state.clone() {
                let written = Arc::clone(&ledger);
                // It ends with its process.
                thread::spawn(move || written.keep_writing(&folder));
            }
            ledger
        });
        Arc::clone(ledger)
    }

    /// Adds time in which the multiprocessors worked.
    pub fn inferred(&self, time: Duration) {
        self.inference_us.fetch_add(micros(time), Ordering::Relaxed);
    }

    /// Adds time in which one decoding engine worked.
    pub fn decoded(&self, time: Duration) {
        self.decode_us.fetch_add(micros(time), Ordering::Relaxed);
    }

    /// Adds memory that stays in use until the process ends.
    pub fn allocated(&self, mib: u64) {
        self.memory_mib.fetch_add(mib, Ordering::Relaxed);
    }

    fn keep_writing(&self, folder: &Path) {
        // Without a folder there is nobody to read it.
        if fs::create_dir_all(folder).is_err() {
            return;
        }
        let path = folder.join(std::process::id().to_string());
        let beside = folder.join(format!("{}.new", std::process::id()));
        loop {
            let line = format!(
                "{} {} {}\n",
                self.inference_us.load(Ordering::Relaxed),
                self.decode_us.load(Ordering::Relaxed),
                self.memory_mib.load(Ordering::Relaxed)
            );
            // A reader must never see half a line.
            let written = fs::write(&beside, line).and_then(|()| fs::rename(&beside, &path));
            if written.is_err() {
                return;
            }
            thread::sleep(WRITE_EVERY);
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// What all processes together did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Time in which the multiprocessors worked.
    pub inference: Duration,
    /// Time in which decoding engines worked, summed over them.
    pub decode: Duration,
    /// Memory in use, in MiB.
    pub memory_mib: u64,
}

impl Totals {
    /// Sums the files of a folder up; a folder that does not exist yet holds nothing.
    ///
    /// # Errors
    ///
    /// When the folder exists and cannot be read.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            entries => entries?,
        };
        let mut totals = Self::default();
        for entry in entries {
            let path = entry?.path();
            let Some(pid) = process_of(&path) else {
                continue;
            };
            let Ok(line) = fs::read_to_string(&path) else {
                continue;
            };
            let numbers: Vec<u64> = line
                .split_whitespace()
                .filter_map(|word| word.parse().ok())
                .collect();
            if let [inference_us, decode_us, memory_mib] = numbers[..] {
                totals.inference += Duration::from_micros(inference_us);
                totals.decode += Duration::from_micros(decode_us);
                if is_alive(pid) {
                    totals.memory_mib += memory_mib;
                }
            }
        }
        Ok(totals)
    }
}

fn process_of(path: &Path) -> Option<u32> {
    path.file_name()?.to_str()?.parse().ok()
}

fn is_alive(pid: u32) -> bool {
    PathBuf::from(format!("/proc/{pid}")).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_time_stays_and_memory_goes_with_its_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = std::process::id().to_string();
        fs::write(folder.path().join(own), "1000 2000 300\n").expect("written");
        // No process has the largest number there is.
        fs::write(folder.path().join("4294967295"), "500 0 700\n").expect("written");
        fs::write(folder.path().join("engines"), "9 9 9\n").expect("written");
        let totals = Totals::read(folder.path()).expect("readable");
        let expected = Totals {
            inference: Duration::from_micros(1500),
            decode: Duration::from_micros(2000),
            memory_mib: 300,
        };
        assert_eq!(totals, expected);
        let nothing = Totals::read(&folder.path().join("missing")).expect("nothing");
        assert_eq!(nothing, Totals::default());
    }
}
