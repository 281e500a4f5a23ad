//! The real nsys, where `DSPROF_LIVE=1` is set and one is at hand. There is no GPU: programs are traced without CUDA.
//!
//! Two tests run a script in the place of nsys and are not live: how it hangs and what it leaves is then known.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use ds_orchestrate::bundle::{Bundle, Inputs, RecordedBundle};
use ds_orchestrate::process::{Interrupt, Live, Record, Replay};
use ds_orchestrate::{
    AttachReading, AttachRequest, Counted, Error, GpuMetrics, Launch, ProfileReading,
    ProfileRequest, Subject, attach, profile,
};

use super::Machine;
use crate::support::{assert_nothing_left, folder, put, set_mode, sleep};

/// The real nsys: on the path, or where `.ci/install-nsys.sh` puts it. `None`, and a word about it, where the live tests
/// are not wanted.
#[expect(clippy::print_stdout, reason = "a test that did not run has to say so")]
fn real_nsys(test: &str) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the environment asks for live tests"
    )]
    let wanted = std::env::var_os("DSPROF_LIVE").is_some_and(|value| value == "1");
    let installed = Path::new("/opt/nsys/nsys");
    if !wanted {
        println!("skipped: {test} (DSPROF_LIVE=1 runs it)");
        return None;
    }
    Some(if installed.exists() {
        installed.display().to_string()
    } else {
        "nsys".to_owned()
    })
}

