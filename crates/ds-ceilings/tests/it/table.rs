//! From a name to a product.

use ds_ceilings::{
    Bytes, ComputeCap, GpuMatch, GpuQuery, GpuTable, Precision, ProfileBasis, VideoProfile,
    measurements,
};

fn found(query: &GpuQuery<'_>) -> Option<&'static str> {
    GpuTable::built_in()
        .find(query)
        .found()
        .map(|spec| spec.label())
}

#[track_caller]
fn check(name: &str, expected: Option<&str>) {
    assert_eq!(found(&GpuQuery::by_name(name)), expected, "{name}");
}

#[test]
fn names_match_with_and_without_the_maker() {
    check("NVIDIA H200", Some("NVIDIA H200"));
    check("H200", Some("NVIDIA H200"));
    check("  nvidia   h200 ", Some("NVIDIA H200"));
    check("Tesla T4", Some("Tesla T4"));
    check("NVIDIA T4", Some("Tesla T4"));
    check("NVIDIA Tesla T4", Some("Tesla T4"));
    check("T4", Some("Tesla T4"));
    check("GeForce GTX 1080", Some("NVIDIA GeForce GTX 1080"));
    check("Jetson Orin NX 8GB", Some("Jetson Orin NX 8GB"));
}

#[test]
fn another_product_is_not_matched() {
    // A laptop part, a longer name, a shorter one, a table name that was cut.
    for name in [
        "NVIDIA GeForce RTX 3060 Laptop GPU",
        "NVIDIA A10G-24Q",
        "NVIDIA H",
        "NVIDIA GeForce RTX 2080 ...",
        "",
    ] {
        check(name, None);
    }
    check("NVIDIA A10", Some("NVIDIA A10"));
    check("NVIDIA A10G", Some("NVIDIA A10G"));
}

#[test]
fn an_unknown_name_comes_with_similar_ones() {
    let GpuMatch::Unknown { similar } = GpuTable::built_in().find(&GpuQuery::by_name("RTX 4080"))
    else {
        panic!("`RTX 4080` lacks its brand")
    };
    assert_eq!(
        similar,
        ["NVIDIA GeForce RTX 4080 SUPER", "NVIDIA GeForce RTX 4080"]
    );
    let GpuMatch::Unknown { similar } = GpuTable::built_in().find(&GpuQuery::by_name("")) else {
        panic!("no name")
    };
    assert!(similar.is_empty());
}

#[test]
fn memory_cores_and_width_tell_variants_apart() {
    let name = "NVIDIA GeForce RTX 3080";
    let query = GpuQuery::by_name(name);
    let GpuMatch::Ambiguous { candidates } = GpuTable::built_in().find(&query) else {
        panic!("two boards")
    };
    let labels: Vec<&str> = candidates.iter().map(|spec| spec.label()).collect();
    assert_eq!(
        labels,
        [
            "NVIDIA GeForce RTX 3080 (10 GB)",
            "NVIDIA GeForce RTX 3080 (12 GB)"
        ]
    );
    let (ten, twelve) = (Some(labels[0]), Some(labels[1]));
    let gib = |gib: u64| Some(Bytes::from_mib(gib * 1024));
    assert_eq!(
        found(&GpuQuery {
            memory: gib(10),
            ..query
        }),
        ten
    );
    assert_eq!(
        found(&GpuQuery {
            memory: gib(12),
            ..query
        }),
        twelve
    );
    assert_eq!(
        found(&GpuQuery {
            sm_count: Some(70),
            ..query
        }),
        twelve
    );
    assert_eq!(
        found(&GpuQuery {
            bus_bits: Some(320),
            ..query
        }),
        ten
    );
    // A board of a size that neither has is none of them.
    let GpuMatch::Ambiguous { candidates } = GpuTable::built_in().find(&GpuQuery {
        memory: gib(20),
        ..query
    }) else {
        panic!("no board of 20 GB")
    };
    assert_eq!(candidates.len(), 2);
}

#[test]
fn the_device_tree_tells_jetson_modules_apart() {
    let query = |model, mib| GpuQuery {
        name: "Orin (nvgpu)",
        device_tree: Some(model),
        memory: Some(Bytes::from_mib(mib)),
        ..GpuQuery::default()
    };
    for (model, mib, expected) in [
        (
            "NVIDIA Jetson AGX Orin Developer Kit",
            62_817,
            "Jetson AGX Orin 64GB",
        ),
        (
            "NVIDIA Jetson AGX Orin Developer Kit",
            30_623,
            "Jetson AGX Orin 32GB",
        ),
        (
            "NVIDIA Jetson Orin NX Engineering Reference Developer Kit",
            15_656,
            "Jetson Orin NX 16GB",
        ),
        (
            "NVIDIA Jetson Orin Nano Developer Kit Super",
            7_620,
            "Jetson Orin Nano 8GB",
        ),
    ] {
        assert_eq!(found(&query(model, mib)), Some(expected), "{model}");
    }
    // JetPack 5 has no nvidia-smi and so no name.
    let nameless = GpuQuery {
        name: "",
        ..query("NVIDIA Jetson AGX Orin Developer Kit", 62_817)
    };
    assert_eq!(found(&nameless), Some("Jetson AGX Orin 64GB"));
}

#[test]
fn the_table_is_complete_and_sound() {
    let table = GpuTable::built_in();
    // 115 entries: the 114 products that were collected, and the 12 GB RTX 3080.
    assert_eq!(table.gpus().len(), 115);
    let mut labels: Vec<&str> = table.names().collect();
    labels.sort_unstable();
    labels.dedup();
    assert_eq!(labels.len(), 115, "labels are unique");
    for spec in table.gpus() {
        let label = spec.label();
        assert_eq!(
            found(&GpuQuery::by_name(label)),
            Some(label),
            "a label finds its product"
        );
        assert!(!spec.sources.is_empty(), "{label} has a source");
        assert_eq!(
            spec.nvdec.count.is_some(),
            spec.nvdec.source.is_some(),
            "{label}"
        );
        assert!(spec.compute_cap.cores_per_sm().is_some(), "{label}");
        assert!(
            table.engine(spec.compute_cap).is_some() || spec.compute_cap == ComputeCap::new(8, 7),
            "{label}"
        );
        for precision in Precision::ALL {
            let printed = spec.printed(precision).is_some();
            let derived = spec.ops_per_clk_sm(precision).is_some();
            let exception =
                precision == Precision::Int8 && spec.compute_cap == ComputeCap::new(10, 3);
            assert!(
                !printed || derived || exception,
                "{label}: {precision} is printed, but no rate gives it"
            );
        }
    }
}

#[test]
fn the_exceptions_that_the_capability_hides() {
    let table = GpuTable::built_in();
    let ops = |name, precision| {
        table
            .find(&GpuQuery::by_name(name))
            .found()
            .unwrap_or_else(|| panic!("{name}"))
            .ops_per_clk_sm(precision)
    };
    assert_eq!(ops("NVIDIA A10", Precision::Fp16), Some(1024));
    assert_eq!(ops("NVIDIA A10G", Precision::Fp16), Some(512));
    assert_eq!(ops("NVIDIA L40S", Precision::Int8), Some(2048));
    assert_eq!(ops("NVIDIA L40", Precision::Int8), Some(1024));
    assert_eq!(ops("NVIDIA GeForce GTX 1660 Ti", Precision::Fp16), None);
    assert_eq!(
        ops("NVIDIA GeForce RTX 4090", Precision::Fp16Acc32),
        Some(512)
    );
    assert_eq!(ops("NVIDIA RTX A6000", Precision::Fp16Acc32), Some(1024));
    assert_eq!(ops("Tesla T4", Precision::Bf16), None);
    assert_eq!(ops("NVIDIA H200", Precision::Bf16), Some(4096));
    assert_eq!(ops("NVIDIA B300 SXM6 AC", Precision::Int8), None);
}

#[test]
fn only_newer_engines_decode_av1() {
    let table = GpuTable::built_in();
    for (cap, decodes) in [
        ((7, 5), false),
        ((8, 0), false),
        ((9, 0), false),
        ((8, 6), true),
        ((8, 9), true),
        ((12, 0), true),
    ] {
        let engine = table
            .engine(ComputeCap::new(cap.0, cap.1))
            .unwrap_or_else(|| panic!("no engine for {cap:?}"));
        assert_eq!(engine.decodes(VideoProfile::AV1), decodes, "{cap:?}");
        assert_eq!(
            engine.fps_1080p(VideoProfile::AV1).is_some(),
            decodes,
            "{cap:?}"
        );
    }
}

#[test]
fn mig_profiles_prefer_real_outputs() {
    let table = GpuTable::built_in();
    assert_eq!(table.mig_profiles().len(), 46);
    let profile = table
        .mig_profile("NVIDIA A100-SXM4-40GB", "3g.20gb")
        .expect("two entries");
    assert_eq!(
        (profile.basis, profile.sm_count, profile.engines.nvdec),
        (ProfileBasis::Output, 42, 2)
    );
    let shared = table
        .mig_profile("NVIDIA H200", "1c.3g.71gb")
        .expect("a compute instance");
    assert_eq!((shared.sm_count, shared.engines.nvdec), (16, 3));
    assert!(table.mig_profile("NVIDIA H200", "9g.999gb").is_none());
}

#[test]
fn capabilities_parse_and_print() {
    assert_eq!("9.0".parse(), Ok(ComputeCap::new(9, 0)));
    assert_eq!(ComputeCap::new(12, 1).to_string(), "12.1");
    let error = "9".parse::<ComputeCap>().expect_err("no point");
    assert_eq!(
        error.to_string(),
        "`9` is no compute capability such as `9.0`"
    );
    assert!(ComputeCap::new(10, 0) > ComputeCap::new(9, 0));
}

#[test]
fn every_measurement_belongs_to_a_product() {
    for measurement in measurements() {
        check(&measurement.gpu, Some(&measurement.gpu));
        assert!(measurement.value > 0.0);
        assert_eq!(measurement.date.len(), "2026-11-30".len());
    }
}
