//! What somebody else's `nsys stats` printed: CSV, TSV, columns or framed tables, with all that stands around them.
//!
//! Where the export itself is at hand, read that: printed text has lost digits, cut names, and depends on the locale of
//! the machine. What is lost is said, never guessed: a value is either exact as printed, recomputed from exact ones, or
//! [`StatsValue::Lost`].

mod column;
mod layout;
mod lines;
mod numbers;
mod table;

pub use column::{StatsColumn, StatsFigure, StatsUnit};
pub use table::{StatsAmount, StatsNote, StatsRow, StatsTable, StatsValue};

use std::borrow::Cow;

use lines::Line;

use crate::error::{Error, Result};

/// Everything found in one text.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct StatsOutput {
    /// The tables, in the order of the text.
    pub tables: Vec<StatsTable>,
    /// What the program said beside them, in the order of the text.
    pub messages: Vec<StatsMessage>,
}

/// A line of the program about its own work. None of them holds numbers, and the exit status says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatsMessage {
    /// The export holds no such data.
    Skipped {
        /// The report, where the text says which.
        report: Option<String>,
        /// The reason given.
        reason: String,
    },
    /// A report went to a file.
    Written {
        /// The report.
        report: String,
        /// The file.
        file: String,
        /// Whether it has rows.
        contents: FileContents,
    },
    /// An export from an earlier run was used.
    ExistingExport,
    /// An export older than its report was found, and nothing was printed.
    StaleExport,
    /// The release that ran has no such report.
    UnknownReport {
        /// The name asked for.
        name: String,
    },
    /// The export could not be opened.
    DamagedExport,
}

/// Whether a report's file has rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileContents {
    /// It has.
    Rows,
    /// It is empty.
    Nothing,
}

impl StatsOutput {
    /// Reads a text in UTF-8 or UTF-16, with any line ends.
    ///
    /// # Errors
    ///
    /// Fails on the output of another profiler, and where a table cannot be read without guessing.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let text = decoded(bytes)?;
        let mut output = Self::default();
        let lines: Vec<&str> = text.split('\n').map(shown).collect();
        let mut report: Option<String> = None;
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            at += 1;
            match lines::classify(line) {
                Line::Report { name, rest } => {
                    report = name.map(str::to_owned).or(report);
                    output.after_report_line(report.as_deref(), rest);
                }
                Line::Skipped { reason } => {
                    // Where reports go to files, the reason follows later, and apart from its report.
                    let apart =
                        matches!(output.messages.last(), Some(StatsMessage::Written { .. }));
                    let report = report.clone().filter(|_| !apart);
                    output.messages.push(StatsMessage::Skipped {
                        report,
                        reason: reason.to_owned(),
                    });
                }
                Line::Message(message) => output.message(message),
                Line::Separated { separator } => {
                    let (table, next) =
                        layout::read_separated(&lines, at - 1, separator, report.clone())?;
                    output.tables.push(table);
                    at = next;
                }
                Line::Dashes => {
                    let (table, next) = layout::read_columns(&lines, at - 1, report.clone())?;
                    output.tables.push(table);
                    at = next;
                }
                Line::Frame => {
                    let (table, next) = layout::read_framed(&lines, at - 1, report.clone())?;
                    output.tables.push(table);
                    at = next;
                }
                Line::OtherProfiler => {
                    let problem = "this is the output of nvprof, not of `nsys stats`".to_owned();
                    return Err(Error::StatsText { line: at, problem });
                }
                Line::Blank | Line::Text => {}
            }
        }
        Ok(output)
    }

    /// What may follow on the line that names a report.
    fn after_report_line(&mut self, report: Option<&str>, rest: &str) {
        if let Some(reason) = rest.strip_prefix("SKIPPED: ") {
            let report = report.map(str::to_owned);
            self.messages.push(StatsMessage::Skipped {
                report,
                reason: reason.trim_end().to_owned(),
            });
        } else if let Some((file, state)) = rest
            .strip_prefix("to [")
            .and_then(|rest| rest.split_once("]... "))
        {
            let contents = if state.contains("(EMPTY RESULTS)") {
                FileContents::Nothing
            } else {
                FileContents::Rows
            };
            let report = report.unwrap_or_default().to_owned();
            self.messages.push(StatsMessage::Written {
                report,
                file: file.to_owned(),
                contents,
            });
        }
    }

    fn message(&mut self, message: StatsMessage) {
        // The notice about a stale export begins like the one about an existing export, and says so a line later.
        if message == StatsMessage::StaleExport
            && self.messages.last() == Some(&StatsMessage::ExistingExport)
        {
            self.messages.pop();
        }
        self.messages.push(message);
    }
}

/// What a terminal shows of a line: a progress bar overwrites itself after every carriage return.
fn shown(line: &str) -> &str {
    let line = line.strip_suffix('\r').unwrap_or(line);
    line.rsplit('\r').next().unwrap_or(line)
}

/// Reads the encodings that shells write: UTF-8 with and without a mark, UTF-16 with one or recognisable by its zeros.
fn decoded(bytes: &[u8]) -> Result<Cow<'_, str>> {
    let utf_16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| -> Result<Cow<'_, str>> {
        let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        let text: Option<String> = char::decode_utf16(units)
            .map(std::result::Result::ok)
            .collect();
        let text = text.filter(|_| bytes.len().is_multiple_of(2));
        text.map(Cow::Owned)
            .ok_or_else(|| not_text("the text begins as UTF-16 and does not go on so"))
    };
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf_8(rest),
        [0xFF, 0xFE, rest @ ..] => utf_16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf_16(rest, u16::from_be_bytes),
        [first, 0, second, 0, ..] if *first != 0 && *second != 0 => {
            utf_16(bytes, u16::from_le_bytes)
        }
        [0, first, 0, second, ..] if *first != 0 && *second != 0 => {
            utf_16(bytes, u16::from_be_bytes)
        }
        _ => utf_8(bytes),
    }
}

fn utf_8(bytes: &[u8]) -> Result<Cow<'_, str>> {
    std::str::from_utf8(bytes)
        .map(Cow::Borrowed)
        .map_err(|error| {
            let line = bytes[..error.valid_up_to()]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count()
                + 1;
            Error::StatsText {
                line,
                problem: "the text is neither UTF-8 nor UTF-16".to_owned(),
            }
        })
}

fn not_text(problem: &str) -> Error {
    Error::StatsText {
        line: 1,
        problem: problem.to_owned(),
    }
}
