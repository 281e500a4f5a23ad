//! Times `dsprof trace` on a large trace of PyTorch's profiler, plain and packed, and shows that its size costs no memory.
//!
//! The trace is a recorded one, repeated with times and correlation ids of its own each time. Beside each figure stands
//! that of a trace a sixteenth as large: were anything held for every event, the peaks would differ by as much.

use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;

use super::measure::three_runs;
use crate::step::Step;
use crate::workspace;

/// How much memory the program may take, in bytes, as for exports.
const MEMORY_LIMIT: u64 = 300 << 20;

/// How many times smaller the trace is that stands for comparison.
const SMALLER: u64 = 16;

/// What is timed on what.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How many MB of JSON the trace holds at least.
    #[arg(long, default_value_t = 2_000, value_name = "MB")]
    megabytes: u64,
    /// The trace that is repeated, packed with gzip; without it a shipped one.
    #[arg(long, value_name = "FILE")]
    source: Option<PathBuf>,
}

/// Makes the traces, times the program on them and prints the rates.
pub(crate) fn run(options: &Options) -> Result<()> {
    let source = options.source.clone().unwrap_or_else(|| {
        workspace::root().join("testdata/nsys/kineto/decode_mixed.rank0.pt.trace.json.gz")
    });
    let small = trace(&source, options.megabytes.div_ceil(SMALLER))?;
    let large = trace(&source, options.megabytes)?;
    Step::cargo()
        .args(["build", "--release", "--package", "dsprof"])
        .run()?;
    let program = workspace::target().join("release/dsprof");
    let mut too_much = false;
    println!("                        JSON      time       rate      peak   peak at 1/{SMALLER}");
    for (command, packing) in [
        (
            ["stats", "--report", "cuda_gpu_kern_sum"].as_slice(),
            Packing::Plain,
        ),
        (
            ["stats", "--report", "cuda_gpu_kern_sum"].as_slice(),
            Packing::Gzip,
        ),
        (["busy"].as_slice(), Packing::Gzip),
    ] {
        let asked = |trace: &Trace| {
            let step = Step::new(&program).args(["trace"]).args(command);
            three_runs(&step.args([trace.file(packing)]))
        };
        let (at_small, at_large) = (asked(&small)?, asked(&large)?);
        too_much |= at_large.peak_bytes > MEMORY_LIMIT;
        println!(
            "{:<6} {:<8} {:>8} MB  {:>7.2?}  {:>4.0} MB/s  {:>4} MiB   {:>4} MiB",
            command[0],
            packing.name(),
            large.bytes / 1_000_000,
            at_large.wall,
            megabytes(large.bytes) / at_large.wall.as_secs_f64(),
            at_large.peak_bytes >> 20,
            at_small.peak_bytes >> 20,
        );
    }
    println!(
        "{} events, packed to {} MB",
        large.events,
        large.packed_bytes / 1_000_000
    );
    if too_much {
        bail!("more than {} MiB resident", MEMORY_LIMIT >> 20);
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Packing {
    Plain,
    Gzip,
}

impl Packing {
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Gzip => "gzip",
        }
    }
}

/// A trace, plain and packed, among the build outputs.
struct Trace {
    plain: PathBuf,
    packed: PathBuf,
    bytes: u64,
    packed_bytes: u64,
    events: u64,
}

