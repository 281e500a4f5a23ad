//! A trace beside a sampled profile.

use ds_nsys::{CategoryOptions, Join, SampledItem, SampledProfile, Share, Trace};

use super::synthetic::{Export, ONE};

/// 600 ns of products by two kernels, 300 ns of attention, 100 ns of an unknown one.
fn trace() -> (tempfile::TempPath, Trace) {
    let mut export = Export::new();
    for (at, (name, length)) in (1_i64..).zip([
        ("void gemm_a<1>(int)", 400),
        ("void gemm_b<1>(int)", 200),
        ("flash_fwd_kernel", 300),
        ("secret", 100),
    ]) {
        export.kernel(ONE, name, at * 10_000, at * 10_000 + length);
    }
    export.open()
}

fn join(tsv: &str) -> Join {
    let (_file, trace) = trace();
    let sampled = SampledProfile::parse(tsv).expect("a sound profile");
    trace
        .join(&sampled, &CategoryOptions::default())
        .expect("readable")
        .expect("kernels")
}

#[track_caller]
fn near(share: Option<Share>, expected: f64) {
    let share = share.expect("a share").0;
    assert!((share - expected).abs() < 1e-9, "{share}");
}

#[test]
fn kernels_are_joined_by_category_and_by_name() {
    let found = join(
        "kernel\tsamples\nvoid gemm_a<2>(int)\t1500\nflash_fwd_kernel\t300\nrms_norm_kernel\t200\n",
    );
    assert_eq!(found.samples, 2_000);
    assert!(!found.is_weak());
    let row = |name: &str| {
        let row = found.rows.iter().find(|row| row.category.name() == name);
        row.expect("a row")
    };
    // 600 of 1,000 ns traced, 1,500 of 2,000 samples: 15 points less in the trace.
    near(row("gemm").traced, 0.6);
    near(row("gemm").sampled, 0.75);
    assert!((row("gemm").difference().0 + 0.15).abs() < 1e-9);
    let constituents: Vec<&str> = row("gemm")
        .kernels
        .iter()
        .map(|k| k.name.as_str())
        .collect();
    assert_eq!(constituents, ["gemm_a", "gemm_b"]);
    // Two kernels of 2/3 and 1/3: 1 / (4/9 + 1/9) = 1.8.
    assert!((row("gemm").effective_kernels.expect("kernels").0 - 1.8).abs() < 1e-9);
    near(row("attention").traced, 0.3);
    assert_eq!(row("normalization").traced, None);
    near(row("normalization").sampled, 0.1);
    assert_eq!(row("other").sampled, None);
    near(found.unclassified, 0.1);
    // Another template argument is the same kernel.
    let names = |unmatched: &[(String, Share)]| -> Vec<String> {
        unmatched.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&found.only_traced), ["gemm_b", "secret"]);
    assert_eq!(names(&found.only_sampled), ["rms_norm_kernel"]);
}

#[test]
fn another_tools_categories_are_known_by_their_aliases() {
    let found = join("category\tsamples\ncuBLAS\t60\nFMHA\t30\nWarp-drive\t10\n");
    assert!(found.is_weak());
    let sampled: Vec<(&str, Option<Share>)> = found
        .rows
        .iter()
        .map(|row| (row.category.name(), row.sampled))
        .collect();
    assert_eq!(
        sampled,
        [
            ("gemm", Some(Share(0.6))),
            ("attention", Some(Share(0.3))),
            ("other", None)
        ]
    );
    assert_eq!(found.only_sampled, [("Warp-drive".to_owned(), Share(0.1))]);
    assert_eq!(found.only_traced, []);
}

#[test]
fn columns_are_found_by_their_heading() {
    let text = "\u{feff}# made elsewhere\nsamples\tKernel\thost\r\n5\ta b\tx\r\n\r\n7\tc\ty\r\n";
    let sampled = SampledProfile::parse(text).expect("a sound profile");
    assert_eq!(
        (sampled.samples(), sampled.counts()),
        (12, SampledItem::Kernel)
    );
}

#[test]
fn a_profile_that_cannot_be_read_names_its_line() {
    for (text, says) in [
        ("", "sampled profile, line 1: no heading"),
        (
            "a\tb\n",
            "sampled profile, line 1: no column `kernel` or `category`",
        ),
        (
            "kernel\tcount\n",
            "sampled profile, line 1: no column `samples`",
        ),
        (
            "kernel\tsamples\na\t1\nb\n",
            "sampled profile, line 3: 1 of 2 columns",
        ),
        (
            "kernel\tsamples\na\t1.5\n",
            "sampled profile, line 2: `1.5` is no number of samples",
        ),
        (
            "kernel\tsamples\na\t-3\n",
            "sampled profile, line 2: `-3` is no number of samples",
        ),
    ] {
        let error = SampledProfile::parse(text).expect_err(text);
        assert_eq!(error.to_string(), says);
    }
}

#[test]
fn an_empty_profile_has_no_shares() {
    let found = join("kernel\tsamples\n");
    assert_eq!(found.samples, 0);
    assert!(found.rows.iter().all(|row| row.sampled.is_none()));
}
