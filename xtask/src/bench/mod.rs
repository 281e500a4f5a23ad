//! Times `dsprof trace stats` on traces of three sizes, against two yardsticks in the same run: SQLite's own scan of the same
//! tables by one thread, and `nsys stats` for the same report.
//!
//! Every time is the median of three runs on a warm cache; memory is the most of all runs.

mod grow;
mod kineto;
mod measure;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rusqlite::{Connection, OpenFlags};

use self::measure::{Keep, Measured, median_of_three, run as run_once, three_runs};
use crate::gzip;
use crate::step::Step;
use crate::workspace;

/// The report that people run on the largest files.
const REPORT: &str = "cuda_gpu_kern_sum";

/// Every summary.
const SUMMARIES: [&str; 15] = [
    "cuda_gpu_kern_sum",
    "cuda_gpu_kern_gb_sum",
    "cuda_gpu_mem_time_sum",
    "cuda_gpu_mem_size_sum",
    "cuda_gpu_sum",
    "cuda_api_sum",
    "cuda_api_gpu_sum",
    "cuda_kern_exec_sum",
    "nvtx_sum",
    "nvtx_pushpop_sum",
    "nvtx_startend_sum",
    "nvtx_kern_sum",
    "nvtx_gpu_proj_sum",
    "osrt_sum",
    "um_sum",
];

/// Reports with one row an event.
const TRACES: [&str; 3] = ["cuda_gpu_trace", "cuda_api_trace", "nvtx_pushpop_trace"];

/// The tables that the summaries read, as far as a trace has them.
const TABLES: [&str; 6] = [
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "NVTX_EVENTS",
    "OSRT_API",
];

/// How much memory the program may take, in bytes.
const MEMORY_LIMIT: u64 = 300 << 20;

/// How many times as long as the scan of its table the report may take.
const SCAN_RATIO: f64 = 1.5;

/// How many times as long as the scan of all tables all summaries together may take.
const ALL_RATIO: f64 = 4.0;

/// How many times faster than nsys the report must be.
const NSYS_RATIO: f64 = 25.0;

/// The sizes of the traces, as parts of the largest.
const PARTS: [u64; 3] = [16, 4, 1];

/// How much longer a row may take in the largest trace than in the one of a quarter its size.
const GROWTH_RATIO: f64 = 1.3;

/// What is timed on what.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    other: Option<Other>,
    /// The nsys to compare with; without it the one that .ci/install-nsys.sh installs, or the one on PATH.
    #[arg(long, value_name = "PATH")]
    nsys: Option<PathBuf>,
    /// How many kernels the largest trace holds at least.
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

/// What was measured on one trace.
struct Timed {
    rows: u64,
    report: Measured,
    all: Measured,
}

/// Makes the traces, times the programs and prints the ratios.
pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(Other::Kineto(options)) = &options.other {
        return kineto::run(options);
    }
    Step::cargo()
        .args(["build", "--release", "--package", "dsprof"])
        .run()?;
    let program = workspace::target().join("release/dsprof");
    let mut faults = Vec::new();
    let mut timed = Vec::new();
    for part in PARTS {
        let trace = large_trace(options, options.kernels.div_ceil(part))?;
        warm_up(&trace)?;
        timed.push(against_sqlite(&program, &trace, &mut faults)?);
        if part == 1 {
            against_nsys(options, &program, &trace, &mut faults)?;
            memory(&program, &trace, &mut faults)?;
        }
    }
    growth(&timed, &mut faults);
    if !faults.is_empty() {
        bail!("{}", faults.join("; "));
    }
    Ok(())
}

/// Times one report and all summaries together, each beside a scan of the tables that it reads.
fn against_sqlite(program: &Path, trace: &Path, faults: &mut Vec<String>) -> Result<Timed> {
    let tables = present(trace)?;
    let of_kernels = median_of_three(|| Ok(scan(trace, &TABLES[..1])?.0))?;
    let of_all = median_of_three(|| Ok(scan(trace, &tables)?.0))?;
    let (_, rows) = scan(trace, &tables)?;
    let report = three_runs(&stats(program, &["trace"], trace, &[REPORT]))?;
    let all = three_runs(&stats(program, &["trace"], trace, &SUMMARIES))?;
    for (what, scan, ours, limit) in [
        (REPORT, of_kernels, &report, SCAN_RATIO),
        ("all summaries", of_all, &all, ALL_RATIO),
    ] {
        let times = ratio(ours.wall, scan);
        println!(
            "  {what:<20} {:>9.2?}  {times:.2} x the {scan:.2?} of SQLite's scan, at most {} MiB resident",
            ours.wall,
            ours.peak_bytes >> 20
        );
        if times > limit {
            faults.push(format!("{what}: more than {limit} x the scan"));
        }
        check_memory(what, ours, faults);
    }
    Ok(Timed { rows, report, all })
}

