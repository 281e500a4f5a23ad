//! What holds for every input.

use proptest::prelude::*;

use ds_ceilings::{
    CeilingRow, Ceilings, ComputeCap, CopyDirection, Dmon, Figure, Fps, GpuIdentity, GpuTable,
    MaxPayload, Megahertz, MigProfiles, PcieGeneration, PcieLink, Resolution, SmiFailure, SmiList,
    SmiQuery, SmiReport, SmiTable, SmiVersion, StreamCount, Tegrastats, Topology, VideoProfile,
    decode_rate, memory_rate, tensor_rate,
};

fn resolution() -> impl Strategy<Value = Resolution> {
    let side = || prop_oneof![1_u32..=1_440, 1_u32..=16_384];
    (side(), side())
        .prop_map(|(width, height)| Resolution::new(width, height).expect("no zero side"))
}

/// A product of the table on a machine with any clocks and link.
fn machine() -> impl Strategy<Value = GpuIdentity> {
    let labels: Vec<&str> = GpuTable::built_in().names().collect();
    let clock = || proptest::option::of(0_u32..=10_000);
    (
        proptest::sample::select(labels),
        clock(),
        clock(),
        clock(),
        proptest::option::of(0_u32..=8),
        proptest::option::of(0_u32..=32),
        proptest::option::of(0_u32..=1_000),
    )
        .prop_map(|(label, sm, memory, video, generation, width, sm_count)| {
            let mut gpu = GpuIdentity::named(label);
            gpu.max_clocks.sm = sm.map(Megahertz::new);
            gpu.max_clocks.memory = memory.map(Megahertz::new);
            gpu.max_clocks.video = video.map(Megahertz::new);
            gpu.pcie_max_generation = generation;
            gpu.pcie_max_width = width;
            gpu.sm_count = sm_count;
            gpu
        })
}