fn start(program: &str, args: &[&str]) -> Child {
    #[expect(clippy::disallowed_methods, reason = "the test plays the user")]
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

/// A load that prints what deepstream-app prints, six windows a second.
fn load(seconds: &str) -> Launch {
    let script = format!(
        "echo '** INFO: <bus_callback:277>: Pipeline running'; i=0; \
         while [ $i -lt $(( {seconds} * 6 )) ]; do echo '**PERF:  30.00 (30.00)'; sleep 0.16; i=$((i+1)); done"
    );
    let words = ["sh", "-c", &script].map(str::to_owned).to_vec();
    Launch::from_words(words).expect("a command")
}

fn request(launch: Launch) -> ProfileRequest {
    ProfileRequest {
        launch,
        subject: Subject::GivenLoad,
        counted: Counted::ByEmitter,
        batch: 1,
        streams: 1,
        seconds: 3,
        trace_seconds: 2,
        gpu_metrics: GpuMetrics::LeftOut,
        patience: Duration::from_secs(120),
    }
}

/// Runs `work` on the machine with a new bundle in `root`.
fn live<T>(root: &Path, nsys: &str, work: impl FnOnce(&mut ds_orchestrate::Session<'_>) -> T) -> T {
    let bundle = Bundle::open(root, Inputs::default()).expect("a new bundle");
    let bundle = Rc::new(RefCell::new(bundle));
    let runner = Live::new(Interrupt::default()).with_bundle_root(root);
    let runner = Record::new(runner, Rc::clone(&bundle));
    let machine = Machine {
        files: Some(root),
        bundle: Some(bundle),
        nsys,
        ..Machine::new(&runner)
    };
    machine.session(work).0
}

/// The same from what `root` recorded.
fn replayed<T>(
    root: &Path,
    nsys: &str,
    work: impl FnOnce(&mut ds_orchestrate::Session<'_>) -> T,
) -> T {
    let recorded = RecordedBundle::open(root).expect("a bundle");
    let runner = Replay::new(recorded).expect("its commands");
    let machine = Machine {
        files: Some(root),
        nsys,
        ..Machine::new(&runner)
    };
    machine.session(work).0
}

fn ran(reading: Result<ProfileReading, Error>) -> ProfileReading {
    reading.expect("the load runs")
}

#[test]
fn live_a_program_is_traced_from_end_to_end_and_replayed() {
    let Some(nsys) = real_nsys("live_a_program_is_traced_from_end_to_end_and_replayed") else {
        return;
    };
    let folder = folder();
    let root = folder.path().join("bundle");
    let request = request(load("{seconds}"));
    let reading = live(&root, &nsys, |session| ran(profile(session, &request)));
    let trace = reading.capture.trace().expect("a trace");
    assert!(trace.devices.is_empty(), "there is no GPU");
    assert!(
        reading
            .account
            .nsys
            .as_ref()
            .is_some_and(|nsys| nsys.contains("20"))
    );
    assert!(reading.profiled.is_some());
    let again = replayed(&root, &nsys, |session| ran(profile(session, &request)));
    assert_eq!(again.capture, reading.capture);
    assert_eq!(again.account, reading.account);
}

#[test]
fn live_a_program_without_an_end_is_traced_in_a_window_and_then_ended() {
    let Some(nsys) =
        real_nsys("live_a_program_without_an_end_is_traced_in_a_window_and_then_ended")
    else {
        return;
    };
    let folder = folder();
    let root = folder.path().join("bundle");
    let pidfile = folder.path().join("id");
    let script = format!(
        "echo $$ > {}; echo 'Pipeline running'; while :; do echo '**PERF:  30.00 (30.00)'; sleep 0.2; done",
        pidfile.display()
    );
    let words = ["sh", "-c", &script].map(str::to_owned).to_vec();
    let request = request(Launch::from_words(words).expect("a command"));
    let reading = live(&root, &nsys, |session| ran(profile(session, &request)));
    assert!(reading.capture.trace().is_some(), "{:?}", reading.capture);
    assert_nothing_left(&pidfile);
}

#[test]
fn live_a_flag_that_the_machine_cannot_serve_is_left_out_in_nsyss_own_words() {
    let test = "live_a_flag_that_the_machine_cannot_serve_is_left_out_in_nsyss_own_words";
    let Some(nsys) = real_nsys(test) else {
        return;
    };
    if Path::new("/dev/nvidia0").exists() {
        println!("skipped: {test} (this machine has a GPU)");
        return;
    }
    let folder = folder();
    let root = folder.path().join("bundle");
    let mut request = request(load("{seconds}"));
    request.gpu_metrics = GpuMetrics::Sampled;
    let reading = live(&root, &nsys, |session| ran(profile(session, &request)));
    let fallback = reading.account.fallbacks[0].to_string();
    assert!(
        fallback.contains("--gpu-metrics-device") && fallback.contains("ran without it"),
        "{fallback}"
    );
    assert!(reading.capture.trace().is_some(), "{:?}", reading.capture);
}

fn attach_to(
    session: &mut ds_orchestrate::Session<'_>,
    name: &str,
) -> Result<AttachReading, Error> {
    let request = AttachRequest {
        session: name.to_owned(),
        seconds: 1,
        gpu_metrics: GpuMetrics::LeftOut,
        patience: Duration::from_secs(120),
    };
    attach(session, &request)
}

#[test]
fn live_a_session_is_traced_and_its_program_runs_on() {
    let Some(nsys) = real_nsys("live_a_session_is_traced_and_its_program_runs_on") else {
        return;
    };
    let folder = folder();
    let root = folder.path().join("bundle");
    let name = format!("dsprof-test-{}", std::process::id());
    let pidfile = folder.path().join("id");
    let script = format!("echo $$ > {}; exec sleep 120", pidfile.display());
    let own = format!("--session-new={name}");
    let mut launched = start(
        &nsys,
        &["launch", &own, "--trace=nvtx,osrt", "sh", "-c", &script],
    );
    for _ in 0..300 {
        if pidfile.exists() {
            break;
        }
        sleep(Duration::from_millis(100));
    }
    let reading = live(&root, &nsys, |session| attach_to(session, &name)).expect("a session");
    assert!(reading.capture.trace().is_some(), "{:?}", reading.capture);
    assert_eq!(reading.account.notes, [""; 0], "the session is as it was");
    let id = std::fs::read_to_string(&pidfile).expect("it runs");
    assert!(
        PathBuf::from(format!("/proc/{}", id.trim())).exists(),
        "it runs on"
    );
    // A session that is not there is refused, and none of that name is opened.
    let other = folder.path().join("other");
    let error = live(&other, &nsys, |session| {
        attach_to(session, "dsprof-no-such")
    });
    assert!(
        error
            .expect_err("there is none")
            .to_string()
            .contains(&name),
        "the sessions that are there are named"
    );
    let shutdown = format!("--session={name}");
    start(&nsys, &["shutdown", "--kill=sigkill", &shutdown])
        .wait()
        .expect("it ends");
    launched.wait().expect("it ends");
    assert_nothing_left(&pidfile);
}

/// A script that answers `--version` and does `rest` for everything else.
fn fake_nsys(folder: &Path, rest: &str) -> String {
    let path = folder.join("nsys");
    let version = "NVIDIA Nsight Systems version 2025.3.2.474-253236389321v0";
    put(
        &path,
        format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{version}'; exit 0; fi\n{rest}\n"
        ),
    );
    set_mode(&path, 0o755);
    path.display().to_string()
}

/// Profiles a load of a moment with this nsys, for which `patience` is had.
fn with_fake(root: &Path, nsys: &str, patience: Duration) -> ProfileReading {
    let words = ["sh", "-c", "echo {seconds}"].map(str::to_owned).to_vec();
    let mut request = request(Launch::from_words(words).expect("a command"));
    request.seconds = 1;
    request.trace_seconds = 1;
    request.patience = patience;
    live(root, nsys, |session| ran(profile(session, &request)))
}

#[test]
fn an_nsys_that_hangs_is_ended_with_its_group() {
    let folder = folder();
    let pidfile = folder.path().join("id");
    let rest = format!("echo $$ > {}\nsleep 600 &\nwait", pidfile.display());
    let nsys = fake_nsys(folder.path(), &rest);
    let root = folder.path().join("bundle");
    let reading = with_fake(&root, &nsys, Duration::from_millis(500));
    let reason = reading.capture.missing().expect("no trace");
    assert!(reason.contains("did not end within"), "{reason}");
    assert_nothing_left(&pidfile);
}

#[test]
fn an_nsys_that_does_nothing_and_says_that_all_is_well() {
    let folder = folder();
    let nsys = fake_nsys(folder.path(), "echo Generated:\nexit 0");
    let root = folder.path().join("bundle");
    let reading = with_fake(&root, &nsys, Duration::from_secs(20));
    let reason = reading.capture.missing().expect("no trace").to_owned();
    assert!(
        reason.contains("exit status 0") && reason.contains("left no report"),
        "{reason}"
    );
    // A replay comes to the same end, though nobody can look for the file any more.
    let words = ["sh", "-c", "echo {seconds}"].map(str::to_owned).to_vec();
    let mut request = request(Launch::from_words(words).expect("a command"));
    (request.seconds, request.trace_seconds) = (1, 1);
    let again = replayed(&root, &nsys, |session| ran(profile(session, &request)));
    assert_eq!(again.capture.missing(), Some(reason.as_str()));
}
