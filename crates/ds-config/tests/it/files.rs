//! Sources of files for the tests of whole pipelines.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use ds_config::{Change, FileSource, KnobSetting, Pipeline};

/// The files below a folder of the disk.
pub(crate) struct Folder(pub(crate) PathBuf);

impl FileSource for Folder {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        std::fs::read(self.0.join(path))
    }

    fn exists(&self, path: &str) -> bool {
        self.0.join(path).exists()
    }
}

/// Files in memory.
pub(crate) fn memory(files: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
    files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
        .collect()
}

/// The files after a change, as a new source.
pub(crate) fn after(pipeline: &Pipeline, change: &Change) -> BTreeMap<String, Vec<u8>> {
    let mut files: BTreeMap<String, Vec<u8>> = pipeline
        .files
        .iter()
        .map(|file| (file.path().to_owned(), file.bytes().to_vec()))
        .collect();
    for edit in &change.files {
        let bytes = edit.edit.apply(&files[&edit.path]).expect("the edit fits");
        files.insert(edit.path.clone(), bytes);
    }
    files
}

/// A pipeline in memory.
#[track_caller]
pub(crate) fn resolve(files: &[(&str, &str)]) -> Pipeline {
    Pipeline::resolve(files[0].0, &memory(files)).expect("the pipeline is good")
}

/// Everything that is known of a pipeline, a line a thing.
pub(crate) fn show(pipeline: &Pipeline) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(text.trim_end());
        out.push('\n');
    };
    line(format!("form {}", pipeline.form));
    for file in &pipeline.files {
        line(format!("file {} ({})", file.path(), file.form()));
    }
    line(format!(
        "mux {:?}, streams {:?}",
        pipeline.mux,
        pipeline.streams()
    ));
    for element in &pipeline.elements {
        let place = &element.place;
        line(format!(
            "{:<2} {:?} {} `{}` {:?} {place}",
            element.id.index(),
            element.role,
            element.factory,
            element.name,
            element.branch
        ));
        for setting in pipeline
            .knobs()
            .iter()
            .filter(|setting| setting.target.element == element.id)
        {
            line(format!("     {}", show_setting(setting)));
        }
    }
    for source in &pipeline.sources {
        line(format!(
            "source {} {:?} x {:?} {:?} {:?} {:?}",
            source.element.index(),
            source.kind,
            source.streams,
            source.uris,
            source.size,
            source.rate
        ));
    }
    for stage in &pipeline.infer {
        line(format!(
            "infer {} {:?} {:?} preprocessed {}",
            stage.element.index(),
            stage.plugin,
            stage.config_path,
            stage.tensors_from_preprocess
        ));
    }
    for sink in &pipeline.sinks {
        line(format!(
            "sink {} {:?} sync {:?} {:?}",
            sink.element.index(),
            sink.kind,
            sink.sync,
            sink.output
        ));
    }
    for (name, place) in &pipeline.disabled {
        line(format!("disabled {name} {place}"));
    }
    for place in &pipeline.others {
        line(format!("other {place}"));
    }
    for fault in &pipeline.faults {
        line(format!("fault {fault}"));
    }
    out
}

fn show_setting(setting: &KnobSetting) -> String {
    let mut text = format!("{:?} =", setting.target.knob);
    match (&setting.value, &setting.computed) {
        (Some(value), _) => write!(text, " {value}"),
        (None, Some(computed)) => write!(text, " computed `{computed}`"),
        (None, None) => write!(text, " (default {})", setting.default.unwrap_or("unknown")),
    }
    .expect("a string takes text");
    if let Some(place) = &setting.place {
        write!(text, " at {place}").expect("a string takes text");
    }
    for old in &setting.overridden {
        write!(text, ", over {} at {}", old.value, old.place).expect("a string takes text");
    }
    if let Some(reason) = &setting.not_editable {
        write!(text, ", fixed: {reason}").expect("a string takes text");
    }
    text
}

/// The lines that a change replaces, removes or adds, file by file.
pub(crate) fn show_change(pipeline: &Pipeline, change: &Change) -> String {
    let mut out = String::new();
    for file in &change.files {
        let before = pipeline
            .files
            .iter()
            .find(|held| held.path() == file.path)
            .expect("an edit of a file that was read");
        let after = file.edit.apply(before.bytes()).expect("the edit fits");
        let before = String::from_utf8_lossy(before.bytes()).into_owned();
        let after = String::from_utf8_lossy(&after).into_owned();
        writeln!(out, "{}", file.path).expect("a string takes text");
        let diff = similar_lines(&before, &after);
        out.push_str(&diff);
    }
    for knob in &change.knobs {
        if !knob.dropped.is_empty() {
            writeln!(out, "dropped {}", knob.dropped.join(" ")).expect("a string takes text");
        }
    }
    out
}

/// The lines that differ, by the longest common prefix and suffix of what is left.
fn similar_lines(before: &str, after: &str) -> String {
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let mut lengths = vec![vec![0_usize; after.len() + 1]; before.len() + 1];
    for i in (0..before.len()).rev() {
        for j in (0..after.len()).rev() {
            lengths[i][j] = if before[i] == after[j] {
                lengths[i + 1][j + 1] + 1
            } else {
                lengths[i + 1][j].max(lengths[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut out = String::new();
    while i < before.len() || j < after.len() {
        if i < before.len() && j < after.len() && before[i] == after[j] {
            (i, j) = (i + 1, j + 1);
        } else if i < before.len() && (j == after.len() || lengths[i + 1][j] >= lengths[i][j + 1]) {
            writeln!(out, "-{}", before[i]).expect("a string takes text");
            i += 1;
        } else {
            writeln!(out, "+{}", after[j]).expect("a string takes text");
            j += 1;
        }
    }
    out
}
