//! The command that carries the load, as a template.

use crate::error::Error;

/// A command line with places for the numbers of a run: `{batch}`, `{streams}`, `{seconds}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    words: Vec<String>,
}

impl Launch {
    /// Splits a command line into words as a POSIX shell does: blanks, single and double quotes, backslashes. Nothing
    /// is expanded and no shell runs.
    ///
    /// # Errors
    ///
    /// When a quote is not closed or the command is empty.
    pub fn parse(command: &str) -> Result<Self, Error> {
        let error = |reason: &str| Error::Launch {
            command: command.to_owned(),
            reason: reason.to_owned(),
        };
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        let mut chars = command.chars();
        while let Some(c) = chars.next() {
            match c {
                ' ' | '\t' | '\n' => words.extend(word.take()),
                '\'' => {
                    let word = word.get_or_insert_default();
                    loop {
                        match chars.next() {
                            Some('\'') => break,
                            Some(c) => word.push(c),
                            None => return Err(error("a single quote is not closed")),
                        }
                    }
                }
                '"' => {
                    let word = word.get_or_insert_default();
                    loop {
                        match chars.next() {
                            Some('"') => break,
                            Some('\\') => match chars.next() {
                                Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                                Some(c) => word.extend(['\\', c]),
                                None => return Err(error("a double quote is not closed")),
                            },
                            Some(c) => word.push(c),
                            None => return Err(error("a double quote is not closed")),
                        }
                    }
                }
                '\\' => match chars.next() {
                    Some(c) => word.get_or_insert_default().push(c),
                    None => return Err(error("it ends in a backslash")),
                },
                c => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        Self::from_words(words).ok_or_else(|| error("it is empty"))
    }

    /// A command whose words are known; `None` when there is none.
    pub fn from_words(words: Vec<String>) -> Option<Self> {
        (!words.is_empty()).then_some(Self { words })
    }

    /// Whether the command takes the batch.
    pub fn takes_batch(&self) -> bool {
        self.words.iter().any(|word| word.contains("{batch}"))
    }

    /// Whether the command takes the time to run, and so ends by itself.
    pub fn takes_seconds(&self) -> bool {
        self.words.iter().any(|word| word.contains("{seconds}"))
    }

    /// Program and arguments with the numbers in their places.
    pub fn fill(&self, batch: u32, streams: u32, seconds: u32) -> (String, Vec<String>) {
        let mut words = self.words.iter().map(|word| {
            word.replace("{batch}", &batch.to_string())
                .replace("{streams}", &streams.to_string())
                .replace("{seconds}", &seconds.to_string())
        });
        let program = words.next().expect("a launch has at least one word");
        (program, words.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Launch;

    #[track_caller]
    fn check(command: &str, expected: &[&str]) {
        let launch = Launch::parse(command).expect("a command");
        assert_eq!(launch.words, expected);
    }

    #[test]
    fn words_are_split_as_a_shell_does() {
        check(
            "python3 load.py --batch {batch}",
            &["python3", "load.py", "--batch", "{batch}"],
        );
        check(
            r#"sh -c 'a "b" c' "d\"e\n" f\ g ''"#,
            &["sh", "-c", "a \"b\" c", "d\"e\\n", "f g", ""],
        );
    }

    #[test]
    fn open_quotes_and_empty_commands_are_refused() {
        for (command, reason) in [
            ("a 'b", "a single quote is not closed"),
            ("a \"b", "a double quote is not closed"),
            ("a \\", "it ends in a backslash"),
            (" \t", "it is empty"),
        ] {
            let error = Launch::parse(command).expect_err("no command").to_string();
            assert!(error.ends_with(reason), "{error}");
        }
    }

    #[test]
    fn numbers_take_their_places() {
        let launch = Launch::parse("run --b={batch} {streams} {seconds}").expect("a command");
        assert!(launch.takes_batch() && launch.takes_seconds());
        assert_eq!(
            launch.fill(4, 8, 30),
            (
                "run".to_owned(),
                vec!["--b=4".into(), "8".into(), "30".into()]
            )
        );
    }
}
