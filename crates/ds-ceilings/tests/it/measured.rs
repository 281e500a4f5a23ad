//! What a native program reached on an H200, beside what the crate says.

use std::path::Path;

use ds_ceilings::{
    Ceilings, ComputeCap, Fps, GpuIdentity, GpuTable, Megahertz, Precision, Resolution,
    StreamCount, VideoProfile, measurements,
};

use crate::support::read;

/// One line of `h200-ceilings.jsonl`.
struct Line {
    what: String,
    sessions: Option<u32>,
    value: f64,
}

fn lines() -> Vec<Line> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/measurements/h200-ceilings.jsonl");
    let lines: Vec<Line> = read(&path).lines().map(line).collect();
    assert_eq!(
        lines.len(),
        16,
        "five products, three copies, eight decodes"
    );
    lines
}

/// A flat object such as `{"what": "decode HEVC", "sessions": 7, "frames_per_second": 8661.1}`; the
/// last member is the value.
fn line(text: &str) -> Line {
    let inner = text
        .strip_prefix("{\"what\": \"")
        .and_then(|rest| rest.strip_suffix('}'));
    let (what, members) = inner
        .and_then(|inner| inner.split_once("\", "))
        .unwrap_or_else(|| panic!("`{text}`"));
    let members: Vec<(&str, &str)> = members
        .split(", ")
        .map(|member| member.split_once(": ").expect("a key and a value"))
        .collect();
    let sessions = members.iter().find(|(key, _)| *key == "\"sessions\"");
    let (_, value) = members.last().expect("a line has a value");
    Line {
        what: what.to_owned(),
        sessions: sessions.map(|(_, count)| count.parse().expect("a count")),
        value: value.parse().expect("a number"),
    }
}

/// The machine of the measurements: 1980 MHz SM, 3201 MHz memory, 1545 MHz video, PCIe 5.0 x16.
fn ceilings() -> Ceilings {
    let mut gpu = GpuIdentity::named("NVIDIA H200");
    gpu.max_clocks.sm = Some(Megahertz::new(1980));
    gpu.max_clocks.memory = Some(Megahertz::new(3201));
    gpu.max_clocks.video = Some(Megahertz::new(1545));
    gpu.pcie_max_generation = Some(5);
    gpu.pcie_max_width = Some(16);
    Ceilings::new(&gpu, GpuTable::built_in())
}

fn profile(what: &str) -> Option<VideoProfile> {
    match what {
        "decode H.264" => Some(VideoProfile::H264),
        "decode HEVC" => Some(VideoProfile::HEVC),
        _ => None,
    }
}

fn bound(ceilings: &Ceilings, line: &Line) -> f64 {
    let precision = |precision| {
        let ceiling = ceilings.tensor(precision).expect("an entry");
        ceiling.silicon.value().expect("known").tera()
    };
    match line.what.as_str() {
        "FP16" => precision(Precision::Fp16),
        "BF16" => precision(Precision::Bf16),
        "TF32" => precision(Precision::Tf32),
        "FP8" => precision(Precision::Fp8),
        "INT8" => precision(Precision::Int8),
        "device copy, read and write" => ceilings.memory.value().expect("known").giga(),
        "host to device, pinned" => ceilings.host_to_device.value().expect("known").giga(),
        "device to host, pinned" => ceilings.device_to_host.value().expect("known").giga(),
        what => {
            let profile = profile(what).unwrap_or_else(|| panic!("`{what}`"));
            let sessions = StreamCount::new(line.sessions.expect("decoding has sessions"));
            let decoder = &ceilings.decoder;
            let limit = decoder.limit_of_sessions(profile, Resolution::FULL_HD, sessions);
            limit.value().expect("known").get()
        }
    }
}

#[test]
fn no_line_exceeds_its_bound() {
    let ceilings = ceilings();
    for line in lines() {
        let bound = bound(&ceilings, &line);
        // A bound far above everything measured would be no less wrong.
        let share = line.value / bound;
        assert!(
            (0.6..=1.0).contains(&share),
            "{}, {:?} sessions: {} against {bound}",
            line.what,
            line.sessions,
            line.value
        );
    }
}

/// Light streams exceed NVIDIA's figures: a published rate that held as a bound would hide it.
#[test]
fn published_decode_rates_were_exceeded_by_a_quarter_at_most() {
    let decoder = ceilings().decoder;
    let mut highest = 0.0_f64;
    for line in lines() {
        let Some(profile) = profile(&line.what) else {
            continue;
        };
        let sessions = StreamCount::new(line.sessions.expect("decoding has sessions"));
        let published = decoder.fps_of_sessions(profile, Resolution::FULL_HD, sessions);
        let share = line.value / published.value().expect("known").get();
        assert!(share > 1.0, "{}: {share}", line.what);
        highest = highest.max(share);
    }
    // 1363.0 / (1316 × 1545/1860) = 1.247, which the caveat of a published rate rounds to 25 %.
    assert_eq!(format!("{highest:.2}"), "1.25");
}

#[test]
fn the_measured_engine_is_the_best_line_per_engine() {
    let engine = GpuTable::built_in().engine(ComputeCap::new(9, 0));
    let measured = engine.and_then(|engine| engine.measured.as_ref());
    let measured = measured.expect("the engine of Hopper was measured");
    assert_eq!(measured.clock, Megahertz::new(1545));
    for what in ["decode H.264", "decode HEVC"] {
        let per_engine = lines()
            .into_iter()
            .filter(|line| line.what == what)
            .map(|line| line.value / f64::from(line.sessions.expect("sessions").min(7)))
            .max_by(f64::total_cmp)
            .and_then(Fps::new);
        let profile = profile(what).expect("a codec");
        assert_eq!(measured.fps_1080p(profile), per_engine, "{what}");
    }
}

#[test]
fn the_lines_are_among_the_measurements() {
    let id = |line: &Line| match line.what.as_str() {
        "device copy, read and write" => "memory".to_owned(),
        "host to device, pinned" => "pcie.h2d".to_owned(),
        "device to host, pinned" => "pcie.d2h".to_owned(),
        what => match profile(what) {
            Some(profile) => format!("decode.{}", profile.key()),
            None => format!("tensor.{}", what.to_lowercase()),
        },
    };
    let native: Vec<(String, String)> = lines()
        .iter()
        .filter(|line| line.sessions.is_none_or(|sessions| sessions == 14))
        .map(|line| (id(line), format!("{:.1}", line.value)))
        .collect();
    let shipped: Vec<(String, String)> = measurements()
        .iter()
        .filter(|measurement| measurement.how.starts_with("native program"))
        .map(|measurement| (measurement.id.clone(), format!("{:.1}", measurement.value)))
        .collect();
    assert_eq!(native, shipped);
}
