//! How many object ids survive.

use std::fs;
use std::path::{Path, PathBuf};

use ds_orchestrate::retention::{
    BoundingBox, Detection, Frame, IdCounts, MEMORY, MeasuredRetention, Retention, SUCCESSION,
    StreamId, TracksError, parse_retention, read_tracks, render_retention,
};
use proptest::prelude::*;

use crate::support::put;

/// An object: its id and where its box of 100 by 100 begins.
type Object = (u64, f64);

fn frame(stream: u32, number: u64, objects: &[Object]) -> Frame {
    Frame {
        stream: StreamId {
            instance: 0,
            pad: stream,
        },
        number,
        objects: objects
            .iter()
            .map(|(id, left)| Detection {
                id: Some(*id),
                label: "car".to_owned(),
                bbox: BoundingBox::new(*left, 50.0, 100.0, 100.0).expect("a box"),
            })
            .collect(),
        place: (PathBuf::from("made-up"), number),
    }
}

/// The counts of one stream, frame by frame.
fn counts(frames: &[Vec<Object>]) -> IdCounts {
    let frames = (0..)
        .zip(frames)
        .map(|(n, objects)| Ok(frame(0, n, objects)));
    Retention::of_frames(frames)
        .expect("frames in order")
        .total()
}

fn percent(counts: &IdCounts) -> Option<f64> {
    counts.retention().map(|share| share.percent())
}

#[test]
fn retention_by_hand() {
    // Car 1 drives to the right by 10 pixels a frame through all 100 frames: kept.
    // Car 2 stands; at frame 40 its id becomes 3, at the same place: 2 is replaced, 3 is kept.
    // Car 4 leaves at frame 49 with nobody in its place: kept.
    // Car 5 is missing in frames 20 to 24 and comes back: kept, one short gap of 5 frames.
    // Car 6 shows up in frame 60 alone, far from everybody: undecided.
    let frames: Vec<Vec<Object>> = (0..100)
        .map(|n: u32| {
            let mut objects = vec![(1, f64::from(n) * 10.0)];
            objects.push((if n < 40 { 2 } else { 3 }, 3000.0));
            if n < 50 {
                objects.push((4, 5000.0));
            }
            if !(20..25).contains(&n) {
                objects.push((5, 7000.0));
            }
            if n == 60 {
                objects.push((6, 9000.0));
            }
            objects
        })
        .collect();
    let counts = counts(&frames);
    assert_eq!(
        (counts.kept, counts.replaced, counts.undecided),
        (4, 1, 1),
        "{counts:?}"
    );
    assert_eq!((counts.short_gaps, counts.long_gaps), (1, 0));
    // 4 / (4 + 1).
    assert_eq!(percent(&counts), Some(80.0));
}

#[test]
fn a_successor_is_looked_for_where_the_object_would_be() {
    // 20 pixels a frame. Lost after frame 9 at 180, found again in frame 14 under another id at 280: no overlap with the
    // last box, and all of it with the place that the speed leads to.
    let lost = |n: u32| {
        let left = f64::from(n) * 20.0;
        match n {
            0..10 => vec![(1, left)],
            10..14 => vec![],
            _ => vec![(2, left)],
        }
    };
    let moved: Vec<_> = (0..60).map(lost).collect();
    assert_eq!((counts(&moved).kept, counts(&moved).replaced), (1, 1));
    // The same gap with a car that enters elsewhere.
    let elsewhere: Vec<_> = (0..60)
        .map(|n| match lost(n).as_slice() {
            [(2, left)] => vec![(2, left + 500.0)],
            objects => objects.to_vec(),
        })
        .collect();
    assert_eq!(
        (counts(&elsewhere).kept, counts(&elsewhere).replaced),
        (2, 0)
    );
}

#[test]
fn an_id_that_comes_back_was_not_replaced() {
    // 2 begins where 1 was, then 1 is there again.
    let frames: Vec<Vec<Object>> = (0..80)
        .map(|n| match n {
            10..15 => vec![(2, 0.0)],
            _ => vec![(1, 0.0)],
        })
        .collect();
    let counts = counts(&frames);
    assert_eq!((counts.kept, counts.replaced), (1, 1), "{counts:?}");
    assert_eq!(counts.short_gaps, 1);
}

#[test]
fn short_and_long_gaps_end_where_they_are_said_to() {
    let with_gap = |missing: u64| {
        let frames: Vec<Vec<Object>> = (0..missing + 20)
            .map(|n| {
                if (10..10 + missing).contains(&n) {
                    vec![]
                } else {
                    vec![(1, 0.0)]
                }
            })
            .collect();
        counts(&frames)
    };
    for (missing, expected) in [
        (0, (0, 0, 1)),
        (SUCCESSION, (1, 0, 1)),
        (SUCCESSION + 1, (0, 1, 1)),
        (MEMORY, (0, 1, 1)),
        // Nobody remembers it: it counts as another one.
        (MEMORY + 1, (0, 0, 2)),
    ] {
        let counts = with_gap(missing);
        assert_eq!(
            (counts.short_gaps, counts.long_gaps, counts.ids()),
            expected,
            "{missing} frames missing"
        );
    }
}

