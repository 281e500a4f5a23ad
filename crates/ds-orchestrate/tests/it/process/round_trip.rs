//! A recording answers as the program did, whatever it did.

use std::io;
use std::time::Duration;

use ds_orchestrate::process::{Exit, Flow, Outcome, Record, Replay, RunError, Runner};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};

use super::record::{open, recorded};
use crate::support::{Fake, folder, same_error, sh};

fn exit() -> impl Strategy<Value = Exit> {
    prop_oneof![
        any::<i32>().prop_map(Exit::Code),
        (1..65).prop_map(Exit::Signal),
        Just(Exit::TimedOut),
        Just(Exit::Stopped),
    ]
}

/// Durations are recorded in whole milliseconds; those of a day keep them in the seconds of JSON.
fn duration() -> impl Strategy<Value = Option<Duration>> {
    proptest::option::of((0..86_400_000_u64).prop_map(Duration::from_millis))
}

fn outcome() -> impl Strategy<Value = Result<Outcome, RunError>> {
    let ran = (
        exit(),
        vec(any::<u8>(), 0..300),
        vec(any::<u8>(), 0..300),
        any::<u64>(),
        duration(),
    )
        .prop_map(|(exit, stdout, stderr, dropped, duration)| {
            Ok(Outcome {
                exit,
                stdout,
                stderr,
                dropped,
                duration,
                through: Vec::new(),
            })
        });
    let missing = Just(()).prop_map(|()| {
        Err(RunError::NotFound {
            program: "sh".to_owned(),
        })
    });
    let unstartable = "[ -~]{0,20}".prop_map(|text| {
        Err(RunError::Io {
            program: "sh".to_owned(),
            source: io::Error::other(text),
        })
    });
    prop_oneof![6 => ran, 1 => missing, 1 => unstartable]
}

/// An outcome in a form that can be compared: errors by their kind and text.
fn shown(result: &Result<Outcome, RunError>) -> Result<Outcome, String> {
    match result {
        Ok(outcome) => Ok(outcome.clone()),
        Err(error) => Err(format!("{error:?}")),
    }
}

fn again(result: &Result<Outcome, RunError>) -> Result<Outcome, RunError> {
    match result {
        Ok(outcome) => Ok(outcome.clone()),
        Err(error) => Err(same_error(error)),
    }
}

proptest! {
    // Each case syncs about twenty files to the disk.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn one_command(answer in outcome()) {
        let folder = folder();
        let spec = sh("test", "");
        let record = Record::new(Fake::new(|_| again(&answer)), open(folder.path()));
        let live = shown(&record.run_quietly(&spec));
        let replayed = shown(&Replay::new(recorded(folder.path())).expect("commands").run_quietly(&spec));
        assert_eq!(live, shown(&answer));
        assert_eq!(replayed, live);
    }

    #[test]
    fn a_command_with_a_sampler(main in outcome(), side in outcome()) {
        let folder = folder();
        let (main_spec, side_spec) = (sh("main", ""), sh("side", ""));
        let fake = Fake::new(|spec| again(if spec.purpose == "main" { &main } else { &side }));
        let run = |runner: &dyn Runner| {
            let result = runner.run_beside(&main_spec, std::slice::from_ref(&side_spec), &mut |_| Flow::Continue);
            result
                .map(|(outcome, sampled)| (outcome, shown(&sampled[0])))
                .map_err(|error| format!("{error:?}"))
        };
        let live = run(&Record::new(fake, open(folder.path())));
        let replayed = run(&Replay::new(recorded(folder.path())).expect("commands"));
        assert_eq!(&live, &shown(&main).map(|outcome| (outcome, shown(&side))));
        assert_eq!(replayed, live);
    }
}
