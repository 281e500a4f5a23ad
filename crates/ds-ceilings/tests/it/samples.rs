//! Every sample output against what its index says that a reader must find.

use std::collections::BTreeMap;
use std::path::Path;

use ds_ceilings::{
    Bytes, Clocks, Dmon, DmonColumn, EngineState, Fraction, IDENTITY_FIELDS, Megahertz, MemoryUse,
    MigDevice, MigMode, MigProfiles, PcieReading, SmiFailure, SmiList, SmiQuery, SmiReport, SmiRow,
    SmiTable, SmiVersion, Tegrastats, Topology, Utilization, present,
};

use crate::support::{csv_rows, read, shared, testdata};

/// The value columns of the index. In it, an empty cell says that the output does not contain the
/// value and `NA` that it is printed as missing; a reader must return `None` for both.
const VALUE_COLUMNS: [&str; 22] = [
    "name",
    "compute_cap",
    "memory_total_mib",
    "memory_used_mib",
    "sm_clock_mhz",
    "sm_clock_max_mhz",
    "mem_clock_mhz",
    "mem_clock_max_mhz",
    "video_clock_mhz",
    "video_clock_max_mhz",
    "pcie_gen",
    "pcie_gen_max",
    "pcie_width",
    "pcie_width_max",
    "util_gpu",
    "util_mem",
    "util_enc",
    "util_dec",
    "util_jpg",
    "util_ofa",
    "mig_mode",
    "mig_devices",
];

/// What a reader found: per column the values, in rows.
#[derive(Default)]
struct Found {
    rows: Option<usize>,
    columns: BTreeMap<&'static str, Vec<Option<String>>>,
    driver: Option<String>,
}

impl Found {
    fn push(&mut self, column: &'static str, value: Option<impl ToString>) {
        self.columns
            .entry(column)
            .or_default()
            .push(value.map(|value| value.to_string()));
    }

    fn clocks(&mut self, now: Clocks, max: Clocks) {
        let mhz = |clock: Option<Megahertz>| clock.map(Megahertz::get);
        self.push("sm_clock_mhz", mhz(now.sm));
        self.push("mem_clock_mhz", mhz(now.memory));
        self.push("video_clock_mhz", mhz(now.video));
        self.push("sm_clock_max_mhz", mhz(max.sm));
        self.push("mem_clock_max_mhz", mhz(max.memory));
        self.push("video_clock_max_mhz", mhz(max.video));
    }

    fn memory(&mut self, total: Option<Bytes>, used: Option<Bytes>) {
        self.push("memory_total_mib", total.map(Bytes::mib));
        self.push("memory_used_mib", used.map(Bytes::mib));
    }

    fn pcie(&mut self, pcie: [Option<u32>; 4]) {
        for (column, value) in ["pcie_gen", "pcie_gen_max", "pcie_width", "pcie_width_max"]
            .into_iter()
            .zip(pcie)
        {
            self.push(column, value);
        }
    }

    fn utilization(&mut self, shares: [Option<Fraction>; 6]) {
        let columns = [
            "util_gpu", "util_mem", "util_enc", "util_dec", "util_jpg", "util_ofa",
        ];
        for (column, share) in columns.into_iter().zip(shares) {
            self.push(column, share.map(percent));
        }
    }

    fn mig_mode(&mut self, mode: Option<MigMode>) {
        self.push("mig_mode", mode.map(|mode| format!("{mode:?}")));
    }
}

fn percent(share: Fraction) -> String {
    format!("{:.0}", share.percent())
}

fn show_device(device: &MigDevice, gpu: Option<u32>) -> String {
    let n = |value: Option<u32>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
    let gpu = gpu.map_or_else(String::new, |gpu| format!("gpu={gpu},"));
    let (index, gi, ci) = (
        n(device.index),
        n(device.gpu_instance),
        n(device.compute_instance),
    );
    format!(
        "{index}:{gpu}gi={gi},ci={ci},sm={},dec={}",
        n(device.sm_count),
        n(device.decoders)
    )
}