impl Trace {
    fn file(&self, packing: Packing) -> &Path {
        match packing {
            Packing::Plain => &self.plain,
            Packing::Gzip => &self.packed,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a file is far below 2^53 bytes")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// The trace with at least so many megabytes, made once.
fn trace(source: &Path, megabytes: u64) -> Result<Trace> {
    let folder = workspace::target().join("bench");
    fs::create_dir_all(&folder).with_context(|| format!("creating `{}`", folder.display()))?;
    let name = source
        .file_name()
        .unwrap_or(source.as_os_str())
        .to_string_lossy();
    let name = name.split('.').next().unwrap_or("trace").to_owned();
    let plain = folder.join(format!("{name}-{megabytes}.pt.trace.json"));
    let packed = folder.join(format!("{name}-{megabytes}.pt.trace.json.gz"));
    let counted = folder.join(format!("{name}-{megabytes}.events"));
    if !counted.is_file() {
        let started = Instant::now();
        let events = repeat(source, &plain, megabytes * 1_000_000)
            .with_context(|| format!("repeating `{}`", source.display()))?;
        let mut packer =
            GzEncoder::new(BufWriter::new(File::create(&packed)?), Compression::fast());
        std::io::copy(&mut File::open(&plain)?, &mut packer)?;
        packer.finish()?.flush()?;
        fs::write(&counted, events.to_string())?;
        println!("{} made in {:.0?}", plain.display(), started.elapsed());
    }
    Ok(Trace {
        bytes: fs::metadata(&plain)?.len(),
        packed_bytes: fs::metadata(&packed)?.len(),
        events: fs::read_to_string(&counted)?.parse()?,
        plain,
        packed,
    })
}

/// Writes the trace's events over and over, each time later and with other correlation ids; returns how many there are.
fn repeat(source: &Path, to: &Path, bytes: u64) -> Result<u64> {
    let mut text = String::new();
    GzDecoder::new(File::open(source)?).read_to_string(&mut text)?;
    let mut whole: Value = serde_json::from_str(&text)?;
    let Some(Value::Array(events)) = whole.as_object_mut().and_then(|o| o.remove("traceEvents"))
    else {
        bail!("no `traceEvents`");
    };
    let span = span(&events).context("no event has a time")?;
    let ids = events.iter().filter_map(correlation).max().unwrap_or(0) + 1;
    let patterns = events.iter().map(pattern).collect::<Result<Vec<_>>>()?;
    let members = serde_json::to_string_pretty(&whole)?;
    let members = members.trim_end().strip_suffix('}').context("no object")?;
    let mut out = BufWriter::new(File::create(to)?);
    write!(out, "{},\n  \"traceEvents\": [", members.trim_end())?;
    let (mut copy, mut count) = (0, 0);
    while out.get_ref().metadata()?.len() < bytes {
        for parts in &patterns {
            out.write_all(if count == 0 { b"\n" } else { b",\n" })?;
            for part in parts {
                match part {
                    Part::Text(text) => out.write_all(text.as_bytes())?,
                    Part::Time(nanos) => {
                        let later = nanos + copy * span;
                        write!(out, "{}.{:03}", later / 1000, later % 1000)?;
                    }
                    Part::Id(id) => write!(out, "{}", id + copy * ids)?,
                }
            }
            count += 1;
        }
        copy += 1;
    }
    out.write_all(b"\n  ]\n}\n")?;
    out.flush()?;
    Ok(count)
}

/// A part of an event as it is written; what differs from copy to copy stands by itself.
enum Part {
    Text(String),
    /// When it began, in nanoseconds.
    Time(u64),
    Id(u64),
}

/// An event in the layout that PyTorch's own writer has.
fn pattern(event: &Value) -> Result<Vec<Part>> {
    const TIME: &str = "\"@time\"";
    const ID: &str = "\"@id\"";
    let mut marked = event.clone();
    let time = nanos(&event["ts"]);
    if time.is_some() {
        marked["ts"] = TIME.trim_matches('"').into();
    }
    let id = correlation(event);
    if id.is_some() {
        marked["args"]["correlation"] = ID.trim_matches('"').into();
    }
    let text = serde_json::to_string_pretty(&marked)?;
    let mut marks: Vec<(usize, usize, Part)> =
        [(TIME, time.map(Part::Time)), (ID, id.map(Part::Id))]
            .into_iter()
            .filter_map(|(mark, part)| Some((text.find(mark)?, mark.len(), part?)))
            .collect();
    marks.sort_by_key(|(at, ..)| *at);
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, len, part) in marks {
        parts.extend([Part::Text(text[from..at].to_owned()), part]);
        from = at + len;
    }
    parts.push(Part::Text(text[from..].to_owned()));
    Ok(parts)
}

/// The length of the trace in nanoseconds, with a pause behind it.
fn span(events: &[Value]) -> Option<u64> {
    let timed = events.iter().filter(|event| event["ph"] == "X");
    let times = timed.filter_map(|event| Some((nanos(&event["ts"])?, nanos(&event["dur"])?)));
    let (first, last) = times.fold((u64::MAX, 0), |(first, last), (ts, dur)| {
        (first.min(ts), last.max(ts + dur))
    });
    (last > first).then_some(last - first + 1_000_000)
}

/// Microseconds as a double, which keeps all digits of a time since some day of the same year.
fn nanos(micros: &Value) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number far below 2^53"
    )]
    micros
        .as_f64()
        .filter(|micros| *micros >= 0.0)
        .map(|micros| (micros * 1000.0).round() as u64)
}

fn correlation(event: &Value) -> Option<u64> {
    event["args"]["correlation"].as_u64()
}
