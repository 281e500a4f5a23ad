//! The documentation of the rules, from the header comment of each rule's file and the table of bounds.

use std::fmt::Write as _;

use crate::bound::THRESHOLDS;
use crate::rules::RULES;

/// The text of `docs/rules.md`: what each rule sets, its formula, its sources and when it holds back; then the
/// thresholds that decide what bounds a pipeline.
#[must_use]
pub fn rules_markdown() -> String {
    let mut page = String::from(
        "# Rules\n\n\
         Generated from the header comments of `crates/ds-derive/src/rules/`; edit those.\n\n\
         Rules run once, in this order, and the same facts give the same plan to the byte. The final batch is \
         min(plateau, streams); where the sweep did not reach its plateau it is min(largest batch that ran, streams), \
         and before a sweep min(streams, 16).\n",
    );
    for rule in &RULES {
        let header = rule
            .source
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line));
        writeln!(page, "\n## {}: {}\n", rule.id, rule.title).expect("a string takes every write");
        for line in header {
            page.push_str(line);
            page.push('\n');
        }
    }
    page.push_str(
        "\n## What bounds a pipeline\n\n\
         Read from the top: the first bound with evidence for it and none against it wins.\n\n\
         | Bound | Signal | Limit | Source |\n|---|---|---|---|\n",
    );
    for row in THRESHOLDS {
        let (kind, signal, relation, limit) = (row.kind, row.signal, row.relation, row.limit);
        let source = row.source;
        writeln!(
            page,
            "| {kind} | {signal} | {relation} {limit:.0} | {source} |"
        )
        .expect("a string takes every write");
    }
    page
}