fn query(text: &str, kind: &str, command: &str) -> Found {
    let parsed = if kind.contains("noheader") {
        let (_, fields) = command
            .split_once("--query-gpu=")
            .expect("the command names its fields");
        // One sample was published without its command; its values are all missing, so the order
        // does not matter.
        let fields = fields.replace(
            "<5 more, memory and utilisation>",
            "memory.total,memory.used,memory.free,utilization.gpu,utilization.memory",
        );
        let (fields, _) = fields.split_once(" --").unwrap_or((&fields, ""));
        SmiQuery::parse_rows(text, &fields.split(',').collect::<Vec<_>>())
    } else {
        SmiQuery::parse(text)
    };
    let parsed = parsed.expect("a sample is readable");
    let mut found = Found {
        rows: Some(parsed.gpus().len()),
        ..Found::default()
    };
    for row in parsed.gpus() {
        query_row(&mut found, row);
    }
    found
}

fn query_row(found: &mut Found, row: &SmiRow) {
    let mhz = |field| row.megahertz(field).expect("a clock").map(Megahertz::get);
    let count = |field| row.count(field).expect("a count");
    let share = |field: &str| row.share(field).expect("a share");
    found.push("name", row.text("name"));
    found.push("compute_cap", row.text("compute_cap"));
    found.memory(
        row.memory("memory.total").expect("memory"),
        row.memory("memory.used").expect("memory"),
    );
    for (column, field) in [
        ("sm_clock_mhz", "clocks.sm"),
        ("sm_clock_max_mhz", "clocks.max.sm"),
        ("mem_clock_mhz", "clocks.current.memory"),
        ("mem_clock_max_mhz", "clocks.max.memory"),
        ("video_clock_mhz", "clocks.current.video"),
    ] {
        found.push(column, mhz(field));
    }
    found.pcie([
        count("pcie.link.gen.current"),
        count("pcie.link.gen.max"),
        count("pcie.link.width.current"),
        count("pcie.link.width.max"),
    ]);
    found.utilization(
        ["gpu", "memory", "encoder", "decoder", "jpeg", "ofa"]
            .map(|name| share(&format!("utilization.{name}"))),
    );
    found.mig_mode(row.text("mig.mode.current").and_then(MigMode::from_cell));
}

fn report(parsed: &SmiReport) -> Found {
    let mut found = Found {
        rows: Some(parsed.gpus.len()),
        driver: parsed.driver_version.clone(),
        ..Found::default()
    };
    for gpu in &parsed.gpus {
        found.push("name", gpu.name.as_deref());
        found.clocks(gpu.clocks, gpu.max_clocks);
        let MemoryUse { total, used, .. } = gpu.memory;
        found.memory(total, used);
        let PcieReading {
            generation,
            max_generation,
            width,
            max_width,
            ..
        } = gpu.pcie;
        found.pcie([generation, max_generation, width, max_width]);
        let Utilization {
            gpu: busy,
            memory,
            encoder,
            decoder,
            jpeg,
            ofa,
            ..
        } = gpu.utilization;
        found.utilization([busy, memory, encoder, decoder, jpeg, ofa]);
        found.mig_mode(gpu.mig_mode);
        for device in &gpu.mig_devices {
            found.push("mig_devices", Some(show_device(device, None)));
        }
    }
    found
}

fn dmon(text: &str) -> Found {
    let parsed = Dmon::parse(text).expect("a sample is readable");
    let mut found = Found {
        rows: Some(parsed.samples().len()),
        ..Found::default()
    };
    for sample in parsed.samples() {
        found.push("sm_clock_mhz", sample.sm_clock.map(Megahertz::get));
        found.push("mem_clock_mhz", sample.memory_clock.map(Megahertz::get));
        found.utilization(DmonColumn::ALL.map(|column| sample.share(column)));
    }
    found
}

