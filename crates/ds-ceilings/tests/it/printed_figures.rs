//! The formulas, fed from the table, against the figures that NVIDIA prints.

use std::collections::BTreeMap;

use ds_ceilings::{
    BytesPerSec, Ceilings, GpuQuery, GpuSpec, GpuTable, OpsPerSec, Precision, Resolution,
    VideoProfile, memory_rate,
};

use crate::support::{csv_rows, testdata};

/// What issue and facts ask for: within two percent of the printed figure.
const TOLERANCE: f64 = 0.02;

/// The product that a row of the comparison speaks of.
fn product(name: &str) -> &'static GpuSpec {
    // Jetson rows carry the module in brackets, where the table has its own label for Thor.
    let label = match name.split_once('[') {
        Some((_, "Jetson AGX Thor / T5000]")) => "Jetson Thor T5000",
        Some((_, "Jetson T4000]")) => "Jetson Thor T4000",
        Some((_, module)) => module.trim_end_matches(']'),
        // The comparison was made for the 10 GB board.
        None if name == "NVIDIA GeForce RTX 3080" => "NVIDIA GeForce RTX 3080 (10 GB)",
        None => name,
    };
    let found = GpuTable::built_in().find(&GpuQuery::by_name(label));
    found
        .found()
        .unwrap_or_else(|| panic!("`{name}` is not in the table"))
}

fn precision(quantity: &str) -> Option<Precision> {
    Some(match quantity {
        "FP16" => Precision::Fp16,
        "FP16_FP32ACC" => Precision::Fp16Acc32,
        "TF32" => Precision::Tf32,
        "FP8" => Precision::Fp8,
        "FP8_FP32ACC" => Precision::Fp8Acc32,
        "INT8" => Precision::Int8,
        "FP4" => Precision::Fp4,
        _ => return None,
    })
}

fn computed(row: &BTreeMap<String, String>) -> Option<f64> {
    let spec = product(&row["product"]);
    match precision(&row["quantity"]) {
        Some(precision) => {
            let ceilings = Ceilings::planned(spec.label(), GpuTable::built_in());
            ceilings
                .tensor(precision)?
                .published
                .value()
                .map(OpsPerSec::tera)
        }
        None => {
            let rate = memory_rate(spec.memory.clock?, spec.memory.bus_bits?);
            Some(BytesPerSec::giga(rate))
        }
    }
}

#[test]
fn every_unflagged_figure_is_met_within_two_percent() {
    let rows = csv_rows(&testdata("formula_check.csv"));
    let (mut tensor, mut bandwidth) = (0, 0);
    for row in rows
        .iter()
        .filter(|row| row["flag"].is_empty() && !row["published"].is_empty())
    {
        let (name, quantity) = (&row["product"], &row["quantity"]);
        let published: f64 = row["published"].parse().expect("a figure");
        let value = computed(row).unwrap_or_else(|| panic!("{name}: no {quantity} from the table"));
        let error = value / published - 1.0;
        assert!(
            error.abs() <= TOLERANCE,
            "{name} {quantity}: {value:.1} against {published}, {error:+.4}"
        );
        if quantity == "MEM_BW" {
            bandwidth += 1;
        } else {
            tensor += 1;
        }
    }
    assert_eq!(
        (tensor, bandwidth),
        (105, 36),
        "comparisons of tensor rates and of bandwidths"
    );
}

/// Rows without a printed figure still say what the formula gives; the table must give the same.
/// Rows for another clock than the published one (the machine's maximum, or the real clock of GB10
/// where its rounded figure implies a higher one) are left out.
#[test]
fn every_formula_row_is_reproduced_from_the_table() {
    let rows = csv_rows(&testdata("formula_check.csv"));
    let at_published_clock = |row: &&BTreeMap<String, String>| {
        let clock = product(&row["product"]).published_clock();
        row["quantity"] == "MEM_BW"
            || clock.is_some_and(|clock| clock.get().to_string() == row["clock_mhz"])
    };
    let mut compared = 0;
    for row in rows.iter().filter(at_published_clock) {
        let (name, quantity) = (&row["product"], &row["quantity"]);
        let expected: f64 = row["formula"].parse().expect("a figure");
        let value = computed(row).unwrap_or_else(|| panic!("{name}: no {quantity} from the table"));
        assert!(
            (value - expected).abs() <= 0.051,
            "{name} {quantity}: {value} against {expected}"
        );
        compared += 1;
    }
    assert_eq!(
        compared, 306,
        "of 311 rows, four are for a wrong clock and one for GB10's own"
    );
}

/// The flags of the comparison mark what proves nothing; the table knows the same of its clocks.
#[test]
fn a_fitted_clock_is_marked_as_such() {
    let rows = csv_rows(&testdata("formula_check.csv"));
    let circular = rows
        .iter()
        .filter(|row| row["flag"] == "CIRCULAR" && !row["published"].is_empty());
    let mut seen = 0;
    for row in circular.filter(|row| row["remark"].contains("clock fitted")) {
        let ceilings = Ceilings::planned(product(&row["product"]).label(), GpuTable::built_in());
        let precision = precision(&row["quantity"]).expect("only tensor rates are circular");
        let published = &ceilings
            .tensor(precision)
            .expect("every precision has an entry")
            .published;
        let caveat = published
            .known()
            .and_then(|ceiling| ceiling.caveat.as_deref());
        assert_eq!(
            caveat,
            Some("the clock was computed back from the printed figure"),
            "{}",
            row["product"]
        );
        seen += 1;
    }
    assert!(seen > 10, "only {seen} circular rows were looked at");
}

#[test]
fn decoder_totals_follow_from_engine_figure_clock_and_count() {
    let rows = csv_rows(&testdata("nvdec_totals.csv"));
    assert_eq!(rows.len(), 43);
    for row in &rows {
        let gpu = row["gpu_or_arch"].trim_end_matches(" / 80GB");
        // 10 GB and 12 GB boards carry the same decoder; the label says which one is meant.
        let gpu = if gpu == "NVIDIA GeForce RTX 3080" {
            "NVIDIA GeForce RTX 3080 (10 GB)"
        } else {
            gpu
        };
        let key = if row["bit_depth"] == "10" {
            format!("{}_10", row["codec"])
        } else {
            row["codec"].clone()
        };
        let profile = VideoProfile::PRINTED
            .into_iter()
            .find(|profile| profile.key() == key)
            .expect("a known codec");
        let ceilings = Ceilings::planned(gpu, GpuTable::built_in());
        let fps = ceilings.decode_fps(profile.codec, profile.depth, Resolution::FULL_HD);
        let total = fps
            .value()
            .unwrap_or_else(|| panic!("{gpu} {key}: {:?}", fps.reason()))
            .get();
        let expected: f64 = row["fps_total"].parse().expect("a figure");
        assert!(
            (total - expected).abs() <= 0.51,
            "{gpu} {key}: {total} against {expected}"
        );
        assert_eq!(
            ceilings.decoder.engines().map(|count| count.to_string()),
            Some(row["nvdec_count"].clone())
        );
        let engine = total / f64::from(ceilings.decoder.engines().expect("checked above"));
        let per_engine: f64 = row["fps_per_nvdec"].parse().expect("a figure");
        assert!(
            (engine - per_engine).abs() <= 0.051,
            "{gpu} {key}: {engine} an engine against {per_engine}"
        );
    }
}
