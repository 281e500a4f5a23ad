//! Findings for people.

use std::collections::BTreeMap;

use ds_config::{FilePlace, FileSource as _, Finding, Severity};
use ds_orchestrate::DiskFiles;

use crate::args::ReportFormat;
use crate::table::in_format;

/// How much of a long line is shown.
const WIDTH: usize = 100;
/// How much of it stands before the column at fault.
const BEFORE: usize = 40;

/// Findings with the line at fault and a caret below its column.
pub(super) fn text(findings: &[Finding]) -> String {
    let mut sources = Sources::default();
    let mut out: String = findings
        .iter()
        .map(|finding| {
            let (severity, id, message) = (finding.severity, finding.rule.id, &finding.message);
            let place = finding.place.as_ref().map_or_else(String::new, |place| {
                excerpt(place, sources.line(place).as_deref())
            });
            let fixed_by = finding.fixed_by.map_or_else(String::new, |rule| {
                format!(" (rule {rule} of the plan does it)")
            });
            format!(
                "{severity}[{id}]: {message}\n{place}  = why: {}\n  = do: {}{fixed_by}\n\n",
                finding.rule.reason, finding.remedy
            )
        })
        .collect();
    out.push_str(&summary(findings));
    out
}

/// Findings as a table.
pub(super) fn markdown(findings: &[Finding]) -> String {
    let rows: Vec<Vec<String>> = findings
        .iter()
        .map(|finding| {
            vec![
                finding.severity.to_string(),
                finding.rule.id.to_owned(),
                finding
                    .place
                    .as_ref()
                    .map_or_else(String::new, ToString::to_string),
                finding.message.clone(),
                finding.remedy.clone(),
                finding.fixed_by.unwrap_or_default().to_owned(),
            ]
        })
        .collect();
    let mut out = String::new();
    if !rows.is_empty() {
        let heading = ["Severity", "Rule", "Place", "Fault", "Remedy", "Plan"];
        out.push_str(&in_format(&heading, &rows, &[], ReportFormat::Md));
        out.push('\n');
    }
    out.push_str(&summary(findings));
    out
}

fn summary(findings: &[Finding]) -> String {
    let counts: Vec<String> = [Severity::Error, Severity::Warning, Severity::Note]
        .into_iter()
        .filter_map(|severity| {
            let of_severity = findings
                .iter()
                .filter(|finding| finding.severity == severity);
            match of_severity.count() {
                0 => None,
                1 => Some(format!("1 {severity}")),
                count => Some(format!("{count} {severity}s")),
            }
        })
        .collect();
    if counts.is_empty() {
        "no findings\n".to_owned()
    } else {
        format!("{}\n", counts.join(", "))
    }
}

/// The place, and below it the line with a caret.
fn excerpt(place: &FilePlace, line: Option<&str>) -> String {
    let number = place.place.line.to_string();
    let margin = " ".repeat(number.len());
    let arrow = format!("{margin}--> {place}\n");
    let Some(line) = line.filter(|line| !line.trim().is_empty()) else {
        return arrow;
    };
    let at = place.place.column.saturating_sub(1);
    // Of a long line, such as a whole pipeline in one, the part around the fault.
    let from = if line.chars().count() > WIDTH {
        at.saturating_sub(BEFORE)
    } else {
        0
    };
    let cut = if from > 0 { "…" } else { "" };
    let shown: String = line.chars().skip(from).take(WIDTH).collect();
    // A tab stays a tab, so that the caret stands below its column.
    let before: String = cut
        .chars()
        .chain(shown.chars())
        .take(at - from.min(at) + cut.chars().count())
        .map(|c| if c == '\t' { '\t' } else { ' ' })
        .collect();
    format!("{arrow}{margin} |\n{number} | {cut}{shown}\n{margin} | {before}^\n")
}

/// The lines of files, each read once.
#[derive(Default)]
struct Sources(BTreeMap<String, Vec<String>>);

impl Sources {
    /// A line; `None` where the file can no longer be read.
    fn line(&mut self, place: &FilePlace) -> Option<String> {
        let lines = self.0.entry(place.path.clone()).or_insert_with(|| {
            let bytes = DiskFiles.read(&place.path).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            text.split('\n')
                .map(|line| line.trim_end_matches('\r').to_owned())
                .collect()
        });
        lines.get(place.place.line.checked_sub(1)?).cloned()
    }
}

#[cfg(test)]
mod tests {
    use ds_config::{FilePlace, Place};

    use super::excerpt;

    #[track_caller]
    fn check(line: &str, column: usize, expected: &str) {
        let place = FilePlace {
            path: "app.txt".to_owned(),
            place: Place { line: 7, column },
        };
        assert_eq!(excerpt(&place, Some(line)), expected);
    }

    #[test]
    fn the_caret_stands_below_its_column() {
        check(
            "batch-size=1",
            12,
            " --> app.txt:7:12\n  |\n7 | batch-size=1\n  |            ^\n",
        );
        check("\tü=1", 4, " --> app.txt:7:4\n  |\n7 | \tü=1\n  | \t  ^\n");
        check("  ", 1, " --> app.txt:7:1\n");
    }

    #[test]
    fn of_a_long_line_the_part_around_the_fault_is_shown() {
        let line = format!("{}x{}", "a".repeat(150), "b".repeat(150));
        let shown = format!("…{}x{}", "a".repeat(40), "b".repeat(59));
        let caret = format!("{}^", " ".repeat(41));
        let expected = format!(" --> app.txt:7:151\n  |\n7 | {shown}\n  | {caret}\n");
        check(&line, 151, &expected);
    }
}
