//! What every question starts from: an opened trace, a window, the rules.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use ds_nsys::{FileKind, Nanos, Taxonomy, Window};
use ds_orchestrate::Error;

use crate::cli_trace::{TaxonomyArgs, WindowArgs};
use crate::exit::{Unusable, Usage};
use crate::progress::Bar;

/// Does what may take a while, with progress on a terminal.
pub(super) fn reading<T>(path: &Path, work: impl FnOnce() -> ds_nsys::Result<T>) -> Result<T> {
    let _progress = Bar::during(&format!("reading {}", path.display()));
    Ok(work()?)
}

/// The window between two times, either of which may be left out.
pub(super) fn window(args: WindowArgs) -> Result<Window> {
    let window = Window {
        from: args.from_ms.unwrap_or(Window::ALL.from),
        to: args.to_ms.unwrap_or(Window::ALL.to),
    };
    if window.from >= window.to {
        return Err(
            Usage("--from-ms lies behind --to-ms: nothing is between them".to_owned()).into(),
        );
    }
    Ok(window)
}

/// The built-in rules, with the user's before them.
pub(super) fn taxonomy(args: &TaxonomyArgs) -> Result<Taxonomy> {
    let Some(path) = &args.taxonomy else {
        return Ok(Taxonomy::default());
    };
    let rules = Taxonomy::default().with_rules(&text(path)?);
    rules.with_context(|| format!("`{}`", path.display()))
}

/// The text of a file beside the trace.
pub(super) fn text(path: &Path) -> Result<String> {
    let read = fs::read_to_string(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    Ok(read)
}

/// The files named, with directories replaced by the exports in them, in the order of their names.
pub(super) fn exports(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut exports = Vec::new();
    for path in paths {
        if !path.is_dir() {
            exports.push(path.clone());
            continue;
        }
        let read = |source| Error::Read {
            path: path.clone(),
            source,
        };
        let mut found = Vec::new();
        for entry in fs::read_dir(path).map_err(read)? {
            let entry = entry.map_err(read)?.path();
            if is_export_name(&entry) {
                found.push(entry);
            }
        }
        if found.is_empty() {
            let what = format!(
                "`{}` holds no .sqlite, no .pt.trace.json and neither of them as .gz",
                path.display()
            );
            return Err(Unusable(what).into());
        }
        found.sort();
        exports.append(&mut found);
    }
    Ok(exports)
}

fn is_export_name(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| {
        let plain = name.strip_suffix(".gz").unwrap_or(&name);
        // The front end of vLLM profiles itself as well, and is no rank.
        plain.ends_with(".sqlite")
            || (plain.ends_with(".pt.trace.json") && !plain.contains("async_llm"))
    })
}

/// How a window is described; nothing for the whole session.
pub(super) fn window_line(window: Window) -> Option<String> {
    let time = |time: Nanos| format!("{:.3} ms", time.as_millis_f64());
    match (window.from == Window::ALL.from, window.to == Window::ALL.to) {
        (true, true) => None,
        (false, true) => Some(format!("from {} on", time(window.from))),
        (true, false) => Some(format!("until {}", time(window.to))),
        (false, false) => Some(format!("from {} to {}", time(window.from), time(window.to))),
    }
}

/// What a user can do about a file that has to be exported and cannot be here.
pub(crate) fn hint(path: &Path, kind: &FileKind) -> Option<String> {
    let export = path.with_extension("sqlite");
    Some(match kind {
        FileKind::Stream { writer } => {
            let release = writer
                .as_ref()
                .map_or("the nsys that wrote it".to_owned(), |version| {
                    format!("nsys {version}")
                });
            let report = path.with_extension("nsys-rep");
            format!(
                "only the importer of {release} reads it: `QdstrmImporter --input-file '{}'`, then `nsys export --type sqlite \
                 --output '{}' '{}'`",
                path.display(),
                export.display(),
                report.display()
            )
        }
        FileKind::Report { writer } => {
            let release = writer
                .as_ref()
                .map_or("the release that wrote it".to_owned(), ToString::to_string);
            format!(
                "with nsys {release} or later: `nsys export --type sqlite --output '{}' '{}'`",
                export.display(),
                path.display()
            )
        }
        _ => return None,
    })
}
