//! What holds of any console.

use ds_ceilings::Fps;
use ds_orchestrate::{FpsLog, FpsReader, FpsStatus, FpsUnit};
use proptest::collection::vec;
use proptest::prelude::{
    Just, ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest,
};

use super::{read, read_bytes};

/// A value as emitters print one; zeros and fillers are common, since the rules turn on them.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (0.01_f64..500.0).prop_map(|rate| format!("{rate:.2}")),
        2 => Just("0.00".to_owned()),
        1 => Just("30.00".to_owned()),
        1 => Just("--.--".to_owned()),
        1 => Just("nan".to_owned()),
    ]
}

fn columns() -> impl Strategy<Value = String> {
    vec(value(), 1..4).prop_map(|values| {
        values
            .iter()
            .map(|value| format!("{value} ({value})\t"))
            .collect()
    })
}

/// A line of any emitter, or one of the lines between.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => columns().prop_map(|columns| format!("**PERF:  {columns}")),
        1 => (0..2_u32, columns()).prop_map(|(instance, columns)| format!("PERF({instance}): {columns}")),
        1 => columns().prop_map(|columns| format!("**PERF: {columns}")),
        1 => columns().prop_map(|columns| format!("**FPS:  {columns}")),
        1 => columns(),
        1 => Just("**PERF:  ".to_owned()),
        1 => vec(0..4_u32, 1..4)
            .prop_map(|ids| format!("**PERF:  {}", ids.iter().map(|id| format!("FPS {id} (Avg)\t")).collect::<String>())),
        1 => vec(0..4_u32, 1..4)
            .prop_map(|ids| ids.iter().map(|id| format!("FPS {id} (AVG)  ")).collect()),
        1 => vec((0..3_u32, value()), 1..4).prop_map(|entries| {
            let entries: Vec<_> = entries.iter().map(|(id, value)| format!("'stream{id}': {value}")).collect();
            format!("**PERF:  {{{}}}", entries.join(", "))
        }),
        1 => (0..3_u32, value()).prop_map(|(id, value)| format!("Fps of stream {id} is  {value}")),
        1 => (0..3_u32, value()).prop_map(|(id, value)| format!("perf: m.sink_{id}; fps: {value}; mean_fps: 1.0")),
        1 => value().prop_map(|value| format!("rendered: 1, dropped: 0, current: {value}, average: 1.00")),
        1 => value().prop_map(|value| format!("AVG FPS (num_sources 4 * {value}): {value}")),
        1 => Just("** INFO: <bus_callback:291>: Pipeline ready".to_owned()),
        1 => Just("** INFO: <bus_callback:277>: Pipeline running".to_owned()),
        1 => Just("** INFO: <bus_callback:217>: Received EOS. Exiting ...".to_owned()),
        1 => Just("Active sources : 2".to_owned()),
        1 => "\\PC{0,30}",
    ]
}

fn console() -> impl Strategy<Value = String> {
    vec(line(), 0..40).prop_map(|lines| lines.join("\n"))
}

/// Everything that a log may not contradict.
fn check_consistent(log: &FpsLog) {
    let mut counts = vec![];
    for stream in &log.streams {
        assert_eq!(stream.mean.is_some(), !stream.windows.is_empty());
        assert_eq!(stream.median.is_some(), !stream.windows.is_empty());
        check_between(&stream.windows, stream.mean);
        check_between(&stream.windows, stream.median);
        assert!(stream.windows.len() <= log.windows_in_log);
        if let FpsStatus::Short { n } = stream.status {
            assert_eq!(n, stream.windows.len());
        }
        counts.push(stream.unit);
    }
    for segment in &log.segments {
        assert!(segment.n_windows > 0 && segment.n_streams > 0);
        assert!(segment.windows.len() <= segment.n_windows);
        if segment.windows.len() == segment.n_windows && segment.n_streams == 1 {
            check_between(&segment.windows, Some(segment.mean));
        }
        assert!(counts.contains(&FpsUnit::Frames), "an aggregate of buffers");
    }
    if log.status == FpsStatus::NeverRunning {
        assert!(log.streams.is_empty() && log.segments.is_empty());
    }
}

