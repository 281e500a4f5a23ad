//! What nsys says on its console, which its exit status does not tell.

use crate::process::Outcome;

/// An argument that nsys did not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Its name, for example `--cuda-graph-trace`.
    pub(super) flag: String,
    /// What of it.
    pub(super) what: Refused,
    /// The sentence.
    pub(super) words: String,
}

/// What of an argument was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// Its name: another release may have another one.
    Name,
    /// Its value, or what it asks for on this machine.
    Value,
}

/// How nsys 2022.4.2 and 2023.4.4 begin the sentence about an argument that they do not take; the name follows, in quotes
/// or before the word "argument". The second spelling of the first is a precaution.
const REFUSALS: [(&str, Refused); 3] = [
    ("unrecognised option ", Refused::Name),
    ("unrecognized option ", Refused::Name),
    ("Illegal ", Refused::Value),
];

/// The argument that nsys refused, if it refused one.
pub(super) fn refusal(outcome: &Outcome) -> Option<Refusal> {
    let lines = lines(outcome);
    let named = lines.iter().enumerate().find_map(|(at, line)| {
        let (behind, what) = REFUSALS
            .iter()
            .find_map(|(start, what)| Some((line.strip_prefix(start)?, *what)))?;
        let flag = behind
            .trim_start_matches('\'')
            .split(['=', '\'', ' '])
            .next()
            .filter(|flag| flag.starts_with("--"))?;
        // A refused value is explained in the line behind.
        let reason = lines
            .get(at + 1)
            .filter(|next| what == Refused::Value && !is_help(next));
        Some(Refusal {
            flag: flag.to_owned(),
            what,
            words: [Some(line), reason]
                .into_iter()
                .flatten()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(" "),
        })
    });
    let not_permitted = || {
        let line = lines.iter().find(|line| line.contains(NO_COUNTERS))?;
        Some(Refusal {
            flag: "--gpu-metrics-device".to_owned(),
            what: Refused::Value,
            words: line.clone(),
        })
    };
    named.or_else(not_permitted)
}

/// The name under which NVIDIA documents that only administrators may read the counters of a GPU.
const NO_COUNTERS: &str = "ERR_NVGPUCTRPERM";

/// Lines that explain the command line in general.
fn is_help(line: &str) -> bool {
    ["usage:", "Possible ", "Use the ", "Try "]
        .iter()
        .any(|start| line.starts_with(start))
}

/// What nsys says about why it did not work: the first line that is no progress bar, usage or output of the program, as
/// far as they can be told apart, else the last line of all.
pub(super) fn complaint(outcome: &Outcome) -> String {
    let lines = lines(outcome);
    let complains = |line: &&String| {
        let lower = line.to_lowercase();
        COMPLAINTS.iter().any(|word| lower.contains(word))
    };
    let words = lines
        .iter()
        .find(complains)
        .or_else(|| lines.last())
        .map_or("it said nothing", String::as_str);
    words.chars().take(300).collect()
}

/// Words of the sentences in which nsys complains (2022.4.2, 2023.4.4 and public threads).
const COMPLAINTS: [&str; 10] = [
    "error",
    "failed",
    "illegal",
    "unrecognised",
    "cannot",
    "could not",
    "not found",
    "not allowed",
    "permission",
    "terminated",
];

/// Texts by which nvinfer says that it builds an engine, or that it has built one (DeepStream 9.1, `nvdsinfer`).
const ENGINE_BUILD: [&str; 2] = [
    "serialize cuda engine to file",
    "Trying to create engine from model files",
];

/// The line in which a program says that it built an engine.
pub(crate) fn engine_build(outcome: &Outcome) -> Option<String> {
    lines(outcome)
        .into_iter()
        .find(|line| ENGINE_BUILD.iter().any(|text| line.contains(text)))
        .map(|line| line.chars().take(200).collect())
}

/// The lines of standard error, then those of standard output, without blank ones. Progress bars are drawn over each
/// other with carriage returns and hold no words.
fn lines(outcome: &Outcome) -> Vec<String> {
    let is_bar = |line: &&str| line.starts_with('[') && line.contains('%');
    [outcome.stderr_text(), outcome.stdout_text()]
        .iter()
        .flat_map(|text| text.split(['\n', '\r']))
        .map(str::trim)
        .filter(|line| !line.is_empty() && !is_bar(line))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Refused, complaint, engine_build, refusal};
    use crate::process::{Exit, Outcome};

    fn said(stdout: &str, stderr: &str) -> Outcome {
        Outcome {
            exit: Exit::Code(1),
            stdout: stdout.into(),
            stderr: stderr.into(),
            dropped: 0,
            duration: None,
            through: Vec::new(),
        }
    }

    #[test]
    fn refused_arguments() {
        // As 2023.4.4 prints them.
        for (text, flag) in [
            (
                "unrecognised option '--gpu-metrics-devices=0'\n\nusage: nsys profile [<args>]\n",
                "--gpu-metrics-devices",
            ),
            (
                "Illegal --cuda-graph-trace argument: bogus\n\nusage: nsys profile\n",
                "--cuda-graph-trace",
            ),
            (
                "Illegal --trace argument 'foo'\nPossible --trace values are one or more of 'cuda'\n",
                "--trace",
            ),
        ] {
            let refusal = refusal(&said("", text)).expect("a refusal");
            assert_eq!(refusal.flag, flag);
            assert_eq!(text.lines().next(), Some(refusal.words.as_str()));
        }
        assert_eq!(
            refusal(&said("Illegal move\n", "unrecognised option 'x'\n")),
            None
        );
    }

    #[test]
    fn what_is_refused_and_why() {
        let text = "Illegal --gpu-metrics-device argument: 0.\nNo such GPU: 0.\nUse the \'--gpu-metrics-device=help\' \
                    switch to see the full list of values.\n";
        let value = refusal(&said("", text)).expect("a refusal");
        assert_eq!(
            (value.what, value.words.as_str()),
            (
                Refused::Value,
                "Illegal --gpu-metrics-device argument: 0. No such GPU: 0."
            )
        );
        let text = "GPU Metrics [0]: insufficient privilege, see https://developer.nvidia.com/ERR_NVGPUCTRPERM\n";
        let counters = refusal(&said(text, "")).expect("a refusal");
        assert_eq!(counters.flag, "--gpu-metrics-device");
        assert!(counters.words.contains("privilege"));
    }

    #[test]
    fn a_complaint_is_found_between_bars_and_output() {
        let outcome = said(
            "**PERF:  30.00\n[1/1] [0%   ] e2e.nsys-rep\r[1/1] [100%] e2e.nsys-rep\nImportation failed with an error\nbye\n",
            "",
        );
        assert_eq!(complaint(&outcome), "Importation failed with an error");
        assert_eq!(complaint(&said("all is well\n", "")), "all is well");
        assert_eq!(complaint(&said("", "")), "it said nothing");
    }

    #[test]
    fn an_engine_that_is_built() {
        let line =
            "0:00:41.2 INFO: serialize cuda engine to file: /m/a_b4_gpu0_fp16.engine successfully";
        assert_eq!(engine_build(&said("", line)).as_deref(), Some(line));
        assert_eq!(
            engine_build(&said("deserialized trt engine from :a\n", "")),
            None
        );
    }
}
