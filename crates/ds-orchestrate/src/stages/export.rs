//! Reports and raw streams of nsys, exported by the nsys that is at hand.
//!
//! An export is a means: it goes into the bundle where one is written, beside its report where it is to be kept, and
//! else into a temporary folder that is gone before anybody reads the first row.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ds_nsys::{FileKind, NsysVersion, Trace};
use tempfile::TempDir;

use super::Session;
use crate::atomic;
use crate::bundle::StageName;
use crate::error::Error;
use crate::process::{BUNDLE_PLACEHOLDER, CommandSpec, Exit, Flow, Outcome, RunError};
use crate::progress::Event;

/// A file to be exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportRequest {
    /// The report or stream.
    pub file: PathBuf,
    /// What its first bytes say.
    pub kind: FileKind,
    /// What becomes of the export, where no bundle keeps it.
    pub keep: KeepExport,
    /// How long each program may take; `None` for a time that grows with the file.
    pub timeout: Option<Duration>,
}

/// What becomes of an export that no bundle keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepExport {
    /// It is removed.
    No,
    /// It stays beside its report, under the name that nsys would give it.
    BesideReport,
}

/// The export that lies beside a report, as nsys leaves it there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportBeside {
    /// There is none.
    None,
    /// It was written after the report.
    Fresh(PathBuf),
    /// It is older than the report: that of another capture, as far as anybody can say.
    Stale(PathBuf),
}

impl ExportBeside {
    /// Looks beside a report.
    pub fn of(report: &Path) -> Self {
        let export = beside(report);
        let written = |path: &Path| fs::metadata(path)?.modified();
        match (written(&export), written(report)) {
            (Ok(of_export), Ok(of_report)) if of_export < of_report => Self::Stale(export),
            (Ok(_), _) => Self::Fresh(export),
            (Err(_), _) => Self::None,
        }
    }
}

/// Every program gets this long at the least, and a second more for every [`BYTES_A_SECOND`] of its file. Nsight Systems
/// 2023.4.4 exported a report of half a megabyte in less than a second on two cores, so this ends what hangs and nothing
/// else.
const AT_LEAST: Duration = Duration::from_secs(300);
const BYTES_A_SECOND: u64 = 500_000;

/// Exports files and opens the exports, in the order of the requests.
///
/// # Errors
///
/// When no nsys is at hand ([`ds_nsys::Error::NeedsExport`]), it is of a release that cannot read a file, it fails, hangs
/// or leaves no export, or an export cannot be read.
pub fn export_traces(
    session: &mut Session<'_>,
    requests: &[ExportRequest],
) -> Result<Vec<Trace>, Error> {
    session.stage(StageName::Export, |session| {
        let Some(first) = requests.first() else {
            return Ok(Vec::new());
        };
        let release = release(session, first)?;
        let mut traces = Vec::new();
        for (number, request) in (1..).zip(requests) {
            let nsys = session.nsys.clone();
            refuse_other_release(&nsys, release.as_ref(), request)?;
            traces.push(export(session, number, request)?);
        }
        Ok(traces)
    })
}

/// Which release the nsys at hand is of; `None` where it does not say so in a way that is understood.
fn release(
    session: &mut Session<'_>,
    request: &ExportRequest,
) -> Result<Option<NsysVersion>, Error> {
    let version = CommandSpec::new("export/version", &session.nsys, ["--version"]);
    let outcome = match session.runner.run_quietly(&version) {
        // Nobody named a program, so it is the file that calls for one.
        Err(RunError::NotFound { program }) if program == DEFAULT_NSYS => {
            return Err(ds_nsys::Error::NeedsExport {
                path: request.file.clone(),
                kind: request.kind.clone(),
            }
            .into());
        }
        other => other?,
    };
    if outcome.exit != Exit::Code(0) {
        return Err(failed(&version, &outcome, "it does not say its release"));
    }
    let text = outcome.stdout_text();
    Ok(text.split_whitespace().find_map(|word| word.parse().ok()))
}

/// The name under which nsys is looked for where none is given.
pub const DEFAULT_NSYS: &str = "nsys";

/// An nsys reads reports of its own release and of older ones ("newer than your current version", says 2023.4.4 of
/// others), and imports streams of its own release alone.
fn refuse_other_release(
    nsys: &str,
    release: Option<&NsysVersion>,
    request: &ExportRequest,
) -> Result<(), Error> {
    let Some(release) = release else {
        return Ok(());
    };
    let is_other = match &request.kind {
        FileKind::Report {
            writer: Some(writer),
        } => writer.release() > release.release(),
        FileKind::Stream {
            writer: Some(writer),
        } => writer.release() != release.release(),
        _ => false,
    };
    if is_other {
        return Err(Error::OtherNsys {
            path: request.file.clone(),
            kind: request.kind.clone(),
            program: nsys.to_owned(),
            release: release.clone(),
        });
    }
    Ok(())
}

