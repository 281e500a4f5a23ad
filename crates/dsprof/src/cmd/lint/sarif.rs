//! Findings as SARIF 2.1.0 (OASIS), the format in which code hosts take them.

use ds_config::{Finding, RULES, Rule, Severity};
use serde_json::{Value, json};

/// A document with one run.
pub(super) fn document(findings: &[Finding]) -> Value {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "dsprof",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": RULES.iter().map(rule).collect::<Vec<_>>(),
            }},
            // Columns count characters, not the UTF-16 units that are the default.
            "columnKind": "unicodeCodePoints",
            "results": findings.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn rule(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.reason},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": level(rule.severity)},
    })
}

fn result(finding: &Finding) -> Value {
    let locations: Vec<Value> = finding
        .place
        .iter()
        .map(|place| {
            json!({"physicalLocation": {
                "artifactLocation": {"uri": uri(&place.path)},
                "region": {"startLine": place.place.line, "startColumn": place.place.column},
            }})
        })
        .collect();
    json!({
        "ruleId": finding.rule.id,
        "ruleIndex": RULES.iter().position(|rule| rule.id == finding.rule.id),
        "level": level(finding.severity),
        "message": {"text": format!("{}; {}", finding.message, finding.remedy)},
        "locations": locations,
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// A path as a URI reference (RFC 3986): an absolute path becomes a file URI, a relative one stays
/// relative to wherever the document is read.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            other => uri.extend([
                '%',
                char::from(b"0123456789ABCDEF"[usize::from(other >> 4)]),
                char::from(b"0123456789ABCDEF"[usize::from(other & 15)]),
            ]),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_become_uri_references() {
        assert_eq!(uri("conf/app 1.txt"), "conf/app%201.txt");
        assert_eq!(uri("/opt/ü.txt"), "file:///opt/%C3%BC.txt");
    }
}