fn rows(gpu: &GpuIdentity) -> Vec<CeilingRow> {
    Ceilings::new(gpu, GpuTable::built_in()).rows()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_ceiling_is_a_bound_or_a_reason(gpu in machine(), size in resolution()) {
        for row in Ceilings::new(&gpu, GpuTable::built_in()).rows_at(size) {
            prop_assert_eq!(row.value.is_some(), row.reason.is_none(), "{}", row.id);
            prop_assert_eq!(row.value.is_some(), row.formula.is_some(), "{}", row.id);
            prop_assert_eq!(row.value.is_some(), row.source.is_some_and(|source| !source.is_empty()), "{}", row.id);
            prop_assert!(row.value.is_none_or(|value| value.is_finite() && value >= 0.0), "{}: {:?}", row.id, row.value);
            prop_assert!(row.reason.is_none_or(|reason| !reason.is_empty()), "{}", row.id);
        }
    }

    #[test]
    fn a_better_machine_is_never_bounded_lower(gpu in machine(), more in 0_u32..=1_000) {
        let mut better = gpu.clone();
        for clock in [&mut better.max_clocks.sm, &mut better.max_clocks.memory, &mut better.max_clocks.video] {
            *clock = clock.map(|clock| Megahertz::new(clock.get() + more));
        }
        better.sm_count = better.sm_count.map(|count| count + more);
        // Variants of one name are told apart by their SM count; a label is not affected.
        better.pcie_max_width = better.pcie_max_width.map(|width| width + more);
        for (before, after) in rows(&gpu).into_iter().zip(rows(&better)) {
            prop_assert_eq!(&before.id, &after.id);
            if let (Some(before_value), Some(after_value)) = (before.value, after.value) {
                prop_assert!(after_value >= before_value, "{}: {before_value} then {after_value}", before.id);
            }
        }
    }

    #[test]
    fn a_bound_is_never_below_the_published_figure(gpu in machine(), size in resolution()) {
        // A silicon limit may lie below where the machine's clock does; the decode rates share one clock.
        let rows = Ceilings::new(&gpu, GpuTable::built_in()).rows_at(size);
        for limit in rows.iter().filter(|row| row.id.ends_with(".limit")) {
            let published = limit.id.trim_end_matches(".limit");
            let published = rows.iter().find(|row| row.id == published).expect("a limit has a published row");
            prop_assert_eq!((published.figure, limit.figure), (Figure::Published, Figure::Bound));
            if let Some(limit_value) = limit.value {
                let published_value = published.value.expect("what was measured is also printed");
                prop_assert!(limit_value >= published_value, "{}: {limit_value} below {published_value}", limit.id);
                prop_assert!(limit_value <= 0.0 || limit_value > published_value, "{}", limit.id);
            }
        }
    }

    #[test]
    fn the_same_machine_has_the_same_ceilings(gpu in machine()) {
        prop_assert_eq!(rows(&gpu), rows(&gpu));
    }

    #[test]
    fn larger_frames_are_never_decoded_faster(label in proptest::sample::select(vec![
        "NVIDIA H200", "NVIDIA L40S", "Jetson AGX Orin 64GB", "Jetson Orin Nano 8GB", "Jetson Thor T5000",
    ]), a in resolution(), b in resolution()) {
        let (small, large) = if a.pixels() <= b.pixels() { (a, b) } else { (b, a) };
        let decoder = Ceilings::planned(label, GpuTable::built_in()).decoder;
        let fps = |size| decoder.fps(VideoProfile::HEVC, size).value().expect("known").get();
        prop_assert!(fps(small) >= fps(large), "{label}: {small} {} and {large} {}", fps(small), fps(large));
        let limit = |size| decoder.limit(VideoProfile::HEVC, size).value();
        prop_assert!(limit(large).is_none() || limit(small) >= limit(large), "{label}: {small} and {large}");
        prop_assert_eq!(limit(small).is_some(), label == "NVIDIA H200" && small.pixels() <= Resolution::FULL_HD.pixels());
    }

    #[test]
    fn more_sessions_never_decode_less(sessions in 0_u32..=100) {
        let decoder = Ceilings::planned("NVIDIA H200", GpuTable::built_in()).decoder;
        let fps = |n| {
            let limit = decoder.fps_of_sessions(VideoProfile::HEVC, Resolution::FULL_HD, StreamCount::new(n));
            limit.value().expect("known")
        };
        let all = decoder.fps(VideoProfile::HEVC, Resolution::FULL_HD).value().expect("known");
        prop_assert!(fps(sessions) <= fps(sessions + 1));
        prop_assert!(fps(sessions) <= all);
        prop_assert!(sessions < 7 || fps(sessions) == all);
        let limit = |n| decoder.limit_of_sessions(VideoProfile::HEVC, Resolution::FULL_HD, StreamCount::new(n)).value();
        prop_assert!(limit(sessions).is_some() && limit(sessions) <= limit(sessions + 1));
        prop_assert!(limit(sessions) <= decoder.limit(VideoProfile::HEVC, Resolution::FULL_HD).value());
        prop_assert!(limit(sessions) >= Some(fps(sessions)));
    }

    #[test]
    fn formulas_scale_with_each_factor(sms in 1_u32..=1_000, ops in 1_u32..=65_536, mhz in 1_u32..=10_000, k in 1_u32..=8) {
        let clock = Megahertz::new(mhz);
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
        let tensor = tensor_rate(sms, ops, clock).get();
        prop_assert!(near(tensor_rate(sms * k, ops, clock).get(), tensor * f64::from(k)));
        prop_assert!(near(tensor_rate(sms, ops, Megahertz::new(mhz * k)).get(), tensor * f64::from(k)));
        let memory = memory_rate(clock, ops).get();
        prop_assert!(near(memory_rate(Megahertz::new(mhz * k), ops).get(), memory * f64::from(k)));
        let fps = Fps::new(771.0).expect("finite");
        let decode = |engines, mhz| {
            decode_rate(fps, Megahertz::new(mhz), Megahertz::new(1860), engines, Resolution::FULL_HD).expect("finite").get()
        };
        prop_assert!(near(decode(k, mhz), decode(1, mhz) * f64::from(k)));
        prop_assert!(near(decode(1, mhz * k), decode(1, mhz) * f64::from(k)));
    }

    #[test]
    fn decoding_has_no_value_without_a_reference(engines in any::<u32>(), mhz in any::<u32>(), size in resolution()) {
        let fps = Fps::new(771.0).expect("finite");
        prop_assert_eq!(decode_rate(fps, Megahertz::new(mhz), Megahertz::ZERO, engines, size), None);
    }

    #[test]
    fn copies_stay_below_the_wire(number in 1_u32..=6, width in 0_u32..=64) {
        let generation = PcieGeneration::new(number).expect("a generation");
        let rate = |generation, width, payload, direction| PcieLink { generation, width, payload }.copy_rate(direction);
        let payloads = [MaxPayload::Bytes128, MaxPayload::Bytes256, MaxPayload::Bytes512];
        for direction in [CopyDirection::HostToDevice, CopyDirection::DeviceToHost] {
            let rates = payloads.map(|payload| rate(generation, width, payload, direction));
            prop_assert!(rates.is_sorted());
            let raw = PcieLink { generation, width, payload: payloads[2] }.raw();
            prop_assert!(rates[2] <= raw);
            prop_assert!(rate(generation, width, payloads[1], direction) <= rate(generation, width + 1, payloads[1], direction));
            if let Some(next) = PcieGeneration::new(number + 1) {
                prop_assert!(rates[1] <= rate(next, width, payloads[1], direction));
            }
        }
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "(?s).{0,200}") {
        let _ = SmiFailure::from_text(&text);
        let _ = (SmiQuery::parse(&text), SmiQuery::parse_rows(&text, &["name", "index"]));
        let _ = (SmiReport::parse_xml(&text), SmiReport::parse_text(&text));
        let _ = (SmiList::parse(&text), SmiTable::parse(&text), SmiVersion::parse(&text), Topology::parse(&text));
        let _ = (MigProfiles::parse(&text), Tegrastats::parse(&text));
        let _ = Dmon::parse(&text);
        let _ = (text.parse::<Resolution>(), text.parse::<ComputeCap>());
    }

    #[test]
    fn no_cut_of_a_real_output_makes_a_reader_panic(cut in any::<prop::sample::Index>()) {
        for (file, read) in [
            ("xml/rtx3060-570.124.04.xml", (|text| drop(SmiReport::parse_xml(text))) as fn(&str)),
            ("q/h100-mig-590.48.01-idle.txt", |text| drop(SmiReport::parse_text(text))),
            ("query/h200-590.48.01-load.csv", |text| drop(SmiQuery::parse(text))),
            ("table/h200-mig-590.48.01-load.txt", |text| drop(SmiTable::parse(text))),
            ("dmon/l40s-595.80-load.txt", |text| drop(Dmon::parse(text))),
            ("mig/lgip-h200.txt", |text| drop(MigProfiles::parse(text))),
            ("topo/h200-580.159.04.txt", |text| drop(Topology::parse(text))),
        ] {
            let text = crate::support::read(&crate::support::testdata(file));
            let end = cut.index(text.len() + 1);
            if let Some(part) = text.get(..end) {
                read(part);
            }
        }
    }

    /// A recording that was cut anywhere gives the beginning of its samples and no invented one.
    #[test]
    fn a_cut_recording_gives_a_prefix(cut in any::<prop::sample::Index>()) {
        let text = crate::support::read(&crate::support::testdata("dmon/h100-590.48.01-load.txt"));
        let whole = Dmon::parse(&text).expect("a sample is readable");
        if let Ok(part) = Dmon::parse(&text[..cut.index(text.len() + 1)]) {
            prop_assert!(whole.samples().starts_with(part.samples()));
        }
    }
}
