//! Comments that silence a finding: `# dsprof: allow DS001`.

use super::finding::Finding;
use crate::model::{Document, SourceFile};

/// Whether a comment at the place of a finding, or on the line above it, allows its rule.
///
/// A command that goes on over several lines has no room for comments inside, so the line above it
/// counts for all of its lines.
pub(super) fn is_allowed(files: &[SourceFile], finding: &Finding) -> bool {
    let Some(place) = &finding.place else {
        return false;
    };
    let Some(file) = files.iter().find(|file| file.path == place.path) else {
        return false;
    };
    // The table of sources takes no comments.
    if matches!(file.document, Document::Csv(_)) {
        return false;
    }
    allows_at(file, place.place.line, finding.rule.id)
}

fn allows_at(file: &SourceFile, line: usize, id: &str) -> bool {
    let text = |line: usize| file.line_text(line);
    if allows(text(line), id) {
        return true;
    }
    let mut first = line;
    while first > 1 && text(first - 1).trim_ascii_end().ends_with(b"\\") {
        first -= 1;
    }
    let above = text(first.saturating_sub(1));
    above.trim_ascii_start().starts_with(b"#") && allows(above, id)
}

/// Whether a line holds a comment that names a rule. Several ids stand with commas or blanks between.
fn allows(line: &[u8], id: &str) -> bool {
    let line = String::from_utf8_lossy(line);
    line.match_indices('#').any(|(at, _)| {
        let comment = line[at + 1..].trim_start();
        let listed = comment
            .strip_prefix("dsprof:")
            .and_then(|rest| rest.trim_start().strip_prefix("allow "));
        listed.is_some_and(|listed| {
            listed
                .split([',', ' ', '\t'])
                .map(str::trim)
                .any(|named| named == id)
        })
    })
}

/// The findings that no comment allows.
pub(super) fn filtered(files: &[SourceFile], mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.retain(|finding| !is_allowed(files, finding));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_names_the_rules_that_it_allows() {
        assert!(allows(b"batch-size=1 # dsprof: allow DS001", "DS001"));
        assert!(allows(
            b"#dsprof:allow DS003, DS001 since the rest comes later",
            "DS001"
        ));
        assert!(!allows(b"# dsprof: allow DS0011", "DS001"));
        assert!(!allows(b"dsprof: allow DS001", "DS001"));
        assert!(!allows(b"# allow DS001", "DS001"));
    }
}
