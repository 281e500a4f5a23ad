//! The workplace of a case: its folder, its environment, and dsprof.

#![expect(
    clippy::print_stdout,
    reason = "a live test says what it found, and that it was skipped"
)]

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Instant;

use gstdssim::model::{BoundBy, Load, Truth};
use serde_json::Value;
use tempfile::TempDir;

use super::cases::Case;

/// How far a rate may be from the one that the model implies.
const TOLERANCE: f64 = 0.05;
/// The longest that one run of dsprof may take, in seconds; the longest case takes about two minutes.
const TIMEOUT: &str = "600";

/// Whether live tests are asked for, with a line about it where not.
pub(super) fn is_live() -> bool {
    let asked_for = env::var_os("DSPROF_LIVE").is_some_and(|value| value == "1");
    if !asked_for {
        println!("skipped: live tests need DSPROF_LIVE=1");
    }
    asked_for
}

/// Where a case runs.
pub(super) struct Bench {
    pub(super) case: Case,
    gstreamer: Option<&'static GStreamer>,
    folder: TempDir,
    started: Instant,
}

impl Bench {
    /// The same, with the stand-in elements.
    pub(super) fn with_elements(case: Case, gstreamer: &'static GStreamer) -> Self {
        Self {
            gstreamer: Some(gstreamer),
            ..Self::new(case)
        }
    }

    /// A folder with the stand-in programs under the names that dsprof looks for.
    pub(super) fn new(case: Case) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let programs = folder.path().join("bin");
        fs::create_dir(&programs).expect("a folder");
        for (name, program) in [
            ("nvidia-smi", env!("CARGO_BIN_EXE_dssim-smi")),
            ("dssim-load", env!("CARGO_BIN_EXE_dssim-load")),
        ] {
            symlink(program, programs.join(name)).expect("a link");
        }
        Self {
            case,
            gstreamer: None,
            folder,
            started: Instant::now(),
        }
    }

    /// A path of the folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file of the folder.
    pub(super) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).expect("written");
        path
    }

    /// A program with the simulated machine around it.
    pub(super) fn command(&self, program: &Path) -> Command {
        // coreutils' `timeout` ends what hangs.
        let mut command = Command::new("timeout");
        command
            .args(["--kill-after=10", TIMEOUT])
            .arg(program)
            .current_dir(self.folder.path())
            .env("PATH", self.search_path())
            .env("DSSIM_STATE", self.path("state"))
            .envs(self.gstreamer.into_iter().flat_map(GStreamer::variables))
            .env_remove("CUDA_VISIBLE_DEVICES")
            .envs(self.case.model.variables())
            .stdin(Stdio::null());
        command
    }

    fn search_path(&self) -> OsString {
        let inherited = env::var_os("PATH").unwrap_or_default();
        let own = std::iter::once(self.path("bin"));
        env::join_paths(own.chain(env::split_paths(&inherited))).expect("a path")
    }

    /// Runs dsprof to its end and returns what it printed.
    #[track_caller]
    pub(super) fn dsprof(&self, args: &[&str]) -> String {
        let output = self.dsprof_output(args);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(
            output.status.success(),
            "{}: dsprof {args:?}: {}\n{out}\n{err}",
            self.case.name,
            output.status
        );
        out
    }

    /// Runs dsprof to its end, however that is.
    pub(super) fn dsprof_output(&self, args: &[&str]) -> Output {
        self.command(dsprof()).args(args).output().expect("it runs")
    }

    /// Says what was found.
    pub(super) fn say(&self, what: &str) {
        println!("{}: {what}", self.case.name);
    }

    /// The arguments that describe the load.
    pub(super) fn wishes(&self) -> Vec<String> {
        let Case { load, source, .. } = &self.case;
        let mut words: Vec<String> = [
            "--streams",
            &load.streams.to_string(),
            "--fps",
            &load.fps.to_string(),
            "--max-batch",
            &load.max_batch.to_string(),
            "--source-size",
            &format!("{}x{}", source.0, source.1),
            "--codec",
            "h264",
            "--bundle",
            "bundle",
        ]
        .map(str::to_owned)
        .to_vec();
        words.extend(["--seconds", "8", "--trace-seconds", "3"].map(str::to_owned));
        words
    }

    /// The report that a run left in its bundle.
    #[track_caller]
    pub(super) fn report(&self) -> Value {
        let path = self.path("bundle/report.json");
        let text = fs::read_to_string(&path).expect("a report");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Holds a report against the truth; `load` is what ran.
    #[track_caller]
    pub(super) fn check(&self, report: &Value, load: Load) {
        let name = self.case.name;
        let truth = self.case.model.truth(load);
        println!(
            "{name}: {} s; batch {}, {:.0} frames/s at it, {:.0} whole, {} ({}), {}",
            self.started.elapsed().as_secs(),
            report["plateau"]["verdict"],
            number(&report["plateau"]["fps_at_final_batch"]),
            number(&report["e2e"]["fps"]),
            report["bound"]["kind"],
            report["bound"]["confidence"],
            report["capacity"]["text"],
        );
        let seen = || format!("{name}: {truth:?}\n{report:#}");
        let batch = report["plateau"]["batch"].as_u64();
        assert_eq!(batch, truth.plateau.map(u64::from), "{}", seen());
        let final_batch = report["plateau"]["final_batch"].as_u64();
        assert_eq!(final_batch, Some(truth.final_batch.into()), "{}", seen());
        for (what, found, expected) in [
            (
                "rate at the final batch",
                &report["plateau"]["fps_at_final_batch"],
                self.case.model.swept_fps(truth.final_batch),
            ),
            ("rate of the whole", &report["e2e"]["fps"], truth.e2e_fps),
        ] {
            let found = number(found);
            let is_near = (found / expected - 1.0).abs() <= TOLERANCE;
            assert!(is_near, "{what}: {found} for {expected}; {}", seen());
        }
        self.check_capacity(report, &truth);
        self.check_bound(report, &truth);
    }

    #[track_caller]
    fn check_capacity(&self, report: &Value, truth: &Truth) {
        let found = number(&report["capacity"]["streams"]);
        let expected = f64::from(truth.capacity);
        // Whole streams: a rate within the tolerance may lie on the other side of a whole number.
        let off = (found - expected).abs();
        assert!(
            off <= (expected * TOLERANCE).max(1.0),
            "{}: {found} streams for {expected}; {report:#}",
            self.case.name
        );
        let text = report["capacity"]["text"].as_str().unwrap_or_default();
        let is_open = text.starts_with("at least");
        assert_eq!(is_open, truth.plateau.is_none(), "{text}");
    }

    #[track_caller]
    fn check_bound(&self, report: &Value, truth: &Truth) {
        // Only a trace tells the time of the tracker.
        if truth.bound == BoundBy::Tracker && report["trace"].is_null() {
            println!(
                "skipped: {}: no trace, no tracker time: {}",
                self.case.name, report["no_trace"]
            );
            return;
        }
        assert_eq!(
            report["bound"]["kind"].as_str(),
            Some(truth.bound.to_string().as_str()),
            "{}: {report:#}",
            self.case.name
        );
    }
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(super) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// The program of this workspace, built now so that it is never an old one.
fn dsprof() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built(&["--package", "dsprof"], "dsprof"))
}