fn list(text: &str) -> Found {
    let parsed = SmiList::parse(text).expect("a sample is readable");
    let mut found = Found {
        rows: Some(parsed.gpus.len()),
        ..Found::default()
    };
    for gpu in &parsed.gpus {
        found.push("name", Some(&gpu.name));
        for device in &gpu.mig_devices {
            found.push(
                "mig_devices",
                Some(format!("{}:{}", device.index, device.profile)),
            );
        }
    }
    found
}

fn mig_profiles(text: &str) -> Found {
    let parsed = MigProfiles::parse(text).expect("a sample is readable");
    let mut found = Found {
        rows: Some(parsed.rows.len()),
        ..Found::default()
    };
    for row in &parsed.rows {
        let n = |value: Option<u32>| value.expect("no second line of a sample is cut");
        let (ce, jpeg, ofa) = (n(row.copy_engines), n(row.jpeg), n(row.ofa));
        let engines = format!(
            "sm={},dec={},enc={},ce={ce},jpeg={jpeg},ofa={ofa}",
            row.sm_count, row.decoders, row.encoders
        );
        let (name, id, free, total) = (&row.name, row.id, row.free, row.total);
        let memory = format!("{:.2}", row.memory);
        let gib = memory.trim_end_matches(" GiB");
        found.push(
            "mig_devices",
            Some(format!(
                "{name}:id={id},free={free},total={total},gib={gib},{engines}"
            )),
        );
    }
    found
}

fn table(text: &str) -> Found {
    let parsed = SmiTable::parse(text).expect("a sample is readable");
    let rows = Some(parsed.gpus.len()).filter(|rows| *rows > 0);
    let mut found = Found {
        rows,
        driver: parsed.driver_version.clone(),
        ..Found::default()
    };
    for gpu in &parsed.gpus {
        found.push("name", Some(&gpu.name));
        found.memory(gpu.memory_total, gpu.memory_used);
        found.push("util_gpu", gpu.gpu.map(percent));
        found.mig_mode(gpu.mig_mode);
    }
    for (gpu, device) in &parsed.mig_devices {
        found.push("mig_devices", Some(show_device(device, Some(*gpu))));
    }
    found
}

fn tegrastats(text: &str) -> Found {
    let parsed = Tegrastats::parse(text).expect("a sample is readable");
    let mut found = Found {
        rows: Some(parsed.len()),
        ..Found::default()
    };
    for line in &parsed {
        found.push(
            "sm_clock_mhz",
            line.gpu_clocks.first().map(|clock| clock.get()),
        );
        found.push("util_gpu", line.gpu.map(percent));
        let (share, clock) = match line.decoders.first() {
            Some(EngineState::On { share, clock }) => {
                (*share, clock.map(|clock| clock.get().to_string()))
            }
            Some(EngineState::Off) => (None, Some("off".to_owned())),
            _ => (None, None),
        };
        found.push("video_clock_mhz", clock);
        found.push("util_dec", share.map(percent));
    }
    found
}

fn show_failure(failure: &SmiFailure) -> String {
    match failure {
        SmiFailure::GpuLost { bus_id } => format!("GpuLost({bus_id})"),
        SmiFailure::HandleUnknown { bus_id } => format!("HandleUnknown({bus_id})"),
        SmiFailure::InvalidField { field } => format!("InvalidField({field})"),
        other => format!("{other:?}"),
    }
}