fn export(
    session: &mut Session<'_>,
    number: usize,
    request: &ExportRequest,
) -> Result<Trace, Error> {
    let place = Place::new(session, number, request)?;
    let timeout = request.timeout.unwrap_or_else(|| patience(&request.file));
    let mut report = text(&request.file)?;
    if let FileKind::Stream { .. } = request.kind {
        let imported = place.file("nsys-rep");
        let importer = importer(&session.nsys);
        let args = [
            "--input-file",
            &report,
            "--output-file",
            imported.argument()?.as_str(),
        ]
        .map(str::to_owned);
        let spec = CommandSpec::new(format!("export/{number}/import"), importer, args);
        let spec = imported.produced_by(spec).timeout(timeout);
        let outcome = run(session, &spec, request)?;
        if imported.found(session)?.is_none() {
            return Err(failed(&spec, &outcome, "it left no report behind"));
        }
        report = imported.argument()?;
    }
    let export = place.file("sqlite");
    let args = [
        "export",
        "--type=sqlite",
        "--output",
        export.argument()?.as_str(),
        &report,
    ]
    .map(str::to_owned);
    let spec = CommandSpec::new(format!("export/{number}/export"), &session.nsys, args);
    let spec = export.produced_by(spec).timeout(timeout);
    let outcome = run(session, &spec, request)?;
    let Some(written) = export.found(session)? else {
        let what = "it left no export behind";
        return Err(failed(&spec, &outcome, what));
    };
    match (&place, request.keep) {
        (Place::Bundle { .. }, _) => Ok(Trace::open(written)?),
        (Place::Folder { .. }, KeepExport::No) => Ok(Trace::open_removable(written)?),
        (Place::Folder { .. }, KeepExport::BesideReport) => {
            let kept = beside(&request.file);
            atomic::rename(&written, &kept).map_err(|source| Error::Keep {
                path: kept.clone(),
                source,
            })?;
            Ok(Trace::open(kept)?)
        }
    }
}

/// Runs one of nsys's programs, and tells how far it is.
fn run(
    session: &mut Session<'_>,
    spec: &CommandSpec,
    request: &ExportRequest,
) -> Result<Outcome, Error> {
    let what = format!("export of `{}`", request.file.display());
    session.tell(&Event::Running(what));
    let progress = &mut *session.progress;
    let outcome = session.runner.run(spec, &mut |_, chunk| {
        if let Some(percent) = percent(&String::from_utf8_lossy(chunk)) {
            progress(&Event::Percent(percent));
        }
        Flow::Continue
    })?;
    match outcome.exit {
        Exit::Code(0) => Ok(outcome),
        Exit::TimedOut => {
            let what = format!("it did not end within {} s", spec.timeout.as_secs());
            Err(failed(spec, &outcome, &what))
        }
        _ => Err(failed(spec, &outcome, "")),
    }
}

/// The last percentage in what nsys printed of its progress bar, such as `Processing 4469 events: [==45% ]`.
fn percent(printed: &str) -> Option<u8> {
    let before = &printed[..printed.rfind('%')?];
    let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
    before[before.len() - digits..].parse().ok()
}

fn failed(spec: &CommandSpec, outcome: &Outcome, what: &str) -> Error {
    let said = said(outcome);
    let detail = match (what.is_empty(), said.is_empty()) {
        (false, false) => format!("{what}; it said: {said}"),
        (false, true) => what.to_owned(),
        (true, false) => said,
        (true, true) => "it said nothing".to_owned(),
    };
    Error::Program {
        program: spec.to_string(),
        exit: outcome.exit.to_string(),
        detail,
    }
}

/// The last lines of what a program printed, without its progress bar.
fn said(outcome: &Outcome) -> String {
    const LINES: usize = 3;
    let printed = format!("{}\n{}", outcome.stdout_text(), outcome.stderr_text());
    let lines: Vec<&str> = printed
        .split(['\n', '\r'])
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.contains("%]") && !line.contains("% "))
        .collect();
    lines[lines.len().saturating_sub(LINES)..].join("; ")
}

