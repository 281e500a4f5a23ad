//! Real files, where the shared corpus is at hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ds_config::{Finding, LintContext, RULES, lint_bytes};

/// Every file below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let entries = fs::read_dir(folder).expect("the folder can be read");
    for entry in entries {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            out.extend(files(&path));
        } else {
            out.push(path);
        }
    }
    out.sort();
    out
}

#[test]
fn real_files_have_findings_and_make_no_rule_panic() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if !corpus.is_dir() {
        println!("skipped: ../shared is not there");
        return;
    }
    println!("shared-test: corpus_lint");
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for path in files(&corpus) {
        let name = path
            .strip_prefix(&corpus)
            .expect("it is below")
            .to_string_lossy();
        let bytes = fs::read(&path).expect("the file can be read");
        let findings = lint_bytes(&name, &bytes, &LintContext::default());
        for finding in &findings {
            let place = finding
                .place
                .as_ref()
                .expect("every finding in a file has a place");
            assert_eq!(place.path, name);
            let n_lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            assert!((1..=n_lines).contains(&place.place.line), "{finding}");
        }
        count(&findings, &mut counts);
    }
    println!("rule   code  files  findings");
    for rule in &RULES {
        let (n_files, n_findings) = counts.get(rule.id).copied().unwrap_or_default();
        println!(
            "{:<6} {:<5} {n_files:>5} {n_findings:>9}",
            rule.id, rule.code
        );
    }
    // Each of these was looked at: commands with an open quote, a bare bracket, a `!` at the end of a
    // line, and one that a test of a validator holds on purpose. No key file has a refused value.
    assert_eq!(counts.get("DS051"), Some(&(5, 5)));
    assert_eq!(counts.get("DS052"), None);
    // FP32 is what 48 of the nvinfer files ask for.
    assert_eq!(counts.get("DS033"), Some(&(48, 48)));
}

/// Adds the findings of one file.
fn count(findings: &[Finding], counts: &mut BTreeMap<&'static str, (usize, usize)>) {
    let mut ids: Vec<&str> = findings.iter().map(|finding| finding.rule.id).collect();
    for id in &ids {
        counts.entry(id).or_default().1 += 1;
    }
    ids.sort_unstable();
    ids.dedup();
    for id in ids {
        counts.entry(id).or_default().0 += 1;
    }
}
