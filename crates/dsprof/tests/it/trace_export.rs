//! Reports of nsys given in place of exports: exported first, by an nsys that a script plays, and in a live test by the
//! real one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::Command;
use tempfile::TempDir;

use crate::support::{dsprof, output_of, program, put, root};
use crate::trace_support::shipped;

/// The release that the script says it is of.
const RELEASE: &str = "2025.3.2.474";

/// A folder with a report, an nsys, and a place for temporary files.
struct Desk {
    folder: TempDir,
}

impl Desk {
    /// A report of release `writer`, and an nsys that does `export` when it is to export `$5` to `$4`.
    fn new(writer: &str, export: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let desk = Self { folder };
        fs::create_dir_all(desk.path("temporary")).expect("a folder");
        desk.script(
            "release/target-linux-x64/nsys",
            &format!(
                "case $1 in\n--version) echo 'NVIDIA Nsight Systems version {RELEASE}-253236389321v0';;\n*) {export};;\nesac"
            ),
        );
        desk.put_report("run.nsys-rep", writer);
        desk
    }

    /// One whose nsys works; a compressed export does in place of a plain one, since files are known by their content.
    fn working() -> Self {
        Self::new("2025.1.1.103", &exporting("idle"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Gives a file or folder a name under which nobody looks for it.
    #[expect(clippy::disallowed_methods, reason = "the test plays the user")]
    fn take_away(&self, name: &str) {
        let elsewhere = self.path(&format!("{}-taken-away", name.replace('/', "-")));
        fs::rename(self.path(name), elsewhere).expect("it is there");
    }

    fn put_report(&self, name: &str, writer: &str) {
        let head = format!(
            "NVIDIA Tegra Profiler Report {}-1v0.\n",
            writer.replace('.', "@")
        );
        put(self.path(name), &format!("{head:0<200}"));
    }

    fn script(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        put(&path, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }

    /// dsprof, run in the folder; its temporary files go into one of their own.
    fn dsprof(&self, args: &[&str]) -> Command {
        let mut command = dsprof(args);
        command
            .current_dir(self.folder.path())
            .env("TMPDIR", self.path("temporary"));
        command
    }

    /// Runs dsprof with the scripted nsys: status, standard output, standard error.
    #[track_caller]
    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let nsys = self.path("release/target-linux-x64/nsys");
        let mut command = self.dsprof(args);
        let output = command
            .args(["--nsys", nsys.to_str().expect("UTF-8")])
            .output()
            .expect("dsprof runs");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        self.assert_nothing_left();
        (
            output.status.code().expect("dsprof ends by itself"),
            text(output.stdout),
            text(output.stderr),
        )
    }

    #[track_caller]
    fn fails(&self, args: &[&str], status: i32, says: &[&str]) {
        let (found, stdout, stderr) = self.run(args);
        assert_eq!((found, stdout.as_str()), (status, ""), "{stderr}");
        for text in says {
            assert!(stderr.contains(text), "does not say `{text}`:\n{stderr}");
        }
        assert!(!self.path("run.sqlite").exists());
    }

    #[track_caller]
    fn assert_nothing_left(&self) {
        let mut left = fs::read_dir(self.path("temporary")).expect("a folder");
        assert!(left.next().is_none(), "temporary files are left");
        let mut beside = fs::read_dir(self.folder.path()).expect("a folder");
        let hidden = beside.find(|entry| {
            let name = entry.as_ref().expect("an entry").file_name();
            name.to_string_lossy().starts_with(".dsprof")
        });
        assert!(
            hidden.is_none(),
            "temporary files are left beside the report"
        );
    }
}

/// What an nsys does that exports a shipped capture.
fn exporting(capture: &str) -> String {
    let export = root().join(shipped(capture));
    format!(
        "echo 'Processing 4469 events: [==45% ]'; /bin/cp {} $4",
        export.display()
    )
}

fn expected(question: &[&str]) -> String {
    let trace = shipped("idle");
    let mut args = vec!["trace"];
    args.extend(question);
    args.push(&trace);
    output_of(&args)
}

#[test]
fn every_question_takes_a_report() {
    let desk = Desk::working();
    for question in [
        &["stats", "-r", "cuda_api_sum"][..],
        &["busy"],
        &["gaps"],
        &["steps"],
        &["categories"],
        &["ranks"],
        &["plugins"],
        &["metrics"],
        &["memory"],
    ] {
        let mut args = vec!["trace"];
        args.extend(question);
        args.push("run.nsys-rep");
        let (status, stdout, stderr) = desk.run(&args);
        assert_eq!(status, 0, "{question:?}: {stderr}");
        // Ranks are named after their files.
        if *question != ["ranks"] {
            assert_eq!(stdout, expected(question), "{question:?}");
        }
    }
    let (status, stdout, _) = desk.run(&["trace", "check", "run.nsys-rep"]);
    assert_eq!(status, 12);
    assert!(stdout.contains("G13 idle"), "{stdout}");
    assert!(!desk.path("run.sqlite").exists(), "nobody asked to keep it");
    // The progress of nsys moves a line on a terminal, and is no line of its own elsewhere.
    let (.., stderr) = desk.run(&["trace", "busy", "run.nsys-rep"]);
    assert!(
        stderr.contains("export of `run.nsys-rep`") && !stderr.contains('%'),
        "{stderr}"
    );
}

#[test]
fn two_reports_are_compared() {
    let desk = Desk::new("2025.1.1.103", &exporting("decode_graph"));
    desk.put_report("other.qdrep", "2024.6.2.225");
    let (status, _, stderr) = desk.run(&["trace", "diff", "run.nsys-rep", "other.qdrep"]);
    assert_eq!(status, 0, "{stderr}");
    let (status, _, stderr) = desk.run(&["trace", "diff", "run.nsys-rep", "run.nsys-rep"]);
    assert_eq!(status, 0, "{stderr}");
}

#[test]
fn an_export_is_kept_beside_its_report_where_that_is_asked_for() {
    let desk = Desk::working();
    let (status, stdout, stderr) = desk.run(&["trace", "busy", "run.nsys-rep", "--keep-export"]);
    assert_eq!((status, stdout), (0, expected(&["busy"])), "{stderr}");
    assert!(desk.path("run.sqlite").exists());
    // From then on no nsys is needed.
    let ran = desk
        .dsprof(&["trace", "busy", "run.nsys-rep"])
        .output()
        .expect("dsprof runs");
    assert!(ran.status.success());
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert!(
        stderr.contains("note: reading `run.sqlite`, the export beside it"),
        "{stderr}"
    );
}

#[test]
fn an_export_of_another_capture_is_not_read() {
    let desk = Desk::working();
    put(desk.path("run.sqlite"), "of yesterday");
    let report = fs::File::open(desk.path("run.nsys-rep")).expect("the report");
    let written = report.metadata().and_then(|metadata| metadata.modified());
    report
        .set_modified(written.expect("a time") + Duration::from_secs(60))
        .expect("it is ours");
    let (status, stdout, stderr) = desk.run(&["trace", "busy", "run.nsys-rep"]);
    assert_eq!((status, stdout), (0, expected(&["busy"])), "{stderr}");
    let says = "note: `run.sqlite` is older than `run.nsys-rep` and is not read";
    assert!(stderr.contains(says), "{stderr}");
    // What is not ours is not replaced.
    let (status, _, stderr) = desk.run(&["trace", "busy", "run.nsys-rep", "--keep-export"]);
    assert_eq!(status, 2);
    assert!(stderr.contains("move it away"), "{stderr}");
    let kept = fs::read_to_string(desk.path("run.sqlite"));
    assert_eq!(kept.expect("it is there"), "of yesterday");
}

#[test]
fn an_nsys_that_is_too_old_is_named_with_both_releases() {
    let desk = Desk::new("2026.1.1.55", "echo never; exit 9");
    desk.fails(
        &["trace", "busy", "run.nsys-rep"],
        3,
        &[
            "written by 2026.1.1.55",
            "nsys` is 2025.3.2.474, which reads no reports that are newer than itself",
            "hint: with nsys 2026.1.1.55 or later: `nsys export --type sqlite",
        ],
    );
}

#[test]
fn an_nsys_that_fails_is_quoted() {
    let desk = Desk::new(
        "2025.3.2.474",
        "echo 'Processing 9 events: [=9% ]'; echo 'Exportation error: Version tag is not found.' >&2; exit 1",
    );
    desk.fails(
        &["trace", "busy", "run.nsys-rep"],
        4,
        &["(exit status 1): Exportation error: Version tag is not found."],
    );
}

#[test]
fn success_without_an_export_is_no_success() {
    for export in ["true", ": > $4"] {
        let desk = Desk::new("2025.3.2.474", export);
        desk.fails(
            &["trace", "busy", "run.nsys-rep"],
            4,
            &["(exit status 0): it left no export behind"],
        );
    }
    let desk = Desk::new("2025.3.2.474", "echo prose > $4");
    desk.fails(
        &["trace", "busy", "run.nsys-rep"],
        3,
        &["not an Nsight Systems export"],
    );
}

#[test]
fn an_nsys_that_hangs_is_ended() {
    let desk = Desk::new("2025.3.2.474", "echo $$ > id; exec /bin/sleep 600");
    desk.fails(
        &["trace", "busy", "run.nsys-rep", "--nsys-timeout", "1"],
        4,
        &["(timed out): it did not end within 1 s"],
    );
    let id = fs::read_to_string(desk.path("id")).expect("it began");
    assert!(!Path::new("/proc").join(id.trim()).exists());
}

#[test]
fn an_nsys_that_was_named_and_is_not_there() {
    let desk = Desk::working();
    desk.take_away("release");
    desk.fails(&["trace", "busy", "run.nsys-rep"], 4, &["was not found"]);
}

#[test]
fn a_raw_stream_is_imported_by_its_own_release() {
    let desk = Desk::working();
    let stream = |writer| {
        format!(
            "{:0<200}",
            format!("U3w[END]NVIDIA Nsight Systems Stream {writer}-1v0")
        )
    };
    put(desk.path("run.qdstrm"), &stream("2025.3.2.474"));
    desk.script(
        "release/host-linux-x64/QdstrmImporter",
        "echo imported > $4",
    );
    let (status, stdout, stderr) = desk.run(&["trace", "busy", "run.qdstrm"]);
    assert_eq!((status, stdout), (0, expected(&["busy"])), "{stderr}");

    desk.script("release/host-linux-x64/QdstrmImporter", "true");
    desk.fails(
        &["trace", "busy", "run.qdstrm"],
        4,
        &["QdstrmImporter", "it left no report behind"],
    );
    // Also an older stream is not for it.
    put(desk.path("run.qdstrm"), &stream("2025.1.1.103"));
    desk.fails(
        &["trace", "busy", "run.qdstrm"],
        3,
        &[
            "written by 2025.1.1.103",
            "2025.3.2.474, which reads raw streams of its own release alone",
            "QdstrmImporter --input-file",
        ],
    );
}

#[test]
fn a_bundle_keeps_the_export_and_answers_without_nsys() {
    let desk = Desk::working();
    let (status, stdout, stderr) =
        desk.run(&["trace", "busy", "run.nsys-rep", "--bundle", "bundle"]);
    assert_eq!((status, stdout), (0, expected(&["busy"])), "{stderr}");
    assert!(desk.path("bundle/trace/1/run.sqlite").exists());
    let other_question = ["trace", "plugins", "run.nsys-rep", "--bundle", "bundle"];
    let (status, ..) = desk.run(&other_question);
    assert_eq!(status, 0);

    // Somewhere else, where there is neither report nor nsys.
    desk.take_away("run.nsys-rep");
    desk.take_away("release/target-linux-x64");
    let ran = desk
        .dsprof(&["trace", "busy", "run.nsys-rep", "--replay", "bundle"])
        .output()
        .expect("dsprof runs");
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{stderr}");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), expected(&["busy"]));

    // Another report under the same name is another run.
    desk.put_report("run.nsys-rep", "2025.1.1.104");
    desk.script("release/target-linux-x64/nsys", "exit 9");
    let (status, _, stderr) = desk.run(&other_question);
    assert_eq!(status, 3, "{stderr}");
    assert!(stderr.contains("SHA-256 of trace 1"), "{stderr}");
}

#[test]
fn an_interrupted_export_leaves_nothing_running_and_nothing_behind() {
    let desk = Desk::new(
        "2025.3.2.474",
        "echo partial > $4; echo $$ > id; exec /bin/sleep 600",
    );
    let nsys = desk.path("release/target-linux-x64/nsys");
    let mut child = program(dsprof(&[]).get_program())
        .current_dir(desk.folder.path())
        .env("TMPDIR", desk.path("temporary"))
        .args(["trace", "busy", "run.nsys-rep", "--nsys"])
        .arg(&nsys)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("dsprof runs");
    let id = loop {
        let id = fs::read_to_string(desk.path("id")).unwrap_or_default();
        if id.ends_with('\n') {
            break id;
        }
        assert!(
            child.try_wait().expect("a child").is_none(),
            "dsprof ended before nsys began"
        );
        std::thread::yield_now();
    };
    let signalled = program("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(signalled.expect("kill runs").success());
    assert_eq!(child.wait().expect("dsprof ends").code(), Some(130));
    assert!(
        !Path::new("/proc").join(id.trim()).exists(),
        "nsys has ended"
    );
    desk.assert_nothing_left();
}

/// With `DSPROF_LIVE=1` and nsys on PATH: a report made on the spot says what its own export says.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the environment says whether to run"
)]
fn live_a_report_made_on_the_spot_is_exported_and_read() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let nsys = |args: &[&str]| program("nsys").env("PATH", &path).args(args).output();
    let is_live = std::env::var_os("DSPROF_LIVE").is_some_and(|value| value == "1");
    if !is_live || nsys(&["--version"]).is_err() {
        println!("skipped: live tests need DSPROF_LIVE=1 and nsys");
        return;
    }
    let desk = Desk::working();
    let report = desk.path("live.nsys-rep");
    let report = report.to_str().expect("UTF-8");
    let code = "import time\nfor _ in range(50): time.sleep(0.001)";
    let ran = nsys(&[
        "profile",
        "--trace=osrt",
        "--sample=none",
        "--cpuctxsw=none",
        "--output",
        report,
        "python3",
        "-c",
        code,
    ]);
    assert!(ran.expect("nsys runs").status.success());
    let question = |trace: &str| {
        let ran = desk
            .dsprof(&["trace", "stats", "-r", "osrt_sum", "-f", "csv", trace])
            .env("PATH", &path)
            .env("HOME", desk.path("temporary"))
            .output()
            .expect("dsprof runs");
        let stderr = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{stderr}");
        String::from_utf8(ran.stdout).expect("UTF-8")
    };
    let from_report = question(report);
    assert!(
        from_report.contains("nanosleep") || from_report.contains("select"),
        "{from_report}"
    );
    let export = desk.path("other.sqlite");
    let export = export.to_str().expect("UTF-8");
    let ran = nsys(&["export", "--type=sqlite", "--output", export, report]);
    assert!(ran.expect("nsys runs").status.success());
    assert_eq!(from_report, question(export));
}
