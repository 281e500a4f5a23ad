//! Shows the report of a run in the asked format, on standard output or in a file.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use ds_orchestrate::atomic;
use ds_orchestrate::report::{Document, Extent, Glyphs, Page, html, markdown, text};
use terminal_size::{Width, terminal_size_of};

use crate::args::{PageArgs, PageFormat};
use crate::output;

/// Longer lines than this are hard to read, however wide the terminal is.
const WIDEST: u16 = 120;

/// Shows a report: a document that depends on how much there is room for, or its data as JSON.
pub(crate) fn show(
    args: &PageArgs,
    document: impl FnOnce(Extent) -> Document,
    json: impl FnOnce() -> Result<String>,
) -> Result<()> {
    let page = match &args.output_file {
        None => of_standard_output(),
        Some(_) => Page::PIPED,
    };
    let shown = match format(args) {
        PageFormat::Text => text(&document(Extent::Short), page),
        PageFormat::Md => markdown(&document(Extent::Short)),
        PageFormat::Html => html(&document(Extent::Whole)),
        PageFormat::Json => json()?,
    };
    match &args.output_file {
        None => output::data(&shown)?,
        Some(path) => {
            atomic::write(path, shown.as_bytes())
                .with_context(|| format!("cannot write `{}`", path.display()))?;
            output::message(&format!("wrote {}", path.display()));
        }
    }
    Ok(())
}

/// The format that was named, else the one that the ending of the file names.
fn format(args: &PageArgs) -> PageFormat {
    let ending = args
        .output_file
        .as_deref()
        .and_then(Path::extension)
        .map(|ending| ending.to_string_lossy().to_lowercase());
    args.format.unwrap_or(match ending.as_deref() {
        Some("html" | "htm") => PageFormat::Html,
        Some("md" | "markdown") => PageFormat::Md,
        Some("json") => PageFormat::Json,
        _ => PageFormat::Text,
    })
}

/// What the terminal is like; a pipe gets the same whatever the terminal and the locale are.
fn of_standard_output() -> Page {
    let stdout = io::stdout();
    let colour = output::colour_of(&stdout);
    if !stdout.is_terminal() {
        return Page {
            colour,
            ..Page::PIPED
        };
    }
    Page {
        width: terminal_size_of(&stdout)
            .map_or(Page::PIPED.width, |(Width(columns), _)| columns.min(WIDEST)),
        glyphs: glyphs(),
        colour,
    }
}

/// Whether the locale of the terminal is UTF-8: the first of the three variables that is set decides (POSIX, "Environment
/// Variables").
fn glyphs() -> Glyphs {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(output::environment)
        .find(|value| !value.is_empty())
        .unwrap_or_default()
        .to_lowercase();
    if locale.contains("utf-8") || locale.contains("utf8") {
        Glyphs::Unicode
    } else {
        Glyphs::Ascii
    }
}
