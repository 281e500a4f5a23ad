//! What a single line is.

use super::StatsMessage;

/// The kinds of line that matter.
#[derive(Debug, PartialEq)]
pub(super) enum Line<'a> {
    Blank,
    /// Names the report whose table or message follows.
    Report {
        name: Option<&'a str>,
        rest: &'a str,
    },
    Skipped {
        reason: &'a str,
    },
    Message(StatsMessage),
    /// The heading of a table with separated fields.
    Separated {
        separator: u8,
    },
    /// The dashes under the headings of a table in columns.
    Dashes,
    /// The upper frame of a framed table.
    Frame,
    OtherProfiler,
    /// Anything else: output of the profiled program, progress, prompts.
    Text,
}

/// First headings of all reports, without their unit.
const FIRST_HEADINGS: [&str; 9] = [
    "Time",
    "Total",
    "Start",
    "API Start",
    "NVTX Range",
    "Range",
    "Name",
    "PID",
    "Virtual Address",
];

pub(super) fn classify(line: &str) -> Line<'_> {
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return Line::Blank;
    }
    if let Some(found) = report_line(trimmed) {
        return found;
    }
    if let Some(reason) = trimmed.strip_prefix("SKIPPED: ") {
        return Line::Skipped { reason };
    }
    if let Some(message) = message(trimmed) {
        return Line::Message(message);
    }
    if trimmed.contains("Profiling result:") {
        return Line::OtherProfiler;
    }
    if is_dashes(trimmed) {
        return Line::Dashes;
    }
    if trimmed.starts_with("+-") && trimmed.bytes().all(|byte| matches!(byte, b'+' | b'-')) {
        return Line::Frame;
    }
    for separator in [b',', b'\t'] {
        if is_separated_heading(trimmed, separator) {
            return Line::Separated { separator };
        }
    }
    Line::Text
}

/// `Processing [db] with [report.py]...`, `Running [report.py db]...`, `Executing 'report' stats report`, ` ** Title (report):`.
fn report_line(line: &str) -> Option<Line<'_>> {
    if let Some(rest) = line.strip_prefix("Processing [") {
        let (_, rest) = rest.split_once("] with [")?;
        let (script, rest) = rest.split_once(']')?;
        let rest = rest.trim_start_matches("...").trim_start();
        return Some(Line::Report {
            name: script_name(script),
            rest,
        });
    }
    if let Some(rest) = line.strip_prefix("Running [") {
        let (command, rest) = rest.split_once("]...")?;
        return Some(Line::Report {
            name: script_name(command.split(' ').next()?),
            rest: rest.trim_start(),
        });
    }
    if let Some((_, rest)) = line.split_once("Executing '") {
        let (name, rest) = rest.split_once('\'')?;
        return rest.contains("stats report").then_some(Line::Report {
            name: Some(name),
            rest: "",
        });
    }
    let title = line.strip_prefix("** ")?.strip_suffix(':')?;
    let name = title.strip_suffix(')')?.rsplit_once('(')?.1;
    Some(Line::Report {
        name: Some(name),
        rest: "",
    })
}

/// The report's name out of the path of its script, whatever separates folders on that machine.
fn script_name(path: &str) -> Option<&str> {
    let file = path.rsplit(['/', '\\']).next()?;
    let name = file.strip_suffix(".py").unwrap_or(file);
    (!name.is_empty()).then_some(name)
}

fn message(line: &str) -> Option<StatsMessage> {
    if line.contains("Existing SQLite export found") {
        return Some(StatsMessage::ExistingExport);
    }
    if line.starts_with("File is older than input file") {
        return Some(StatsMessage::StaleExport);
    }
    let error = line.strip_prefix("ERROR: ")?;
    if error.contains("could not be opened and appears to be invalid") {
        return Some(StatsMessage::DamagedExport);
    }
    let (name, rest) = error.strip_prefix("Report '")?.split_once('\'')?;
    rest.contains("could not be found")
        .then(|| StatsMessage::UnknownReport {
            name: name.to_owned(),
        })
}

/// At least three groups of dashes and nothing else.
fn is_dashes(line: &str) -> bool {
    let groups = line.split(' ').filter(|group| !group.is_empty());
    line.bytes().all(|byte| matches!(byte, b'-' | b' ')) && groups.count() >= 3
}

/// A heading is told by its first field and by how many fields it has: a range's name may hold commas too.
pub(super) fn is_separated_heading(line: &str, separator: u8) -> bool {
    let mut fields = line.split(char::from(separator));
    let first = fields.next().unwrap_or_default();
    let stem = first.split('(').next().unwrap_or_default().trim();
    // All headings hold letters; of the fields of a row the second one is a number in every report.
    let second_is_word = fields
        .next()
        .is_some_and(|field| field.trim_start().starts_with(|c: char| c.is_alphabetic()));
    FIRST_HEADINGS.contains(&stem) && second_is_word && fields.count() >= 3
}