/// Times the report beside nsys, which has to print the same.
fn against_nsys(
    options: &Options,
    program: &Path,
    trace: &Path,
    faults: &mut Vec<String>,
) -> Result<()> {
    let Some((nsys, version)) = nsys(options) else {
        println!("  no nsys at hand: name one with --nsys");
        return Ok(());
    };
    // The rounding of the nsys that it is compared with.
    let ours = stats(program, &["trace"], trace, &[REPORT]).args(["--style", "2023"]);
    let ours = three_runs(&ours)?;
    let theirs = three_runs(&stats(&nsys, &[], trace, &[REPORT]).args(["--quiet"]))?;
    let times = ratio(theirs.wall, ours.wall);
    println!(
        "  {version} stats: {:.2?}; dsprof is {times:.1} times faster",
        theirs.wall
    );
    if times < NSYS_RATIO {
        faults.push(format!("less than {NSYS_RATIO} times faster than nsys"));
    }
    // nsys ends a report with a blank line.
    if ours.output.trim_end() != theirs.output.trim_end() {
        faults.push("prints something else than nsys".to_owned());
    }
    Ok(())
}

/// Runs every report by itself, and trace reports also as text, whose columns have to be measured first.
fn memory(program: &Path, trace: &Path, faults: &mut Vec<String>) -> Result<()> {
    let csv = SUMMARIES
        .iter()
        .chain(&TRACES)
        .map(|report| (*report, "csv"));
    let text = TRACES.iter().map(|report| (*report, "text"));
    for (report, format) in csv.chain(text) {
        let step = Step::new(program)
            .args(["trace", "stats", "--report", report, "--format", format])
            .args([trace]);
        let ours = run_once(&step, Keep::Nothing)?;
        println!(
            "  {report:<22} {format:<4} {:>9.2?}, at most {} MiB resident",
            ours.wall,
            ours.peak_bytes >> 20
        );
        check_memory(report, &ours, faults);
    }
    Ok(())
}

fn check_memory(what: &str, ours: &Measured, faults: &mut Vec<String>) {
    if ours.peak_bytes > MEMORY_LIMIT {
        faults.push(format!(
            "{what}: more than {} MiB resident",
            MEMORY_LIMIT >> 20
        ));
    }
}

/// Compares the time a row over the sizes.
fn growth(timed: &[Timed], faults: &mut Vec<String>) {
    let per_row = |measured: &Measured, rows: u64| {
        let rows = u32::try_from(rows).unwrap_or(u32::MAX).max(1);
        measured.wall.as_secs_f64() * 1e9 / f64::from(rows)
    };
    for (what, of) in [
        (REPORT, (|timed| &timed.report) as fn(&Timed) -> &Measured),
        ("all summaries", |timed| &timed.all),
    ] {
        let costs: Vec<f64> = timed.iter().map(|t| per_row(of(t), t.rows)).collect();
        let shown: Vec<String> = costs.iter().map(|cost| format!("{cost:.1}")).collect();
        println!(
            "{what}: {} ns a row of the trace at 1, 4 and 16 times the size",
            shown.join(", ")
        );
        if let [.., quarter, whole] = costs[..]
            && whole > quarter * GROWTH_RATIO
        {
            faults.push(format!("{what}: grows faster than the trace"));
        }
    }
}

/// The command that prints reports; both programs take the same arguments.
fn stats(program: &Path, before: &[&str], trace: &Path, reports: &[&str]) -> Step {
    Step::new(program)
        .args(before)
        .args(["stats", "--report", &reports.join(","), "--format", "csv"])
        .args([trace])
}

/// How many times longer one took than the other.
fn ratio(long: Duration, short: Duration) -> f64 {
    long.as_secs_f64() / short.as_secs_f64()
}

/// The tables that the trace has.
fn present(trace: &Path) -> Result<Vec<&'static str>> {
    let conn = Connection::open_with_flags(trace, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut query =
        conn.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1")?;
    let mut there = Vec::new();
    for table in TABLES {
        if query.exists([table])? {
            there.push(table);
        }
    }
    Ok(there)
}

/// The least that any reader of the tables by one thread has to do, and how many rows there are.
fn scan(trace: &Path, tables: &[&str]) -> Result<(Duration, u64)> {
    let started = Instant::now();
    let conn = Connection::open_with_flags(trace, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut rows = 0;
    for table in tables {
        let sql = format!("SELECT count(*), sum(\"end\" - start) FROM {table}");
        let (count, _): (i64, Option<i64>) =
            conn.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows += u64::try_from(count)?;
    }
    Ok((started.elapsed(), rows))
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
fn large_trace(options: &Options, kernels: u64) -> Result<PathBuf> {
    let folder = workspace::target().join("bench");
    fs::create_dir_all(&folder).with_context(|| format!("creating `{}`", folder.display()))?;
    let source = options.source.clone().unwrap_or_else(default_source);
    let of = source
        .parent()
        .and_then(Path::file_name)
        .unwrap_or(source.as_os_str())
        .to_string_lossy();
    let trace = folder.join(format!("{of}-{kernels}.sqlite"));
    if !trace.is_file() {
        // Under another name until it is whole.
        let unfinished = trace.with_extension("unfinished");
        gzip::unpack(&source, &unfinished)?;
        grow::grow(&unfinished, kernels)
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
