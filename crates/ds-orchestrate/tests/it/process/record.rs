//! What a recording holds, while a program runs and afterwards.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use ds_orchestrate::bundle::{
    Bundle, CommandRecord, Inputs, RecordedBundle, RecordedExit, StageName, StageState,
};
use ds_orchestrate::process::{
    CommandSpec, Exit, Flow, Interrupt, Live, OutputStream, Record, RunError, Runner,
};

use crate::support::{Fake, folder, not_found, outcome, put, same_error, sh};

pub(super) fn open(root: &Path) -> Rc<RefCell<Bundle>> {
    let bundle = Bundle::open(root, Inputs::default()).expect("the folder is ours");
    Rc::new(RefCell::new(bundle))
}

pub(super) fn recorded(root: &Path) -> RecordedBundle {
    RecordedBundle::open(root).expect("a bundle")
}

fn commands(root: &Path) -> Vec<CommandRecord> {
    recorded(root).commands().expect("commands")
}

#[test]
fn a_command_with_all_that_belongs_to_it() {
    let folder = folder();
    let live = Live::new(Interrupt::default()).with_bundle_root(folder.path());
    let record = Record::new(live, open(folder.path()));
    let script = "echo data > \"$0\"; echo out; echo err >&2; exit 3";
    let mut spec = CommandSpec::new(
        "trace/make",
        "/bin/sh",
        ["-c", script, "[BUNDLE]/trace/made"],
    )
    .produces("trace/made")
    .produces("trace/never-made");
    spec.env = vec![("DSPROF_A".into(), "1".into())];
    let outcome = record.run_quietly(&spec).expect("sh runs");
    assert_eq!(outcome.exit, Exit::Code(3));

    let mut commands = commands(folder.path());
    let measured = commands[0].duration_s.take().expect("it was measured");
    let duration = outcome.duration.expect("it was measured").as_secs_f64();
    assert!(
        (measured - duration).abs() <= 0.0005,
        "{measured} of {duration}"
    );
    let expected = CommandRecord {
        seq: 1,
        purpose: "trace/make".to_owned(),
        argv: ["/bin/sh", "-c", script, "[BUNDLE]/trace/made"]
            .map(str::to_owned)
            .to_vec(),
        env: spec.env,
        exit: RecordedExit::Code(3),
        duration_s: None,
        stdout: "commands/0001-sh.stdout".to_owned(),
        stderr: "commands/0001-sh.stderr".to_owned(),
        dropped: 0,
        through: Vec::new(),
        files: vec!["trace/made".to_owned()],
    };
    assert_eq!(commands, [expected]);
    let bundle = recorded(folder.path());
    for (file, content) in [
        ("trace/made", "data\n"),
        ("commands/0001-sh.stdout", "out\n"),
        ("commands/0001-sh.stderr", "err\n"),
    ] {
        assert_eq!(
            bundle.read(file).expect("it was hashed"),
            content.as_bytes()
        );
    }
}

#[test]
fn the_output_files_grow_while_the_program_runs() {
    let folder = folder();
    let record = Record::new(Live::new(Interrupt::default()), open(folder.path()));
    let mut seen: [Vec<u8>; 2] = [Vec::new(), Vec::new()];
    let names = ["commands/0001-sh.stdout", "commands/0001-sh.stderr"];
    let mut chunks = 0;
    record
        .run(
            &sh(
                "test",
                "echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three",
            ),
            &mut |stream, chunk| {
                seen[usize::from(stream == OutputStream::Stderr)].extend_from_slice(chunk);
                for (name, expected) in names.iter().zip(&seen) {
                    assert_eq!(
                        &fs::read(folder.path().join(name)).expect("it is there"),
                        expected
                    );
                }
                chunks += 1;
                Flow::Continue
            },
        )
        .expect("sh runs");
    assert!(chunks >= 3);
}

#[test]
fn the_growing_files_keep_to_the_cap() {
    let folder = folder();
    let record = Record::new(Live::new(Interrupt::default()), open(folder.path()));
    let mut spec = sh("test", "head -c 300000 /dev/zero");
    spec.output_cap = 100_000;
    let stdout = folder.path().join("commands/0001-sh.stdout");
    let mut largest = 0;
    record
        .run(&spec, &mut |_, _| {
            largest = largest.max(fs::metadata(&stdout).expect("it is there").len());
            Flow::Continue
        })
        .expect("sh runs");
    assert_eq!(largest, 100_000);
    assert_eq!(fs::metadata(&stdout).expect("it is there").len(), 100_000);
    assert_eq!(commands(folder.path())[0].dropped, 200_000);
}

#[test]
fn the_rest_of_a_run_that_crashed_is_not_mixed_with_the_next() {
    let folder = folder();
    let bundle = open(folder.path());
    fs::create_dir(folder.path().join("commands")).expect("an empty folder");
    let stdout = folder.path().join("commands/0001-sh.stdout");
    put(&stdout, "of the run that crashed\n");
    Record::new(Live::new(Interrupt::default()), bundle)
        .run(&sh("test", "echo new"), &mut |_, _| {
            assert_eq!(fs::read_to_string(&stdout).expect("it is there"), "new\n");
            Flow::Continue
        })
        .expect("sh runs");
    assert_eq!(fs::read_to_string(&stdout).expect("it is there"), "new\n");
}

