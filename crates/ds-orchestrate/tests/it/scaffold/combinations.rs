//! Task × source × output × form.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use ds_ceilings::Resolution;
use ds_config::{FrameRate, LintContext, Pipeline, Purpose, lint};
use ds_derive::{Disposition, OutputWish, derive};
use ds_orchestrate::scaffold::{NewForm, NewOutput, NewRequest, Scaffold, Task, Variant};
use ds_orchestrate::{Wishes, facts_of, plan_edits};

use super::{disk, made, request};

const FORMS: [(&str, NewForm); 5] = [
    ("gst_launch", NewForm::GstLaunch),
    ("app_txt", NewForm::AppTxt),
    ("app_yml", NewForm::AppYml),
    ("service_maker", NewForm::ServiceMaker),
    ("pyservicemaker", NewForm::Pyservicemaker),
];

const RTSP: &str = "rtsp://camera%d/stream";
const KAFKA: &str = "kafka:localhost:9092/results";

/// All of them, made once: each takes several readings of its files.
static MADE: LazyLock<Vec<(String, NewRequest, Scaffold)>> = LazyLock::new(|| {
    combinations()
        .into_iter()
        .map(|(name, request)| {
            let scaffold = made(&request);
            (name, request, scaffold)
        })
        .collect()
});

/// A case: its name, the task, sources, streams and outputs.
type Row = (
    &'static str,
    Task,
    &'static [&'static str],
    u32,
    &'static [&'static str],
);

/// Eight for each form. What deepstream-app has no stage for is asked of it in `refusals.rs`.
fn combinations() -> Vec<(String, NewRequest)> {
    let mut all = Vec::new();
    for (name, form) in FORMS {
        let embeds = if matches!(form, NewForm::AppTxt | NewForm::AppYml) {
            Task::Classify
        } else {
            Task::Embed
        };
        let rows: [Row; 8] = [
            ("file", Task::Detect, &["/videos/video.mp4"], 16, &[]),
            ("rtsp_tracked", Task::Track, &[RTSP], 4, &[]),
            (
                "file_shown",
                Task::Classify,
                &["/videos/video.mp4"],
                4,
                &["display"],
            ),
            ("rtsp_masks_shown", Task::Segment, &[RTSP], 2, &["display"]),
            ("usb", embeds, &["usb:0", "usb:2"], 2, &[]),
            (
                "mixed_shown_and_recorded",
                Task::Track,
                &["/videos/video.mp4", RTSP],
                5,
                &["display", "file:out.mp4"],
            ),
            ("rtsp_sent", Task::Detect, &[RTSP], 32, &[KAFKA]),
            (
                "rtsp_sent_and_shown",
                Task::Track,
                &[RTSP],
                8,
                &[KAFKA, "display"],
            ),
        ];
        for (case, task, sources, streams, outputs) in rows {
            let mut request = request(task, sources, streams, outputs, form);
            if case == "usb" {
                // Raw frames of two cameras of this size fit on one bus of USB 2.0.
                request.source_size = Resolution::new(640, 360).expect("a size");
            }
            all.push((format!("{name}__{case}"), request));
        }
    }
    for (name, form) in [FORMS[0], FORMS[3], FORMS[4]] {
        all.push((
            format!("{name}__frames_for_a_vlm"),
            request(Task::Vlm, &[RTSP], 2, &[], form),
        ));
    }
    all
}

/// The files of a scaffold beside those that it refers to.
fn together(scaffold: &Scaffold) -> BTreeMap<String, Vec<u8>> {
    let mut files = disk();
    files.extend(
        scaffold
            .files
            .iter()
            .map(|(path, text)| (path.display().to_string(), text.clone())),
    );
    files
}

#[test]
fn each_is_written_as_its_snapshot_says() {
    assert_eq!(MADE.len(), 43, "eight a form, and three for a VLM");
    for (name, _, scaffold) in MADE.iter() {
        let mut text = format!("{}\n", scaffold.summary);
        for (path, bytes) in &scaffold.files {
            let _ = write!(
                text,
                "\n--- {}\n{}",
                path.display(),
                String::from_utf8_lossy(bytes)
            );
        }
        insta::assert_snapshot!(format!("new__{name}"), text);
    }
}

