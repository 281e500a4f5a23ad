//! Reads real pipeline configurations and says, form by form, how that went.
//!
//! A file is taken by itself, without the files that it names. Every number in it that can be edited is raised by one,
//! alone: one span of the text may change, the new number must read back, and nothing else may read differently.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use ds_config::{KnobSetting, KnobValue, Pipeline, detect};

/// What was found of one form.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    files: usize,
    read: usize,
    edits: usize,
    good_edits: usize,
}

/// Prints the table, and below it what was not read and what was edited wrongly.
pub(crate) fn run(dir: &Path) -> Result<()> {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut not_read = Vec::new();
    let mut wrong = Vec::new();
    for path in files_below(dir)? {
        let bytes = fs::read(&path).with_context(|| format!("reading `{}`", path.display()))?;
        let name = path.strip_prefix(dir).unwrap_or(&path).to_string_lossy();
        let tally = tallies.entry(detect(&bytes).form.to_string()).or_default();
        match try_file(tally, &name, &bytes) {
            Ok(faults) => wrong.extend(faults),
            Err(error) => not_read.push(error.to_string()),
        }
    }
    print!("{}", table(&tallies));
    for error in &not_read {
        println!("not read  {error}");
    }
    for fault in &wrong {
        println!("WRONG     {fault}");
    }
    if !wrong.is_empty() {
        bail!("{} edits went wrong", wrong.len());
    }
    Ok(())
}

/// Every file below a folder, sorted.
fn files_below(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("listing `{}`", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Reads one file and edits each of its numbers; the edits that went wrong are returned.
fn try_file(tally: &mut Tally, name: &str, bytes: &[u8]) -> Result<Vec<String>, ds_config::Error> {
    tally.files += 1;
    let pipeline = resolve(name, bytes)?;
    tally.read += 1;
    let mut faults = Vec::new();
    for setting in pipeline.knobs() {
        let number = setting.value.as_ref().and_then(KnobValue::integer);
        let (Some(number), None) = (number, &setting.not_editable) else {
            continue;
        };
        tally.edits += 1;
        match raise(name, bytes, &pipeline, setting, number + 1) {
            Ok(()) => tally.good_edits += 1,
            Err(fault) => faults.push(format!("{name}: {}: {fault}", setting.target.knob.key())),
        }
    }
    Ok(faults)
}

/// The pipeline of a file whose neighbours are not there.
fn resolve(name: &str, bytes: &[u8]) -> Result<Pipeline, ds_config::Error> {
    Pipeline::resolve(name, &BTreeMap::from([(name.to_owned(), bytes.to_vec())]))
}

/// Sets one number and looks at what that did.
fn raise(
    name: &str,
    bytes: &[u8],
    pipeline: &Pipeline,
    setting: &KnobSetting,
    number: i64,
) -> Result<(), String> {
    let change = pipeline
        .set(setting.target, number)
        .map_err(|error| format!("refused: {error}"))?;
    let [file] = change.files.as_slice() else {
        return Err(format!("changes {} files", change.files.len()));
    };
    let spans = file.edit.indels().len();
    if spans != 1 {
        return Err(format!("changes {spans} spans"));
    }
    let changed = file.edit.apply(bytes).map_err(|error| error.to_string())?;
    let again = resolve(name, &changed).map_err(|error| format!("no longer read: {error}"))?;
    for (before, after) in pipeline.knobs().iter().zip(again.knobs()) {
        let is_target = before.target == setting.target;
        if is_target && after.value != Some(KnobValue::Integer(number)) {
            return Err(format!("reads back as {:?}", after.value));
        }
        // A knob that only follows another one cannot be edited itself.
        let is_free = before.not_editable.is_none();
        if !is_target && is_free && before.value != after.value {
            return Err(format!("changes `{}` too", before.target.knob.key()));
        }
    }
    Ok(())
}

fn table(tallies: &BTreeMap<String, Tally>) -> String {
    let row = |form: &str, tally: &Tally| {
        format!(
            "{form:28} {:>6} {:>6} {:>7} {:>7}\n",
            tally.files, tally.read, tally.edits, tally.good_edits
        )
    };
    let mut text = format!(
        "{:28} {:>6} {:>6} {:>7} {:>7}\n",
        "form", "files", "read", "edits", "right"
    );
    let mut all = Tally::default();
    for (form, tally) in tallies {
        text += &row(form, tally);
        all.files += tally.files;
        all.read += tally.read;
        all.edits += tally.edits;
        all.good_edits += tally.good_edits;
    }
    text + &row("all", &all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_a_file_is_raised_alone() {
        let text = b"[property]\nonnx-file=a.onnx\nbatch-size=4\nnetwork-mode=2\ninterval=0\n";
        let mut tally = Tally::default();
        let faults = try_file(&mut tally, "infer.txt", text).expect("nvinfer's own file");
        assert_eq!(faults, [""; 0]);
        assert_eq!((tally.files, tally.read), (1, 1));
        assert!(tally.edits >= 3, "{tally:?}");
        assert_eq!(tally.good_edits, tally.edits);
    }

    #[test]
    fn a_file_in_no_known_form_is_counted_and_not_read() {
        let mut tally = Tally::default();
        try_file(&mut tally, "notes.txt", b"nothing in particular\n").expect_err("no pipeline");
        assert_eq!(
            tally,
            Tally {
                files: 1,
                ..Tally::default()
            }
        );
    }

    #[test]
    fn an_edit_that_does_not_read_back_is_wrong() {
        let text = b"[property]\nonnx-file=a.onnx\nbatch-size=4\n";
        let pipeline = resolve("infer.txt", text).expect("nvinfer's own file");
        let setting = pipeline
            .knobs()
            .iter()
            .find(|setting| setting.value == Some(KnobValue::Integer(4)))
            .expect("the batch");
        // The edit belongs to the first text and cuts into the second at another place.
        let shifted = b"#\n[property]\nonnx-file=a.onnx\nbatch-size=4\n";
        assert!(raise("infer.txt", text, &pipeline, setting, 5).is_ok());
        assert!(raise("infer.txt", shifted, &pipeline, setting, 5).is_err());
    }

    #[test]
    fn the_table_adds_up() {
        let tally = |files| Tally {
            files,
            read: 1,
            edits: 3,
            good_edits: 2,
        };
        let tallies = BTreeMap::from([("a".to_owned(), tally(1)), ("b".to_owned(), tally(2))]);
        assert!(
            table(&tallies)
                .ends_with("all                               3      2       6       4\n")
        );
    }
}
