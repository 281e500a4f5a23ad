//! The data files against the collected facts, value by value.

use std::collections::BTreeMap;

use ds_ceilings::{
    BitDepth, BytesPerSec, ClockBasis, Codec, Fps, GpuMatch, GpuQuery, GpuSpec, GpuTable,
    Megahertz, OpsPerSec, Precision, VideoProfile,
};

use crate::support::{csv_rows, shared};

type Row = BTreeMap<String, String>;

/// The entry of a row: by its name, and for shared names by the size, core count or module that the
/// row is about.
fn entry(row: &Row) -> &'static GpuSpec {
    let name = row["name_pattern"].as_str();
    let sm_count = row["sm_count"].parse().ok();
    let boost: Option<u32> = row["boost_clock_mhz"].parse().ok();
    let query = GpuQuery {
        sm_count,
        ..GpuQuery::by_name(name)
    };
    match GpuTable::built_in().find(&query) {
        GpuMatch::Found(spec) => spec,
        GpuMatch::Ambiguous { candidates } => {
            let same_clock = |spec: &&&GpuSpec| spec.boost_clock.map(Megahertz::get) == boost;
            candidates
                .iter()
                .find(same_clock)
                .unwrap_or_else(|| panic!("{name}: no entry of this clock"))
        }
        GpuMatch::Unknown { .. } => panic!("{name} is not in the table"),
    }
}

#[track_caller]
fn check(row: &Row, column: &str, value: Option<f64>) {
    let expected: Option<f64> = row[column].parse().ok();
    let same = match (value, expected) {
        (Some(value), Some(expected)) => (value - expected).abs() < 1e-9 * expected.abs().max(1.0),
        (None, None) => true,
        _ => false,
    };
    assert!(
        same,
        "{} {column}: {value:?} against {expected:?}",
        row["name_pattern"]
    );
}

#[test]
fn every_product_is_taken_over_as_collected() {
    let Some(root) = shared("facts") else { return };
    let rows = csv_rows(&root.join("gpus.csv"));
    assert_eq!(rows.len(), 115);
    let mhz = |clock: Option<Megahertz>| clock.map(|clock| f64::from(clock.get()));
    for row in &rows {
        let spec = entry(row);
        assert_eq!(
            spec.compute_cap.to_string(),
            row["compute_cap"],
            "{}",
            spec.label()
        );
        assert_eq!(spec.architecture, row["architecture"], "{}", spec.label());
        assert_eq!(spec.memory.kind, row["mem_type"], "{}", spec.label());
        check(row, "sm_count", spec.sm_count.map(f64::from));
        check(row, "boost_clock_mhz", mhz(spec.boost_clock));
        check(
            row,
            "tensor_clock_mhz",
            mhz(spec.tensor_clock.map(|tensor| tensor.clock)),
        );
        let is_printed = spec
            .tensor_clock
            .map(|tensor| tensor.basis == ClockBasis::Printed);
        assert_eq!(
            is_printed.unwrap_or(false),
            row["tensor_clock_status"].starts_with("printed")
        );
        check(
            row,
            "mem_bus_width_bits",
            spec.memory.bus_bits.map(f64::from),
        );
        check(row, "mem_clock_mhz_smi_max", mhz(spec.memory.clock));
        check(
            row,
            "mem_bandwidth_gb_s",
            spec.memory.bandwidth.map(BytesPerSec::giga),
        );
        for (precision, printed, ops) in [
            (Precision::Fp16, "fp16_tensor_dense_tflops", "ops_fp16"),
            (Precision::Fp8, "fp8_dense_tflops", "ops_fp8"),
            (Precision::Fp4, "fp4_dense_tflops", "ops_fp4"),
        ] {
            check(row, printed, spec.printed(precision).map(OpsPerSec::tera));
            check(row, ops, spec.ops_per_clk_sm(precision).map(f64::from));
        }
        check(
            row,
            "int8_tensor_dense_tops",
            spec.printed(Precision::Int8).map(OpsPerSec::tera),
        );
        // The collected column is for tensor cores; of Volta the table also holds the rate of dp4a.
        if row["compute_cap"] != "7.0" {
            check(
                row,
                "ops_int8",
                spec.ops_per_clk_sm(Precision::Int8).map(f64::from),
            );
        }
        check(row, "nvdec_count", spec.nvdec.count.map(f64::from));
        check(row, "nvenc_count", spec.nvenc_count.map(f64::from));
        check(row, "pcie_gen_max", spec.pcie_gen().map(f64::from));
        check(row, "pcie_width_max", spec.pcie_width().map(f64::from));
        check(row, "tdp_w", spec.tdp_w.map(f64::from));
        check(
            row,
            "max_video_clock_mhz_seen",
            mhz(spec.seen_video_clock()),
        );
        check(row, "smi_max_sm_clock_mhz_seen", mhz(spec.seen_sm_clock()));
        assert_eq!(
            spec.is_quoted(),
            row["check_pdf"] == "yes",
            "{}",
            spec.label()
        );
    }
    println!("shared-test: every_product_is_taken_over_as_collected");
}

