//! G1: files that their reader refuses.

use super::{Look, Report, Rule, Severity};
use crate::error::{Error, ErrorKind};
use crate::gst_launch::Liveness;
use crate::line_index::Place;
use crate::model::{Document, FilePlace};

/// A file that never worked.
pub(super) const G1: Rule = Rule {
    id: "DS051",
    code: "G1",
    severity: Severity::Error,
    title: "a file that its reader refuses",
    reason: "The program ends, or goes on as if the file were not there: such a file never worked.",
    guard: "Templates; commands in comments; a file that is not there.",
    remedy: "correct the line; key files take `#` comments only, no byte order mark, and lines that end in LF or CRLF",
    fixed_by: None,
    check,
};

fn check(look: &Look<'_>, report: &mut Report<'_>) {
    for fault in &look.pipeline.faults {
        add(report, fault, &look.pipeline.files[0].path);
    }
    for file in &look.pipeline.files {
        let Document::Gst(script) = &file.document else {
            continue;
        };
        for command in script.commands() {
            if command.liveness == Liveness::Live
                && let Err(error) = &command.graph
            {
                add(report, error, &file.path);
            }
        }
    }
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