#[test]
fn an_id_that_is_lost_near_the_end_is_undecided() {
    let lost_before_end = |after: u64| {
        let frames: Vec<Vec<Object>> = (0..50 + after)
            .map(|n| if n < 50 { vec![(1, 0.0)] } else { vec![] })
            .collect();
        counts(&frames).undecided
    };
    assert_eq!(lost_before_end(0), 0);
    assert_eq!(lost_before_end(SUCCESSION - 1), 1);
    assert_eq!(lost_before_end(SUCCESSION), 0);
}

#[test]
fn other_labels_take_no_ones_place() {
    let frames = (0..60).map(|n| {
        let mut frame = frame(0, n, &[(if n < 20 { 1 } else { 2 }, 0.0)]);
        if n >= 20 {
            frame.objects[0].label = "person".to_owned();
        }
        Ok(frame)
    });
    let counts = Retention::of_frames(frames).expect("frames").total();
    assert_eq!((counts.kept, counts.replaced), (2, 0));
}

/// A folder with the files of deepstream-app.
fn kitti(frames: &[Frame]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for frame in frames {
        let lines: String = frame
            .objects
            .iter()
            .map(|object| {
                let left = object.bbox.left();
                format!(
                    "{} {} 0.0 0 0.0 {left:.6} 50.000000 {:.6} 150.000000 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.900000\n",
                    object.label,
                    object.id.expect("an id"),
                    left + 100.0
                )
            })
            .collect();
        let name = format!("00_{:03}_{:06}.txt", frame.stream.pad, frame.number);
        put(&folder.path().join(name), lines);
    }
    folder
}

fn json_lines(frames: &[Frame]) -> String {
    frames
        .iter()
        .map(|frame| {
            let objects: Vec<_> = frame
                .objects
                .iter()
                .map(|object| {
                    serde_json::json!({"id": object.id, "label": object.label, "bbox": [object.bbox.left(), 50.0, 100.0, 100.0]})
                })
                .collect();
            serde_json::json!({"stream": frame.stream.pad, "frame": frame.number, "objects": objects, "more": true})
                .to_string()
                + "\n"
        })
        .collect()
}

#[test]
fn both_forms_say_the_same_of_each_stream() {
    // Stream 0 is perfect, stream 1 changes its id in the middle.
    let frames: Vec<Frame> = (0..60)
        .flat_map(|n| {
            [
                frame(0, n, &[(7, 0.0)]),
                frame(1, n, &[(if n < 30 { 8 } else { 9 }, 0.0)]),
            ]
        })
        .collect();
    let folder = kitti(&frames);
    let from_kitti = read_tracks(folder.path()).expect("tracks");
    let file = folder.path().join("tracks.jsonl");
    put(&file, json_lines(&frames));
    assert_eq!(read_tracks(&file).expect("tracks"), from_kitti);
    let shares: Vec<Option<f64>> = from_kitti.streams.values().map(percent).collect();
    assert_eq!(shares, [Some(100.0), Some(50.0)]);
    // 2 kept of 3.
    assert_eq!(
        (from_kitti.total().kept, from_kitti.total().replaced),
        (2, 1)
    );

    let measured = [MeasuredRetention {
        interval: 1,
        path: "dump".to_owned(),
        retention: from_kitti,
    }];
    let text = render_retention(&measured).expect("JSON");
    assert_eq!(
        parse_retention(text.as_bytes()).expect("a document"),
        measured
    );
}

#[track_caller]
fn check_refused(path: &Path, parts: &[&str]) {
    let error = read_tracks(path).expect_err("nothing to use").to_string();
    for part in parts {
        assert!(error.contains(part), "{part} in\n{error}");
    }
}

#[test]
fn what_cannot_be_understood_is_named_with_its_place() {
    let folder = kitti(&[frame(0, 0, &[(1, 0.0)])]);
    put(
        &folder.path().join("00_000_000001.txt"),
        "car 1 0.0 0 0.0 1.0 2.0 3.0 4.0 0.0\ncar 0.0 0 0.0 1.0 2.0 3.0 4.0 0.0\n",
    );
    check_refused(
        folder.path(),
        &[
            "00_000_000001.txt:2: ",
            "`gie-kitti-output-dir`",
            "`kitti-track-output-dir`",
        ],
    );

    let folder = kitti(&[frame(0, 0, &[(1, 0.0)])]);
    put(&folder.path().join("0_0_1.txt"), "");
    check_refused(folder.path(), &["0_0_1.txt", "00_000_000000.txt"]);

    let empty = tempfile::tempdir().expect("a folder");
    check_refused(empty.path(), &["set `kitti-track-output-dir`"]);
    check_refused(&empty.path().join("nowhere"), &["cannot read"]);

    let file = empty.path().join("tracks.jsonl");
    for (text, parts) in [
        (
            "{\"stream\":0,\"frame\":0,\"objects\":[]}\nnot json\n",
            ["tracks.jsonl:2: ", "a line is one frame"],
        ),
        (
            "{\"stream\":0,\"frame\":0,\"objects\":[{\"id\":1,\"bbox\":[0,0,-1,4]}]}",
            [":1: ", "-1 wide"],
        ),
        (
            "{\"stream\":0,\"frame\":5,\"objects\":[]}\n{\"stream\":1,\"frame\":0,\"objects\":[]}\n{\"stream\":0,\"frame\":5,\"objects\":[]}\n",
            [":3: ", "comes after frame 5"],
        ),
        (
            "{\"stream\":0,\"frame\":0,\"objects\":[]}",
            ["no frame holds an object", "tracker"],
        ),
        ("", ["no frame holds an object", "tracker"]),
    ] {
        put(&file, text);
        check_refused(&file, &parts);
    }
    put(&file, "x".repeat(2 << 20));
    check_refused(&file, &[":1: ", "longer than 1 MiB"]);
}

