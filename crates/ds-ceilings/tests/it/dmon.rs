//! dmon recordings beyond the samples: what is cut, repeated, idle.

use ds_ceilings::{Dmon, DmonColumn, ErrorKind, Fraction};

use crate::support::{read, shared};

const HEADER: &str = "# gpu     sm    mem    enc    dec\n# Idx      %      %      %      %\n";

/// A recording of one GPU with these SM shares.
fn recording(shares: &[u32]) -> Dmon {
    let lines: String = shares
        .iter()
        .map(|share| format!("    0 {share:>6}      0      0      0\n"))
        .collect();
    Dmon::parse(&format!("{HEADER}{lines}")).expect("a whole recording")
}

/// The steady samples of a recording, as whole percent.
#[track_caller]
fn check_steady(shares: &[u32], expected: &[u32]) {
    let steady = recording(shares).steady(0);
    let found: Vec<u32> = steady
        .iter()
        .flat_map(|window| shares[window.range()].to_vec())
        .collect();
    assert_eq!(found, expected, "of {shares:?}");
}

#[test]
fn warm_up_and_tail_are_not_steady() {
    check_steady(&[0, 0, 0, 7, 99, 99, 99, 99, 0, 0], &[99, 99, 99, 99]);
    check_steady(&[3, 0, 0, 1, 1, 10, 10, 9, 10, 0], &[10, 10, 9, 10]);
    check_steady(
        &[6, 2, 51, 41, 51, 51, 31, 52, 54, 0],
        &[51, 41, 51, 51, 31, 52, 54],
    );
}

#[test]
fn one_spike_is_no_load() {
    check_steady(
        &[0, 100, 0, 40, 41, 40, 42, 41, 40, 0],
        &[40, 41, 40, 42, 41, 40],
    );
}

#[test]
fn of_two_runs_the_longer_counts() {
    check_steady(&[90, 91, 0, 92, 93, 94, 0, 95], &[92, 93, 94]);
    check_steady(&[90, 91, 0, 92, 93], &[90, 91]);
}

#[test]
fn an_idle_recording_has_no_steady_part() {
    check_steady(&[0, 0, 0], &[]);
    check_steady(&[], &[]);
    let divided = format!("{HEADER}    0      -      -      -      -\n");
    let dmon = Dmon::parse(&divided).expect("a whole recording");
    assert_eq!(dmon.samples()[0].share(DmonColumn::Sm), None);
    assert_eq!(dmon.steady(0), None);
    assert_eq!(dmon.steady(7), None, "a GPU that is not in the recording");
}

#[test]
fn a_decoder_alone_is_a_load() {
    let text =
        format!("{HEADER}    0      0      0      0     95\n    0      0      0      0     97\n");
    let steady = Dmon::parse(&text)
        .expect("a whole recording")
        .steady(0)
        .expect("the decoder is busy");
    assert_eq!(steady.mean(DmonColumn::Dec), Fraction::new(0.96));
    assert_eq!(steady.mean(DmonColumn::Sm), Some(Fraction::ZERO));
    assert_eq!(steady.mean(DmonColumn::Jpg), None);
    assert_eq!(steady.median(DmonColumn::Dec), Fraction::new(0.95));
    assert_eq!(steady.samples().len(), 2);
}

#[test]
fn headers_repeat_and_columns_move() {
    let text = "# gpu sm mem enc dec\n# Idx % % % %\n 0 1 2 3 4\n# gpu dec sm\n# Idx % %\n 1 5 6\n";
    let dmon = Dmon::parse(text).expect("two layouts");
    assert_eq!(dmon.gpus(), [0, 1]);
    let shares: Vec<_> = dmon
        .samples()
        .iter()
        .map(|sample| sample.share(DmonColumn::Sm))
        .collect();
    assert_eq!(shares, [Fraction::new(0.01), Fraction::new(0.06)]);
    assert_eq!(
        dmon.samples()[1].share(DmonColumn::Dec),
        Fraction::new(0.05)
    );
    assert_eq!(dmon.samples()[1].share(DmonColumn::Mem), None);
}

