//! The page of the rules.

use ds_derive::{Knob, THRESHOLDS, rules_markdown};

#[test]
fn every_rule_says_what_it_sets_and_where_it_comes_from() {
    let page = rules_markdown();
    let sections: Vec<&str> = page.split("\n## ").skip(1).collect();
    let ids: Vec<&str> = sections
        .iter()
        .filter_map(|section| section.split(':').next())
        .collect();
    let expected = ["R1", "R2", "R3", "R4", "R4a", "R5", "R6", "R7"];
    let (rules, bounds) = sections.split_at(expected.len());
    assert_eq!(ids[..expected.len()], expected);
    assert_eq!(bounds.len(), 1);
    let rows = bounds[0]
        .lines()
        .filter(|line| line.starts_with("| "))
        .count();
    assert_eq!(rows, 1 + THRESHOLDS.len(), "a header and every threshold");
    for section in rules {
        assert!(
            section.contains("| Knob | ")
                || section.contains("| Queue | ")
                || section.contains("| Ceiling | "),
            "{section}"
        );
        assert!(!section.contains("//!"), "{section}");
    }
}

#[test]
fn every_knob_stands_on_the_page() {
    let page = rules_markdown();
    for knob in Knob::ALL {
        let name = knob.name();
        // The denominators are listed as `-d` behind their numerators.
        let name = name
            .strip_suffix("-d")
            .map_or_else(|| name.to_owned(), |stem| format!("{stem}-n"));
        assert!(page.contains(&name), "{name}");
    }
}
