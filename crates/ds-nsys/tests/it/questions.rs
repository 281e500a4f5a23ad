//! Everything that a trace can be asked, one line a question: what damages one answer must be noticed in each.

use std::fmt::Debug;

use ds_nsys::{
    CategoryOptions, CheckOptions, DiffOptions, GapOptions, KernelNaming, Purpose, RankOptions,
    RankTable, RefusalPolicy, Report, ReportKind, ReportOptions, Result, SampledProfile, Selection,
    Split, StepOptions, Style, Trace, Window,
};

/// A question, and its answer in words.
pub(crate) type Answer = (String, Result<String>);

/// Every report with every combination of its options.
pub(crate) fn reports() -> Vec<Report> {
    let mut reports: Vec<Report> = ReportKind::all().map(Report::from).collect();
    for kind in ReportKind::all() {
        for options in ["base", "mangled", "nvtx-name", "base:nvtx-name", "rows=3"] {
            // Not every report has every option.
            reports.extend(format!("{kind}:{options}").parse::<Report>());
        }
    }
    reports
}

/// Asks everything.
pub(crate) fn ask_everything(trace: &Trace) -> Vec<Answer> {
    let mut answers = Vec::new();
    for report in reports() {
        for style in [Style::V2023, Style::V2025] {
            let options = ReportOptions {
                style,
                ..ReportOptions::default()
            };
            let table = trace.report(report, options).map(|table| table.to_csv());
            answers.push((format!("{report} {style:?}"), table));
        }
    }
    let mut put =
        |question: &str, answer: Result<String>| answers.push((question.to_owned(), answer));
    let streams = Selection {
        split: Split::Stream,
        ..Selection::default()
    };
    put("busy", words(trace.busy(Window::ALL)));
    put(
        "kernels",
        words(trace.kernel_summary(KernelNaming::Demangled, streams)),
    );
    put("memory operations", words(trace.memory_summary(streams)));
    put("calls", words(trace.api_summary(streams)));
    put(
        "calls of the system",
        words(trace.os_runtime_summary(streams)),
    );
    put("ranges", words(trace.range_summary(streams)));
    put("plugins", words(trace.plugin_times(Window::ALL)));
    put("metrics", words(trace.gpu_metrics(Window::ALL)));
    put("memory", words(trace.memory_usage()));
    put("gaps", words(trace.gaps(GapOptions::default())));
    put("steps", words(trace.steps(&StepOptions::default())));
    for purpose in [
        Purpose::Timing,
        Purpose::Kernels,
        Purpose::Decode,
        Purpose::Pipeline,
    ] {
        let verdict = trace.check(Some(purpose), &CheckOptions::default());
        put(&format!("check as {purpose}"), words(verdict));
    }
    put(
        "categories",
        words(trace.categories(&CategoryOptions::default())),
    );
    let sampled = SampledProfile::parse("kernel\tsamples\na\t1\n").expect("a profile");
    put(
        "join",
        words(trace.join(&sampled, &CategoryOptions::default())),
    );
    let overridden = DiffOptions {
        policy: RefusalPolicy::Override,
        ..DiffOptions::default()
    };
    put("diff", words(trace.diff(trace, &overridden)));
    put(
        "ranks",
        words(RankTable::new(&[trace], &RankOptions::default())),
    );
    put("GPUs", words(trace.gpus()));
    put("processes", words(trace.processes()));
    put("diagnostics", words(trace.diagnostics()));
    put("session", words(trace.session_duration()));
    answers
}

fn words<T: Debug>(answer: Result<T>) -> Result<String> {
    answer.map(|answer| format!("{answer:?}"))
}