#[test]
fn programs_that_cannot_run_are_recorded_as_that() {
    let folder = folder();
    let record = Record::new(Live::new(Interrupt::default()), open(folder.path()));
    record
        .run_quietly(&CommandSpec::new("a", "dsprof-no-such-program", [""; 0]))
        .expect_err("there is none");
    record
        .run_quietly(&CommandSpec::new("b", "/", [""; 0]))
        .expect_err("a folder is no program");
    let commands = commands(folder.path());
    assert_eq!(
        (commands[0].exit.clone(), commands[0].duration_s),
        (RecordedExit::NotFound, None)
    );
    let RecordedExit::Unstartable(reason) = &commands[1].exit else {
        panic!("{:?}", commands[1].exit);
    };
    assert!(reason.starts_with("Permission denied"), "{reason}");
}

#[test]
fn what_was_interrupted_did_not_happen() {
    let folder = folder();
    let fake = Fake::new(|spec| {
        Err(same_error(&RunError::Interrupted {
            program: spec.program.clone(),
        }))
    });
    let record = Record::new(fake, open(folder.path()));
    record
        .run_quietly(&sh("a", ""))
        .expect_err("it was interrupted");
    record
        .run_beside(&sh("b", ""), &[sh("c", "")], &mut |_| Flow::Continue)
        .expect_err("it was interrupted");
    assert_eq!(commands(folder.path()), []);
}

#[test]
fn a_sampler_is_a_command_of_its_own() {
    let folder = folder();
    let fake = Fake::new(|spec| match spec.purpose.as_str() {
        "main" => Ok(outcome(Exit::Code(0), "rate", "")),
        _ => Ok(outcome(Exit::Stopped, "samples", "")),
    });
    let (_, mut sampled) = Record::new(fake, open(folder.path()))
        .run_beside(
            &CommandSpec::new("main", "load", [""; 0]),
            &[CommandSpec::new("side", "nvidia-smi", ["dmon"])],
            &mut |_| Flow::Continue,
        )
        .expect("the program ran");
    let sampled = sampled.remove(0).expect("the sampler ran");
    assert_eq!(sampled.stdout, b"samples");
    let found: Vec<_> = commands(folder.path())
        .into_iter()
        .map(|command| (command.seq, command.purpose, command.stdout, command.exit))
        .collect();
    let expected = [
        (
            1,
            "main",
            "commands/0001-load.stdout",
            RecordedExit::Code(0),
        ),
        (
            2,
            "side",
            "commands/0002-nvidia-smi.stdout",
            RecordedExit::Stopped,
        ),
    ];
    assert_eq!(
        found,
        expected.map(|(seq, p, file, exit)| (seq, p.to_owned(), file.to_owned(), exit))
    );
}

#[test]
fn a_missing_main_program_is_recorded_without_its_sampler() {
    let folder = folder();
    let fake = Fake::new(|spec| match spec.purpose.as_str() {
        "main" => Err(not_found(spec)),
        _ => Ok(outcome(Exit::Stopped, "", "")),
    });
    Record::new(fake, open(folder.path()))
        .run_beside(&sh("main", ""), &[sh("side", "")], &mut |_| Flow::Continue)
        .expect_err("it is missing");
    let found: Vec<_> = commands(folder.path())
        .into_iter()
        .map(|c| (c.purpose, c.exit))
        .collect();
    assert_eq!(found, [("main".to_owned(), RecordedExit::NotFound)]);
}

#[test]
fn a_resumed_recording_counts_on() {
    let folder = folder();
    for (stage, purpose) in [
        (StageName::Hw, "hw/identity"),
        (StageName::Sweep, "sweep/b1/load"),
    ] {
        let bundle = open(folder.path());
        Record::new(
            Fake::new(|_| Ok(outcome(Exit::Code(0), "", ""))),
            Rc::clone(&bundle),
        )
        .run_quietly(&sh(purpose, ""))
        .expect("it runs");
        bundle
            .borrow_mut()
            .set_stage(stage, StageState::Finished)
            .expect("the folder is writable");
    }
    let found: Vec<_> = commands(folder.path())
        .into_iter()
        .map(|c| (c.seq, c.purpose))
        .collect();
    assert_eq!(
        found,
        [
            (1, "hw/identity".to_owned()),
            (2, "sweep/b1/load".to_owned())
        ]
    );
}

#[test]
fn a_name_that_a_file_cannot_have_is_made_one() {
    let folder = folder();
    let record = Record::new(
        Fake::new(|_| Ok(outcome(Exit::Code(0), "", ""))),
        open(folder.path()),
    );
    record
        .run_quietly(&CommandSpec::new("test", "/opt/my tool/run it.sh", [""; 0]))
        .expect("it runs");
    assert_eq!(
        commands(folder.path())[0].stdout,
        "commands/0001-run_it.sh.stdout"
    );
}
