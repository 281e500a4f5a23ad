//! Times `dsprof trace stats` on a large trace, against two yardsticks in the same run: SQLite's own scan of the same
//! table by one thread, and `nsys stats` for the same report.
//!
//! Every figure is the median of three runs on a warm cache.

mod grow;
mod kineto;
mod measure;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rusqlite::{Connection, OpenFlags};

use self::measure::{median_of_three, three_runs};
use crate::gzip;
use crate::step::Step;
use crate::workspace;

/// The report that is timed.
const REPORT: &str = "cuda_gpu_kern_sum";

/// How much memory the program may take, in bytes.
const MEMORY_LIMIT: u64 = 300 << 20;

/// How many times faster than nsys it must be.
const NSYS_RATIO: f64 = 20.0;

/// What is timed on what.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    other: Option<Other>,
    /// The nsys to compare with; without it the one that .ci/install-nsys.sh installs, or the one on PATH.
    #[arg(long, value_name = "PATH")]
    nsys: Option<PathBuf>,
    /// How many kernels the trace holds at least.
    #[arg(long, default_value_t = 4_800_000, value_name = "N")]
    kernels: u64,
    /// The recording that is repeated, plain or gzip'd.
    #[arg(long, value_name = "FILE")]
    source: Option<PathBuf>,
}

/// Other things to time.
#[derive(clap::Subcommand)]
enum Other {
    /// Times the reading of a large trace of PyTorch's profiler, and shows that its size costs no memory.
    Kineto(kineto::Options),
}

/// Makes the trace, times the three programs and prints the ratios.
pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(Other::Kineto(options)) = &options.other {
        return kineto::run(options);
    }
    let trace = large_trace(options)?;
    Step::cargo()
        .args(["build", "--release", "--package", "dsprof"])
        .run()?;
    warm_up(&trace)?;

    let scan = median_of_three(|| scan(&trace))?;
    println!("SQLite scan, one thread      {scan:>8.2?}");

    let program = workspace::target().join("release/dsprof");
    // The rounding of the nsys that it is compared with.
    let ours = three_runs(&stats(&program, &["trace"], &trace).args(["--style", "2023"]))?;
    println!(
        "dsprof trace stats           {:>8.2?}  {:.2} x the scan, at most {} MiB resident",
        ours.wall,
        ratio(ours.wall, scan),
        ours.peak_bytes >> 20
    );

    let mut faults = Vec::new();
    if ours.peak_bytes > MEMORY_LIMIT {
        faults.push(format!("more than {} MiB resident", MEMORY_LIMIT >> 20));
    }
    match nsys(options) {
        Some((nsys, version)) => {
            let theirs = three_runs(&stats(&nsys, &[], &trace).args(["--quiet"]))?;
            let times = ratio(theirs.wall, ours.wall);
            println!(
                "nsys stats                   {:>8.2?}  dsprof is {times:.1} times faster than {version}",
                theirs.wall
            );
            if times < NSYS_RATIO {
                faults.push(format!("less than {NSYS_RATIO} times faster than nsys"));
            }
            // nsys ends a report with a blank line.
            if ours.output.trim_end() != theirs.output.trim_end() {
                faults.push("prints something else than nsys".to_owned());
            }
        }
        None => println!("nsys stats                   no nsys at hand: name one with --nsys"),
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("; "));
    }
    Ok(())
}

/// The command that prints the report; both programs take the same arguments.
fn stats(program: &Path, before: &[&str], trace: &Path) -> Step {
    Step::new(program)
        .args(before)
        .args(["stats", "--report", REPORT, "--format", "csv"])
        .args([trace])
}

/// How many times longer one took than the other.
fn ratio(long: Duration, short: Duration) -> f64 {
    long.as_secs_f64() / short.as_secs_f64()
}

/// The least that any reader of the table by one thread has to do.
fn scan(trace: &Path) -> Result<Duration> {
    let started = Instant::now();
    let conn = Connection::open_with_flags(trace, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let _: (i64, i64) = conn.query_row(
        "SELECT count(*), sum(\"end\" - start) FROM CUPTI_ACTIVITY_KIND_KERNEL",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(started.elapsed())
}

/// Reads the file once, so that every program finds it in memory.
fn warm_up(trace: &Path) -> Result<()> {
    let mut file = fs::File::open(trace)?;
    std::io::copy(&mut file, &mut std::io::sink())?;
    Ok(())
}

/// The nsys to compare with and its version.
fn nsys(options: &Options) -> Option<(PathBuf, String)> {
    let candidates = match &options.nsys {
        Some(named) => vec![named.clone()],
        None => ["/opt/nsys/nsys", "nsys"].map(PathBuf::from).to_vec(),
    };
    candidates.into_iter().find_map(|program| {
        let version = Step::new(&program).args(["--version"]).capture().ok()?;
        let words = version
            .stdout
            .trim()
            .replace("NVIDIA Nsight Systems version", "nsys");
        Some((program, words))
    })
}

/// The trace with at least so many kernels, made once and kept among the build outputs.
fn large_trace(options: &Options) -> Result<PathBuf> {
    let folder = workspace::target().join("bench");
    fs::create_dir_all(&folder).with_context(|| format!("creating `{}`", folder.display()))?;
    let source = options.source.clone().unwrap_or_else(default_source);
    let of = source
        .parent()
        .and_then(Path::file_name)
        .unwrap_or(source.as_os_str())
        .to_string_lossy();
    let trace = folder.join(format!("{of}-{}.sqlite", options.kernels));
    if !trace.is_file() {
        // Under another name until it is whole.
        let unfinished = trace.with_extension("unfinished");
        gzip::unpack(&source, &unfinished)?;
        grow::grow(&unfinished, options.kernels)
            .with_context(|| format!("repeating `{}`", source.display()))?;
        fs::rename(&unfinished, &trace)?;
    }
    println!(
        "{} ({} MB)",
        trace.display(),
        fs::metadata(&trace)?.len() / 1_000_000
    );
    Ok(trace)
}

/// A pipeline with two calls a kernel where the large recordings are at hand, else a shipped one.
fn default_source() -> PathBuf {
    workspace::shared()
        .map(|shared| shared.join("captures/e2e_resnet152/trace.sqlite"))
        .filter(|trace| trace.is_file())
        .unwrap_or_else(|| {
            workspace::root().join("testdata/nsys/captures/decode_mixed/trace.sqlite.gz")
        })
}