/// The plugin and what loads it.
pub(super) struct GStreamer {
    plugins: PathBuf,
    registry: PathBuf,
    /// The program that asks GStreamer's parser.
    pub(super) parse: PathBuf,
}

impl GStreamer {
    fn variables(&self) -> [(&'static str, &Path); 2] {
        [
            ("GST_PLUGIN_PATH", &self.plugins),
            ("GST_REGISTRY", &self.registry),
        ]
    }
}

/// The plugin, built now; `None` where GStreamer is not at hand.
pub(super) fn gstreamer() -> Option<&'static GStreamer> {
    static FOUND: OnceLock<Option<GStreamer>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let runs = |program: &str, argument: &str| {
            let mut command = Command::new(program);
            command
                .arg(argument)
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        if !runs("gst-launch-1.0", "--version") {
            return None;
        }
        let of_plugin = ["--package", "gst-dssim", "--features", "plugin"];
        let library = [&of_plugin[..], &["--lib", "--crate-type", "cdylib"]].concat();
        let library = built(&library, "libgstdssim.so");
        let parse = [&of_plugin[..], &["--bin", "dssim-parse"]].concat();
        let parse = built(&parse, "dssim-parse");
        // In a folder of its own, because GStreamer looks at every library of a folder.
        let plugins = library.with_file_name("gst-plugins");
        fs::create_dir_all(&plugins).expect("a folder");
        fs::copy(&library, plugins.join("libgstdssim.so")).expect("a copy");
        let registry = plugins.join("registry.bin");
        let found = GStreamer {
            plugins,
            registry,
            parse,
        };
        // Writes the registry before several programs do so at once.
        let inspected = Command::new("gst-inspect-1.0")
            .arg("nvstreammux")
            .envs(found.variables())
            .output()
            .expect("it runs");
        assert!(inspected.status.success(), "{}", text(&inspected.stderr));
        Some(found)
    });
    if found.is_none() {
        println!("skipped: gst-launch-1.0 is not on PATH");
    }
    found.as_ref()
}

/// Builds with the profile of these tests, into the same folder, and returns what came of it.
pub(super) fn built(args: &[&str], product: &str) -> PathBuf {
    // target/PROFILE/deps/it-HASH
    let own = env::current_exe().expect("a path");
    let profile = own.ancestors().nth(2).expect("the folder of the profile");
    let target = profile.parent().expect("the target folder");
    let mut command = Command::new(env!("CARGO"));
    command.arg(if args.contains(&"--crate-type") {
        "rustc"
    } else {
        "build"
    });
    command.args(args).arg("--target-dir").arg(target);
    if profile.ends_with("release") {
        command.arg("--release");
    }
    let output = command.output().expect("cargo runs");
    assert!(
        output.status.success(),
        "cargo {args:?}\n{}",
        text(&output.stderr)
    );
    let path = profile.join(product);
    assert!(path.exists(), "{}", path.display());
    path
}