#[test]
fn every_decoder_figure_is_taken_over_as_collected() {
    let Some(root) = shared("facts") else { return };
    let rows = csv_rows(&root.join("nvdec.csv"));
    let caps =
        ["6.1", "7.5", "8.6", "8.9", "10.0", "11.0"].map(|cap| cap.parse().expect("a capability"));
    let engines = caps.map(|cap| GpuTable::built_in().engine(cap).expect("an engine"));
    let (mut engine_figures, mut module_figures) = (0, 0);
    for row in &rows {
        let name = &row["gpu_or_arch"];
        match row["record"].as_str() {
            "official_per_engine" => {
                let codec: Codec = row["codec"].parse().expect("a codec");
                let depth = if row["bit_depth"] == "10" {
                    BitDepth::Ten
                } else {
                    BitDepth::Eight
                };
                let engine = engines
                    .iter()
                    .find(|engine| engine.architecture == *name)
                    .expect("an engine");
                let fps = engine
                    .fps_1080p(VideoProfile::new(codec, depth))
                    .map(Fps::get);
                assert_eq!(
                    fps.map(|fps| fps.to_string()).as_ref(),
                    Some(&row["fps_per_nvdec"]),
                    "{name}"
                );
                let clock = engine.reference_clock.map(|clock| clock.get().to_string());
                assert_eq!(clock.as_ref(), Some(&row["ref_video_clock_mhz"]), "{name}");
                engine_figures += 1;
            }
            "official_module_total" => {
                let module = GpuTable::built_in().module(name).expect("a module");
                let size = format!("{}x{}", row["width"], row["height"]).parse().ok();
                let rate = module
                    .rates()
                    .iter()
                    .find(|rate| rate.resolution() == size)
                    .expect("a size");
                // A size may be printed at two frame rates; the table holds the larger total.
                let total: f64 = row["fps_total"].parse().expect("a rate");
                assert!(
                    rate.fps().is_some_and(|fps| fps.get() >= total),
                    "{name} {size:?}"
                );
                module_figures += 1;
            }
            _ => {}
        }
    }
    assert_eq!((engine_figures, module_figures), (33, 27));
    println!("shared-test: every_decoder_figure_is_taken_over_as_collected");
}

#[test]
fn every_mig_profile_is_taken_over_as_collected() {
    let Some(root) = shared("facts") else { return };
    let rows = csv_rows(&root.join("mig_profiles.csv"));
    let profiles = GpuTable::built_in().mig_profiles();
    assert_eq!(rows.len(), profiles.len());
    for (row, profile) in rows.iter().zip(profiles) {
        let place = format!("{} {}", profile.gpu, profile.name);
        assert_eq!(profile.gpu, row["gpu"]);
        assert!(row["profile"].contains(&profile.name), "{place}");
        assert_eq!(profile.sm_count.to_string(), row["sm"], "{place}");
        assert_eq!(profile.engines.nvdec.to_string(), row["nvdec"], "{place}");
        for (count, column) in [
            (profile.engines.nvenc, "nvenc"),
            (profile.engines.copy, "copy_engines"),
            (profile.engines.jpeg, "jpeg"),
            (profile.engines.ofa, "ofa"),
            (profile.max_instances, "max_instances"),
        ] {
            assert_eq!(
                count.map_or_else(String::new, |count| count.to_string()),
                row[column],
                "{place} {column}"
            );
        }
        let memory = profile
            .memory
            .map_or_else(String::new, |memory| format!("{memory:.2}"));
        assert_eq!(
            memory.trim_end_matches(" GiB"),
            row["memory_gib"],
            "{place}"
        );
    }
    println!("shared-test: every_mig_profile_is_taken_over_as_collected");
}