fn check_between(rates: &[Fps], middle: Option<Fps>) {
    let (Some(least), Some(most), Some(middle)) = (rates.iter().min(), rates.iter().max(), middle)
    else {
        return;
    };
    // The mean of equal values may differ from them in its last bits.
    assert!(
        least.get() * (1.0 - 1e-12) <= middle.get() && middle.get() <= most.get() * (1.0 + 1e-12)
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_give_a_consistent_log(bytes in vec(any::<u8>(), 0..400)) {
        check_consistent(&read_bytes(&bytes));
    }

    #[test]
    fn arbitrary_lines_give_a_consistent_log(console in console()) {
        check_consistent(&read(&console));
    }

    #[test]
    fn chunks_do_not_matter(console in console(), cuts in vec(any::<proptest::sample::Index>(), 0..12)) {
        let bytes = console.as_bytes();
        let whole = read_bytes(bytes);
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let mut reader = FpsReader::new();
        let mut from = 0;
        for cut in cuts {
            reader.push_bytes(&bytes[from..cut]);
            from = cut;
        }
        reader.push_bytes(&bytes[from..]);
        prop_assert_eq!(&reader.finish(), &whole);

        let mut reader = FpsReader::new();
        console.split('\n').for_each(|line| reader.push_line(line));
        prop_assert_eq!(&reader.finish(), &whole);
    }

    #[test]
    fn chatter_does_not_matter(lines in vec(line(), 0..30), places in vec(any::<proptest::sample::Index>(), 0..10)) {
        let plain = read(&lines.join("\n"));
        let mut lines = lines;
        for place in places {
            let place = place.index(lines.len() + 1);
            lines.insert(place, "NvMMLiteBlockCreate : Block : BlockType = 261 (decoder)".to_owned());
        }
        prop_assert_eq!(read(&lines.join("\n")), plain);
    }

    /// Windows keep the order of the log, the first one goes, and the aggregate is the sum over streams.
    #[test]
    fn windows_keep_their_order(windows in vec((1..50_000_u32, 1..50_000_u32), 2..30)) {
        let rate = |cents: u32| Fps::new(f64::from(cents) / 100.0).expect("a rate");
        let print = |&(a, b): &(u32, u32)| format!("**PERF:  {:.2} (1.00)\t{:.2} (1.00)\t\n", rate(a).get(), rate(b).get());
        let log = read(&windows.iter().map(print).collect::<String>());
        let steady = &windows[1..];
        let first: Vec<_> = steady.iter().map(|&(a, _)| rate(a)).collect();
        prop_assert_eq!(&log.streams[0].windows, &first);
        let aggregate = log.aggregate().expect("at least one steady window");
        prop_assert_eq!(aggregate.n_windows, steady.len());
        for (&found, &(a, b)) in aggregate.windows.iter().zip(steady) {
            prop_assert!((found.get() - f64::from(a + b) / 100.0).abs() < 1e-9);
        }
    }

    /// A console at twice the speed gives twice the rates.
    #[test]
    fn rates_scale(windows in vec(vec(1..20_000_u32, 3), 1..20)) {
        let print = |factor: u32| -> String {
            let column = |cents: &u32| format!("{:.2} (1.00)\t", f64::from(cents * factor) / 100.0);
            windows.iter().map(|window| format!("**PERF:  {}\n", window.iter().map(column).collect::<String>())).collect()
        };
        let (once, twice) = (read(&print(1)), read(&print(2)));
        prop_assert_eq!(once.segments.len(), twice.segments.len());
        for (once, twice) in once.segments.iter().zip(&twice.segments) {
            prop_assert!((2.0 * once.mean.get() - twice.mean.get()).abs() < 1e-6);
        }
    }
}
