//! The counts in nsys's own messages.
//!
//! A message counts what was collected, and an export may hold a few rows more or fewer. The difference says something
//! about the capture, so it is kept: a new count is the old one less the rows that were removed. Which tables a message
//! counts was found on H200 exports of 2025.3.2, where `Number of CUDA events collected` is to the row the sum of
//! kernels, copies, sets and calls.

use std::collections::BTreeMap;

use anyhow::Result;

use super::{Export, quoted};

const MESSAGES: &str = "DIAGNOSTIC_EVENT";

/// Rows of the tables that a message counts, by its subject and process.
pub(super) struct Counts(BTreeMap<(&'static str, i64), i64>);

/// What messages speak of, and which tables they count.
struct Subject {
    name: &'static str,
    counts: fn(&str) -> bool,
}

/// Every subject that belongs to a process.
const SUBJECTS: [Subject; 4] = [
    Subject {
        name: "CUDA",
        counts: |table| {
            ["KERNEL", "MEMCPY", "MEMSET", "RUNTIME"]
                .iter()
                .any(|kind| table.strip_prefix("CUPTI_ACTIVITY_KIND_") == Some(kind))
        },
    },
    Subject {
        name: "CUPTI",
        counts: |table| {
            table.starts_with("CUPTI_ACTIVITY_KIND_") || table == "CUDA_GPU_MEMORY_USAGE_EVENTS"
        },
    },
    Subject {
        name: "NVTX",
        counts: |table| table == "NVTX_EVENTS",
    },
    Subject {
        name: "OS runtime libraries",
        counts: |table| table == "OSRT_API",
    },
];

/// Samples belong to the machine and not to a process: one event is all metrics of one instant.
const SAMPLES: &str = "GPU Metrics";

impl Counts {
    pub(super) fn of(export: &Export) -> Result<Self> {
        let mut counts = BTreeMap::new();
        for table in export.event_tables() {
            let Some(process) = export.process_of(table) else {
                continue;
            };
            for subject in SUBJECTS.iter().filter(|subject| (subject.counts)(table)) {
                let sql = format!(
                    "SELECT coalesce({process}, 0), count(*) FROM {} GROUP BY 1",
                    quoted(table)
                );
                let mut statement = export.conn.prepare(&sql)?;
                for row in statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))? {
                    let (process, rows): (i64, i64) = row?;
                    *counts.entry((subject.name, process)).or_default() += rows;
                }
            }
        }
        if export.has("GPU_METRICS", "timestamp") && export.has("GPU_METRICS", "typeId") {
            let sql = "SELECT count(*) FROM (SELECT DISTINCT typeId, timestamp FROM GPU_METRICS)";
            let instants = export.conn.query_row(sql, [], |row| row.get(0))?;
            counts.insert((SAMPLES, 0), instants);
        }
        Ok(Self(counts))
    }

    /// Lowers the counts in the messages by what is gone.
    pub(super) fn rewrite_messages(&self, export: &Export, after: &Self) -> Result<()> {
        if !export.has(MESSAGES, "text") {
            return Ok(());
        }
        let process = if export.has(MESSAGES, "globalPid") {
            "globalPid"
        } else {
            "NULL"
        };
        let sql =
            format!("SELECT rowid, text, {process} FROM {MESSAGES} WHERE text LIKE 'Number of %'");
        let messages: Vec<(i64, String, Option<i64>)> = export
            .conn
            .prepare(&sql)?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<Result<_, _>>()?;
        for (rowid, text, process) in messages {
            if let Some(text) = rewritten(&text, |subject| {
                self.total(subject, process) - after.total(subject, process)
            }) {
                export.conn.execute(
                    &format!("UPDATE {MESSAGES} SET text = ?1 WHERE rowid = ?2"),
                    (text, rowid),
                )?;
            }
        }
        Ok(())
    }

    /// The rows of one process, or of all where the message does not name one.
    fn total(&self, subject: &str, process: Option<i64>) -> i64 {
        self.0
            .iter()
            .filter(|((counted, of), _)| {
                *counted == subject
                    && (subject == SAMPLES || process.is_none_or(|process| process == *of))
            })
            .map(|(_, rows)| rows)
            .sum()
    }
}

/// A message with its count lowered; `None` where it is no count.
fn rewritten(text: &str, removed: impl FnOnce(&str) -> i64) -> Option<String> {
    let rest = text.strip_prefix("Number of ")?;
    let (subject, verb) = [" events collected: ", " events produced: "]
        .into_iter()
        .find_map(|verb| Some((rest.split_once(verb)?.0, verb)))?;
    let behind = &rest[subject.len() + verb.len()..];
    // nsys puts a tab in front of the number.
    let blank = behind.len() - behind.trim_start().len();
    let digits = behind[blank..]
        .bytes()
        .take_while(u8::is_ascii_digit)
        .count();
    let count: i64 = behind[blank..blank + digits].parse().ok()?;
    // An export can hold a few rows more than the message counts.
    let count = (count - removed(subject)).max(0);
    Some(format!(
        "Number of {subject}{verb}{}{count}{}",
        &behind[..blank],
        &behind[blank + digits..]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, removed: i64, expected: Option<&str>) {
        assert_eq!(rewritten(text, |_| removed).as_deref(), expected);
    }

    #[test]
    fn a_count_is_lowered_and_the_rest_of_the_message_stays() {
        check(
            "Number of CUDA events collected: \t5629.",
            29,
            Some("Number of CUDA events collected: \t5600."),
        );
        check(
            "Number of CUPTI events produced: \t6026, CUPTI buffers: 41 of 50. Some",
            26,
            Some("Number of CUPTI events produced: \t6000, CUPTI buffers: 41 of 50. Some"),
        );
        check(
            "Number of OS runtime libraries events collected: \t28960.",
            28963,
            Some("Number of OS runtime libraries events collected: \t0."),
        );
    }

    #[test]
    fn another_message_is_left_alone() {
        check("Number of sockets: 2", 1, None);
        check("Number of CUDA events collected: many", 1, None);
        check("Not all CUDA events might have been collected.", 1, None);
    }
}
