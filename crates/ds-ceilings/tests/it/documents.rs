//! The generated page.

use ds_ceilings::{GpuTable, ceilings_document};

/// One section of the page, from its heading to the next one.
fn section<'p>(page: &'p str, heading: &str) -> &'p str {
    let start = page
        .find(&format!("{heading}\n"))
        .unwrap_or_else(|| panic!("no section `{heading}`"));
    let rest = &page[start..];
    let end = rest[3..]
        .find("\n## ")
        .into_iter()
        .chain(rest[3..].find("\n### "))
        .min();
    end.map_or(rest, |end| &rest[..end + 3])
}

#[test]
fn every_product_has_a_section_with_sources() {
    let page = ceilings_document(GpuTable::built_in());
    for name in GpuTable::built_in().names() {
        assert!(
            section(&page, &format!("### {name}")).contains("- Sources"),
            "{name}"
        );
    }
    let mut headings: Vec<&str> = page.lines().filter(|line| line.starts_with('#')).collect();
    let all = headings.len();
    headings.sort_unstable();
    headings.dedup();
    assert_eq!(headings.len(), all, "no heading stands twice");
    assert_eq!(
        page,
        ceilings_document(GpuTable::built_in()),
        "the same table gives the same bytes"
    );
}

#[test]
fn sections_read_well() {
    let page = ceilings_document(GpuTable::built_in());
    insta::assert_snapshot!(
        "document__head_and_measured",
        section(&page, "# Ceilings").to_owned() + section(&page, "## What was reached")
    );
    for (snapshot, name) in [
        ("document__h200", "NVIDIA H200"),
        ("document__l40s", "NVIDIA L40S"),
        ("document__b300", "NVIDIA B300 SXM6 AC"),
        ("document__agx_orin_64gb", "Jetson AGX Orin 64GB"),
        ("document__gb10", "NVIDIA GB10"),
    ] {
        insta::assert_snapshot!(snapshot, section(&page, &format!("### {name}")));
    }
}
