//! Command lines: split as a shell splits them, and the pipeline's own.

use ds_orchestrate::process::{CommandSpec, Interrupt, Live, Runner, shell_quote};
use ds_orchestrate::{Launch, e2e_launch};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};

use super::{copied, read};
use crate::support::sh;

/// Program and arguments of a launch in which nothing is to be filled in.
fn words(launch: &Launch) -> Vec<String> {
    let (program, args) = launch.fill(0, 0, 0);
    [vec![program], args].concat()
}

fn quoted(words: &[String]) -> String {
    words
        .iter()
        .map(|word| shell_quote(word))
        .collect::<Vec<_>>()
        .join(" ")
}

proptest! {
    #[test]
    fn quoted_words_come_back(words in vec("[^{}]{0,12}", 1..6)) {
        let launch = Launch::parse(&quoted(&words)).expect("every quote is closed");
        assert_eq!(self::words(&launch), words);
    }

    #[test]
    fn a_command_as_it_is_shown_can_be_parsed(args in vec("[ -~&&[^{}]]{0,12}", 0..6)) {
        let spec = CommandSpec::new("test", "program", args);
        let launch = Launch::parse(&spec.to_string()).expect("every quote is closed");
        assert_eq!(words(&launch), spec.argv());
    }

    #[test]
    fn no_text_is_too_strange(text in any::<String>()) {
        if let Ok(launch) = Launch::parse(&text) {
            assert!(!words(&launch).is_empty());
        }
    }

    #[test]
    fn quotes_and_blanks_are_no_part_of_plain_words(words in vec("[a-z0-9=./-]{1,8}", 1..6), blanks in "[ \t\n]{1,3}") {
        let command = words.join(&blanks);
        assert_eq!(self::words(&Launch::parse(&command).expect("a command")), words);
    }
}

proptest! {
    // Each case starts a shell.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_shell_reads_the_same_words(words in vec("[^{}\0]{0,12}", 1..5)) {
        let script = format!("printf '%s\\0' {}", quoted(&words));
        let printed = Live::new(Interrupt::default()).run_quietly(&sh("test", &script)).expect("sh runs");
        let expected: Vec<u8> = words.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
        assert_eq!(printed.stdout, expected);
    }
}

#[test]
fn the_command_of_a_pipeline_is_what_its_user_runs() {
    for (form, entry, program) in [
        ("gst-launch", "pipeline.sh", &["sh"][..]),
        ("deepstream-app", "app.txt", &["deepstream-app", "-c"]),
    ] {
        let folder = copied(form);
        let launch = e2e_launch(&read(folder.path(), entry)).expect("it is a program");
        let path = folder.path().join(entry).display().to_string();
        let expected: Vec<String> = program
            .iter()
            .map(|word| (*word).to_owned())
            .chain([path])
            .collect();
        assert_eq!(words(&launch), expected);
    }
}
