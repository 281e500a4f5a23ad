//! What a real `nsys stats` prints for an export: the answers that ds-nsys must give too.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::gzip;
use crate::step::Step;

/// Every report that ds-nsys prints, under the name that nsys 2023.4.4 knows.
const REPORTS: [&str; 18] = [
    "cuda_api_gpu_sum",
    "cuda_api_sum",
    "cuda_api_trace",
    "cuda_gpu_kern_gb_sum",
    "cuda_gpu_kern_sum",
    "cuda_gpu_mem_size_sum",
    "cuda_gpu_mem_time_sum",
    "cuda_gpu_sum",
    "cuda_gpu_trace",
    "cuda_kern_exec_sum",
    "nvtx_gpu_proj_sum",
    "nvtx_kern_sum",
    "nvtx_pushpop_sum",
    "nvtx_pushpop_trace",
    "nvtx_startend_sum",
    "nvtx_sum",
    "osrt_sum",
    "um_sum",
];

/// nsys has been seen to hang when it cannot reach its own service; no report of a shipped trace takes this long.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// Writes one CSV a report; an empty one where nsys has nothing to print.
pub(crate) fn run(trace: &Path, outdir: &Path, nsys: &Path) -> Result<()> {
    let folder = tempfile::tempdir().context("creating a temporary folder")?;
    let copy = folder.path().join("trace.sqlite");
    gzip::unpack(trace, &copy)?;
    let prefix = folder.path().join("stats");
    let mut step = Step::new(nsys).args(["stats", "--quiet", "--format", "csv"]);
    for report in REPORTS {
        step = step.args(["--report", report]);
    }
    step = step
        .args(["--output".as_ref(), prefix.as_os_str()])
        .args([&copy]);
    run_limited(&step)?;
    fs::create_dir_all(outdir).with_context(|| format!("creating `{}`", outdir.display()))?;
    for report in REPORTS {
        let made = folder.path().join(format!("stats_{report}.csv"));
        // Judged by the file and not by the exit status, which is zero for a report that does not exist.
        if !made.is_file() {
            bail!("nsys wrote no file for `{report}`");
        }
        let to = outdir.join(format!("{report}.csv"));
        fs::copy(&made, &to).with_context(|| format!("writing `{}`", to.display()))?;
    }
    let version = Step::new(nsys).args(["--version"]).capture()?.stdout;
    println!("{}: {} reports", version.trim(), REPORTS.len());
    Ok(())
}

/// Runs nsys and ends it when it takes too long.
fn run_limited(step: &Step) -> Result<()> {
    let mut child = step
        .command()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .with_context(|| format!("starting `{}`", step.shown()))?;
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            if !status.success() {
                bail!("`{}` ended with {status}", step.shown());
            }
            return Ok(());
        }
        if started.elapsed() > TIME_LIMIT {
            child.kill()?;
            child.wait()?;
            bail!("`{}` took longer than {TIME_LIMIT:?}", step.shown());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