/// Reads one sample by its kind and compares everything that the index says about it.
#[track_caller]
fn check(root: &Path, row: &BTreeMap<String, String>) {
    let (file, kind) = (row["file"].as_str(), row["kind"].as_str());
    let text = read(&root.join(file));
    let found = match kind {
        "cell value" => {
            assert_eq!(present(&text), None, "{file}");
            Found::default()
        }
        "error" => {
            let failure =
                SmiFailure::from_text(&text).unwrap_or_else(|| panic!("{file} is no known error"));
            assert_eq!(show_failure(&failure), row["error"], "{file}");
            assert!(!failure.remedy().is_empty(), "{file}");
            Found::default()
        }
        "dmon" => dmon(&text),
        "-L" => list(&text),
        "mig -lgip" => mig_profiles(&text),
        "tegrastats" => tegrastats(&text),
        "-q -x xml" => report(&SmiReport::parse_xml(&text).expect("a sample is readable")),
        "-q text" => report(&SmiReport::parse_text(&text).expect("a sample is readable")),
        "--version" => {
            let version = SmiVersion::parse(&text).expect("a sample is readable");
            Found {
                driver: version.driver,
                ..Found::default()
            }
        }
        "topo -m" => {
            let topology = Topology::parse(&text).expect("a sample is readable");
            assert_eq!(
                topology.columns,
                ["GPU0", "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"],
                "{file}"
            );
            let [row] = topology.rows.as_slice() else {
                panic!("{file} has one GPU")
            };
            assert_eq!(row.device, "GPU0");
            assert_eq!(row.cells.first().and_then(Option::as_deref), Some("X"));
            Found::default()
        }
        "field list" => {
            field_list(&root.join(file), &row["notes"]);
            Found::default()
        }
        kind if kind.starts_with("query-gpu csv") => query(&text, kind, &row["command"]),
        kind if kind.starts_with("default table") => table(&text),
        other => panic!("{file}: no reader for the kind `{other}`"),
    };
    compare(file, row, &found);
}

#[track_caller]
fn compare(file: &str, row: &BTreeMap<String, String>, found: &Found) {
    if let Ok(rows) = row["rows"].parse::<usize>() {
        assert_eq!(found.rows, Some(rows), "{file}: rows");
    }
    if let Some(driver) = &found.driver {
        assert_eq!(*driver, row["driver_version"], "{file}: driver version");
    }
    for column in VALUE_COLUMNS {
        let values = found.columns.get(column).cloned().unwrap_or_default();
        let expected = row[column].as_str();
        // A single `NA` stands for every row of a sample with several GPUs.
        if expected.is_empty() || expected == "NA" {
            assert!(
                values.iter().all(Option::is_none),
                "{file}: {column} is {values:?} but the output has no value"
            );
        } else {
            let shown: Vec<String> = values
                .iter()
                .map(|value| value.clone().unwrap_or_else(|| "NA".to_owned()))
                .collect();
            assert_eq!(shown.join(";"), expected, "{file}: {column}");
        }
    }
}

/// The fields that drivers know: the identity query must be among them.
fn field_list(path: &Path, notes: &str) {
    let rows = csv_rows(path);
    for driver in ["580.159.04", "590.48.01", "595.80", "610.57.04"] {
        let column = format!("in_{driver}");
        let known = rows.iter().filter(|row| row[&column] == "yes");
        assert!(
            notes.contains(&format!("{driver}: {}", known.clone().count())),
            "{driver} against `{notes}`"
        );
        for field in IDENTITY_FIELDS {
            assert!(
                known.clone().any(|row| row["field"] == field),
                "{driver} does not know {field}"
            );
        }
    }
}

fn walk(root: &Path, expected: usize) {
    let rows = csv_rows(&root.join("INDEX.csv"));
    assert_eq!(rows.len(), expected, "the index lost or gained samples");
    for row in &rows {
        check(root, row);
    }
}

#[test]
fn every_shipped_sample_reads_as_its_index_says() {
    walk(&testdata(""), 156);
}

#[test]
fn every_shared_sample_reads_as_its_index_says() {
    if let Some(root) = shared("facts/samples/nvidia-smi") {
        walk(&root, 162);
        println!("shared-test: every_shared_sample_reads_as_its_index_says");
    }
}