#[test]
fn the_presets_are_named_with_their_reasons() {
    for form in [NewForm::GstLaunch, NewForm::AppTxt] {
        let scaffold = made(&request(Task::Track, &[RTSP], 4, &[KAFKA], form));
        let mut text = String::new();
        for preset in &scaffold.presets {
            let _ = writeln!(
                text,
                "{} = {}\n    {}\n    {}",
                preset.knob, preset.value, preset.because, preset.unless
            );
        }
        insta::assert_snapshot!(
            format!("presets__{}", form.to_string().replace(' ', "_")),
            text
        );
    }
}

#[test]
fn lint_finds_nothing() {
    for (name, _, scaffold) in MADE.iter() {
        let files = together(scaffold);
        for (variant, entry) in &scaffold.entries {
            let pipeline = Pipeline::resolve(&entry.display().to_string(), &files)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(pipeline.faults, [], "{name}");
            let context = LintContext {
                fps: Some(FrameRate {
                    numerator: 30,
                    denominator: 1,
                }),
                purpose: match variant {
                    Variant::Benchmark => Purpose::Benchmark,
                    Variant::Output => Purpose::Live,
                },
                files: Some(&files),
                ..LintContext::default()
            };
            let findings: Vec<String> = lint(&pipeline, &context)
                .iter()
                .map(ToString::to_string)
                .collect();
            assert!(findings.is_empty(), "{name} {variant:?}: {findings:#?}");
        }
    }
}

/// What `derive` is told when it is run on what was made.
fn wishes(request: &NewRequest, variant: Variant) -> Wishes {
    let mut wishes = Wishes::new(request.streams, request.fps);
    wishes.source_size = Some(request.source_size);
    wishes.codec = request.codec;
    wishes.deepstream = Some(request.deepstream);
    let records = request
        .outputs
        .iter()
        .any(|output| matches!(output, NewOutput::File(_)));
    wishes.output = match variant {
        Variant::Benchmark => OutputWish::None,
        Variant::Output if records => OutputWish::Recorded,
        Variant::Output => OutputWish::Visible,
    };
    wishes
}

#[test]
fn the_rules_have_nothing_to_add() {
    for (name, request, scaffold) in MADE.iter() {
        let files = together(scaffold);
        for (variant, entry) in &scaffold.entries {
            let pipeline =
                Pipeline::resolve(&entry.display().to_string(), &files).expect("it is a pipeline");
            let plan = derive(&facts_of(
                &pipeline,
                &wishes(request, *variant),
                None,
                &files,
            ));
            let changes: Vec<String> = plan
                .changes(ds_derive::Variant::Every)
                .map(|change| {
                    format!(
                        "{} {}: {} {:?}",
                        change.target,
                        change.knob.name(),
                        change.new,
                        change.old
                    )
                })
                .collect();
            assert!(changes.is_empty(), "{name} {variant:?}: {changes:#?}");
            let proposed = plan
                .derivations()
                .filter(|derivation| derivation.disposition == Disposition::Propose)
                .count();
            assert_eq!(proposed, 0, "{name} {variant:?}");
            let edits = plan_edits(&pipeline, &plan, ds_derive::Variant::Every).expect("it holds");
            assert_eq!(edits.unified_diff(), "", "{name}");
        }
    }
}

#[test]
fn as_many_streams_as_were_asked_for() {
    for (name, request, scaffold) in MADE.iter() {
        let files = together(scaffold);
        for (_, entry) in &scaffold.entries {
            let pipeline =
                Pipeline::resolve(&entry.display().to_string(), &files).expect("it is a pipeline");
            assert_eq!(pipeline.streams(), Some(request.streams.get()), "{name}");
        }
    }
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    for (name, request, scaffold) in MADE.iter().filter(|(name, ..)| name.ends_with("recorded")) {
        assert_eq!(&made(request), scaffold, "{name}");
    }
}