fn patience(file: &Path) -> Duration {
    // Of a replay the file may be elsewhere, and a recording takes no time.
    let bytes = fs::metadata(file).map_or(0, |metadata| metadata.len());
    AT_LEAST + Duration::from_secs(bytes / BYTES_A_SECOND)
}

/// The importer of a release lies in a folder beside that of its nsys, whatever links lead there.
fn importer(nsys: &str) -> String {
    const NAME: &str = "QdstrmImporter";
    let found = which(nsys).and_then(|nsys| {
        let release = nsys.parent()?.parent()?;
        let hosts = fs::read_dir(release).ok()?;
        hosts
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|folder| {
                folder
                    .file_name()
                    .is_some_and(|name| name.to_string_lossy().starts_with("host-"))
            })
            .map(|folder| folder.join(NAME))
            .find(|importer| importer.is_file())
    });
    found.map_or_else(|| NAME.to_owned(), |path| path.display().to_string())
}

/// The file that a program's name stands for, links followed.
fn which(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return fs::canonicalize(program).ok();
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "a program is looked for where the system looks for it"
    )]
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find_map(|folder| fs::canonicalize(folder.join(program)).ok())
}

fn beside(report: &Path) -> PathBuf {
    report.with_extension("sqlite")
}

fn text(path: &Path) -> Result<String, Error> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| Error::Input {
            what: format!("`{}`: the path is not UTF-8", path.display()),
        })
}

/// Where the files of one export go.
enum Place {
    /// Into the bundle, the one that is written or the one that is replayed.
    Bundle {
        /// Relative to the bundle, without an extension.
        stem: String,
    },
    /// Into a folder that is removed at the end.
    Folder {
        /// The folder.
        folder: TempDir,
        /// The file's name, without an extension.
        stem: String,
    },
}

impl Place {
    fn new(session: &Session<'_>, number: usize, request: &ExportRequest) -> Result<Self, Error> {
        let stem = request
            .file
            .file_stem()
            .map_or_else(|| "report".into(), |stem| stem.to_string_lossy())
            .into_owned();
        if session.files.is_some() {
            return Ok(Self::Bundle {
                stem: format!("trace/{number}/{stem}"),
            });
        }
        let create = |folder: &Path, source| Error::Keep {
            path: folder.to_owned(),
            source,
        };
        let folder = match request.keep {
            KeepExport::No => tempfile::Builder::new()
                .prefix("dsprof-")
                .tempdir()
                .map_err(|e| create(Path::new("a temporary folder"), e))?,
            // In the same folder, so that the finished export takes its place in one step.
            KeepExport::BesideReport => {
                if let ExportBeside::Stale(path) = ExportBeside::of(&request.file) {
                    let what = format!(
                        "`{}` is older than `{}` and would be replaced: move it away",
                        path.display(),
                        request.file.display()
                    );
                    return Err(Error::Input { what });
                }
                let parent = match request.file.parent() {
                    Some(parent) if !parent.as_os_str().is_empty() => parent,
                    _ => Path::new("."),
                };
                tempfile::Builder::new()
                    .prefix(".dsprof-")
                    .tempdir_in(parent)
                    .map_err(|e| create(parent, e))?
            }
        };
        Ok(Self::Folder { folder, stem })
    }

    fn file(&self, extension: &str) -> Written {
        match self {
            Self::Bundle { stem } => Written::InBundle(format!("{stem}.{extension}")),
            Self::Folder { folder, stem } => {
                Written::At(folder.path().join(format!("{stem}.{extension}")))
            }
        }
    }
}

/// A file that a program is to write.
enum Written {
    InBundle(String),
    At(PathBuf),
}

impl Written {
    fn argument(&self) -> Result<String, Error> {
        match self {
            Self::InBundle(relative) => Ok(format!("{BUNDLE_PLACEHOLDER}/{relative}")),
            Self::At(path) => text(path),
        }
    }

    fn produced_by(&self, spec: CommandSpec) -> CommandSpec {
        match self {
            Self::InBundle(relative) => spec.produces(relative),
            Self::At(_) => spec,
        }
    }

    /// Where it lies, if it was written and is not empty.
    fn found(&self, session: &Session<'_>) -> Result<Option<PathBuf>, Error> {
        let path = match self {
            Self::InBundle(relative) => session.file(relative),
            Self::At(path) => Some(path.clone()),
        };
        let Some(path) = path else { return Ok(None) };
        match fs::metadata(&path) {
            Ok(metadata) => Ok((metadata.len() > 0).then_some(path)),
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::Read { path, source }),
        }
    }
}