#[test]
fn gpus_have_their_own_steady_parts() {
    let text = "# gpu sm\n# Idx %\n 0 90\n 1 0\n 0 91\n 1 50\n 0 0\n 1 51\n";
    let dmon = Dmon::parse(text).expect("two GPUs");
    assert_eq!(dmon.steady(0).map(|window| window.range()), Some(0..2));
    assert_eq!(dmon.steady(1).map(|window| window.range()), Some(1..3));
}

/// A cut `100` reads as a valid `10`, so an unfinished line is no sample.
#[test]
fn a_line_without_an_end_is_dropped() {
    let text = format!("{HEADER}    0    100      0      0      0\n    0     10");
    assert_eq!(
        Dmon::parse(&text)
            .expect("one whole sample")
            .samples()
            .len(),
        1
    );
}

#[test]
fn a_last_line_with_too_few_cells_is_dropped() {
    let text = "# gpu sm mem\n 0 1 2\n 0 1\n\n";
    assert_eq!(
        Dmon::parse(text).expect("one whole sample").samples().len(),
        1
    );
}

#[test]
fn what_is_no_recording_is_refused() {
    for (text, kind, message) in [
        (
            "",
            ErrorKind::Empty,
            "the `nvidia-smi dmon` output is empty",
        ),
        (
            "hello\n",
            ErrorKind::Malformed,
            "the `nvidia-smi dmon` output has no header with a `gpu` column",
        ),
        (
            "# gpu sm mem\n 0 1\n 0 1 2\n",
            ErrorKind::Malformed,
            "line 2 of the `nvidia-smi dmon` output has 2 cells where the header has 3",
        ),
        (
            "# gpu sm\n 0 x\n",
            ErrorKind::Malformed,
            "line 2 of the `nvidia-smi dmon` output: `x` is no value of sm",
        ),
        (
            "# gpu sm\n 0 101\n",
            ErrorKind::Malformed,
            "line 2 of the `nvidia-smi dmon` output: `101` is no value of sm",
        ),
        (
            "Not supported on the device(s)\n",
            ErrorKind::Smi,
            "nvidia-smi reported an error",
        ),
    ] {
        let error = Dmon::parse(text).expect_err(text);
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
    }
}

/// The whole file says 37 %, the load itself 99 %.
#[test]
fn the_recorded_sweep_reads_99_percent_at_batch_32() {
    let Some(root) = shared("recordings") else {
        return;
    };
    let dmon = |folder: &str, batch: u32| {
        let path = root.join(folder).join(format!("dmon_b{batch}.txt"));
        Dmon::parse(&read(&path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let steady = dmon("h200-infer-resnet152", 32).steady(0).expect("a load");
    assert_eq!(steady.samples().len(), 7);
    assert_eq!(steady.mean(DmonColumn::Sm), Fraction::from_percent(99.0));
    assert_eq!(steady.median(DmonColumn::Sm), Fraction::from_percent(99.0));
    // The CNN sweeps run without a break; the Python pipelines stall now and then.
    let folders = [
        ("h200-infer-resnet50", 7),
        ("h200-infer-resnet152", 7),
        ("h200-pipeline-resnet18", 3),
        ("h200-pipeline-resnet152", 5),
    ];
    for (folder, least) in folders {
        for batch in [1, 2, 4, 8, 16, 32] {
            let steady = dmon(folder, batch)
                .steady(0)
                .unwrap_or_else(|| panic!("{folder} {batch}: no load"));
            let range = steady.range();
            assert!(
                (least..=9).contains(&range.len()),
                "{folder} {batch}: {range:?}"
            );
            assert!(
                range.start >= 8,
                "{folder} {batch}: {range:?} begins while Python still starts"
            );
        }
    }
    println!("shared-test: the_recorded_sweep_reads_99_percent_at_batch_32");
}
