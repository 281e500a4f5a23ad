//! G1: files that their reader refuses.

use super::{Look, Report, Rule, Severity};
use crate::error::{Error, ErrorKind};
use crate::gst_launch::{GstScript, Liveness};
use crate::line_index::Place;
use crate::model::{Document, FilePlace, SourceFile};

/// A file that never worked.
pub(super) const G1: Rule = Rule {
    id: "DS051",
    code: "G1",
    severity: Severity::Error,
    title: "a file that its reader refuses",
    reason: "The program ends, or goes on as if the file were not there: such a file never worked.",
    guard: "Templates; commands in comments; commands of a document that leave something out (`…`); a string that a \
            program goes on with; a file that is not there.",
    remedy: "correct the line; key files take `#` comments only, no byte order mark, and lines that end in LF or CRLF",
    fixed_by: None,
    check,
};

fn check(look: &Look<'_>, report: &mut Report<'_>) {
    let entry = &look.pipeline.files[0].path;
    let faults = look.pipeline.faults.iter();
    let commands = look.pipeline.files.iter().flat_map(refused_commands);
    for (path, error) in faults.map(|fault| (entry, fault)).chain(commands) {
        if !leaves_out(look, error, path) {
            add(report, error, path);
        }
    }
}

/// Why the live commands of a script are refused.
fn refused_commands(file: &SourceFile) -> impl Iterator<Item = (&String, &Error)> {
    let script = match &file.document {
        Document::Gst(script) => Some(script),
        _ => None,
    };
    script
        .into_iter()
        .flat_map(GstScript::commands)
        .filter(|command| command.liveness == Liveness::Live)
        .filter_map(|command| Some((&file.path, command.graph.as_ref().err()?)))
}

/// Whether a command of a document shows by an ellipsis that it is not meant to be run as it is.
fn leaves_out(look: &Look<'_>, error: &Error, path: &str) -> bool {
    let file = look.file(error.path().unwrap_or(path));
    let Some((file, place)) = file.zip(error.place()) else {
        return false;
    };
    let line = String::from_utf8_lossy(file.line_text(place.line));
    matches!(file.document, Document::Gst(_)) && (line.contains("...") || line.contains('…'))
}

/// Reports an error that means that a whole file, or command, is refused.
pub(in crate::lint) fn add(report: &mut Report<'_>, error: &Error, path: &str) {
    if !matches!(error.kind(), ErrorKind::Refused | ErrorKind::Encoding) {
        return;
    }
    let place = FilePlace {
        path: error.path().unwrap_or(path).to_owned(),
        place: error.place().unwrap_or(Place { line: 1, column: 1 }),
    };
    report.add(place, error.message());
}
