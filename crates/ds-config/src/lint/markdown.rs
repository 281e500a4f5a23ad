//! The page that documents the rules.

use std::fmt::Write as _;

use super::rule::Rule;
use super::rules::RULES;

/// What the rules of one subject have in common, by the letter of their codes.
const SUBJECTS: [(char, &str); 9] = [
    ('A', "The mux"),
    ('B', "Output and measurement"),
    ('C', "The tracker"),
    ('E', "The application against the inference's file"),
    ('N', "The inference's file"),
    ('S', "Sources"),
    ('P', "Stages"),
    ('M', "The new mux"),
    ('U', "Keys"),
];

const INTRODUCTION: &str = "\
# Lint

Generated from the table of rules in `crates/ds-config/src/lint/rules/`; edit that.

`dsprof lint` looks for faults that cost speed, falsify a measurement or keep a pipeline from working, before anything is
run. A rule is silent where its guard applies, and where it would need something that neither the files nor the caller
tell: a value that a program computes is not guessed.

A comment allows what is meant, on the line of the finding or on the line above it, wherever the syntax has comments; for
a command over several lines it stands above the command:

```ini
# dsprof: allow DS002, DS004
batch-size=32
```
";

/// The documentation of every rule, as Markdown.
#[must_use]
pub fn lint_markdown() -> String {
    let mut out = INTRODUCTION.to_owned();
    out.push_str("\n| Id | Severity | Finding | Fixed by |\n|---|---|---|---|\n");
    for rule in &RULES {
        let (id, severity, title) = (rule.id, rule.severity, rule.title);
        let fixed_by = rule.fixed_by.unwrap_or("–");
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "| [{id}](#{}) | {severity} | {title} | {fixed_by} |",
            id.to_lowercase()
        );
    }
    let mut subject = "";
    for rule in &RULES {
        let of_rule = subject_of(rule);
        if of_rule != subject {
            subject = of_rule;
            let _ = write!(out, "\n## {subject}\n");
        }
        section(&mut out, rule);
    }
    out
}

fn subject_of(rule: &Rule) -> &'static str {
    SUBJECTS
        .iter()
        .find(|(letter, _)| rule.code.starts_with(*letter))
        .map_or("Syntax", |(_, name)| name)
}

fn section(out: &mut String, rule: &Rule) {
    let Rule {
        id,
        severity,
        title,
        reason,
        guard,
        remedy,
        ..
    } = rule;
    let _ = write!(
        out,
        "\n### {id}\n\n**{severity}**: {title}.\n\n{reason}\n\n- Silent: {}\n- Remedy: {remedy}.\n",
        if *guard == "–" { "never." } else { guard }
    );
    if let Some(rule) = rule.fixed_by {
        let _ = writeln!(out, "- Put right by {rule} of the plan.");
    }
}