#[test]
fn untracked_and_repeated_ids_are_counted_and_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = |id: u64| format!("car {id} 0.0 0 0.0 0.0 0.0 9.0 9.0 0.0\n");
    for n in 0..2 {
        put(
            &folder.path().join(format!("00_000_{n:06}.txt")),
            [line(u64::MAX), line(4), line(4)].concat(),
        );
    }
    let counts = read_tracks(folder.path()).expect("tracks").total();
    assert_eq!((counts.untracked, counts.repeated, counts.ids()), (2, 2, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn perfect_tracks_keep_every_id(
        lefts in prop::collection::vec(0.0_f64..2000.0, 1..12),
        speed in -30.0_f64..30.0,
        length in 2_u32..80,
    ) {
        let frames: Vec<Vec<Object>> = (0..length)
            .map(|n| (0..).zip(&lefts).map(|(id, left)| (id, left + speed * f64::from(n))).collect())
            .collect();
        let counts = counts(&frames);
        prop_assert_eq!(percent(&counts), Some(100.0));
        prop_assert_eq!(counts.kept, lefts.len() as u64);
    }

    #[test]
    fn ids_that_are_new_in_each_frame_are_all_lost(
        objects in 1_u64..8,
        speed in -20.0_f64..20.0,
        length in 2_u32..60,
    ) {
        // Objects stand apart, and each moves by less than a third of its box a frame.
        let frames: Vec<Vec<Object>> = (0..length)
            .map(|n| {
                (0..objects)
                    .map(|k| {
                        let left = k as f64 * 400.0 + speed * f64::from(n % 2);
                        (u64::from(n) * objects + k, left)
                    })
                    .collect()
            })
            .collect();
        let counts = counts(&frames);
        prop_assert_eq!(percent(&counts), Some(0.0));
        prop_assert_eq!(counts.replaced, objects * u64::from(length - 1));
    }

    #[test]
    fn the_order_of_the_files_and_of_the_objects_does_not_matter(
        lefts in prop::collection::vec((0_u64..6, 0.0_f64..600.0), 2..8),
        seed in any::<u64>(),
    ) {
        let frames: Vec<Frame> = (0..12)
            .map(|n| {
                let mut objects: Vec<Object> = lefts
                    .iter()
                    .filter(|(id, _)| (id + n + seed) % 5 != 0)
                    .map(|(id, left)| (*id + 10 * (n / 6), *left))
                    .collect();
                objects.sort_by_key(|(id, _)| *id);
                objects.dedup_by_key(|(id, _)| *id);
                frame(0, n, &objects)
            })
            .collect();
        let mut shuffled = frames.clone();
        shuffled.sort_by_key(|frame| (frame.number + 1).wrapping_mul(seed | 1).rotate_left(17));
        for frame in &mut shuffled {
            frame.objects.reverse();
        }
        let (ordered, other) = (kitti(&frames), kitti(&shuffled));
        match (read_tracks(ordered.path()), read_tracks(other.path())) {
            (Ok(a), Ok(b)) => prop_assert_eq!(a, b),
            (Err(TracksError::Unfit { .. }), Err(TracksError::Unfit { .. })) => {}
            (a, b) => prop_assert!(false, "{a:?} and {b:?}"),
        }
    }

    #[test]
    fn every_id_counts_once(
        frames in prop::collection::vec(prop::collection::vec((0_u64..9, 0.0_f64..500.0), 0..6), 1..60),
    ) {
        let counts = counts(&frames);
        let ids: std::collections::BTreeSet<u64> = frames.iter().flatten().map(|(id, _)| *id).collect();
        // No id is forgotten within the memory, so that each counts once.
        prop_assert_eq!(counts.ids(), ids.len() as u64);
        prop_assert_eq!(counts.detections, frames.iter().flatten().count() as u64);
    }
}

#[test]
fn a_dump_is_left_as_it_is() {
    let folder = kitti(&[frame(0, 0, &[(1, 0.0)]), frame(0, 1, &[(1, 0.0)])]);
    let names = || fs::read_dir(folder.path()).expect("the folder").count();
    let before = names();
    read_tracks(folder.path()).expect("tracks");
    assert_eq!(names(), before);
}
