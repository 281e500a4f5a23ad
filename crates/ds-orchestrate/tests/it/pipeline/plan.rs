//! A plan on its way into the files.

use std::fs;
use std::path::Path;

use ds_ceilings::Batch;
use ds_derive::{ModelBatch, Variant, derive};
use ds_orchestrate::transaction::apply;
use ds_orchestrate::{PlannedEdits, plan_edits};
use similar::{ChangeTag, TextDiff};

use super::{FORMS, copied, facts, h200, planned, read};

fn places(edits: &PlannedEdits) -> Vec<String> {
    edits
        .edits
        .iter()
        .map(|edit| match &edit.place {
            Ok(place) => place.clone(),
            Err(reason) => panic!("{}: {reason}", edit.derivation.knob.name()),
        })
        .collect()
}

#[test]
fn the_diffs_of_both_forms() {
    for (form, entry) in FORMS {
        let folder = copied(form);
        let (_, edits) = planned(&read(folder.path(), entry));
        let root = folder.path().display().to_string();
        insta::assert_snapshot!(
            format!("diff_{form}"),
            edits.unified_diff().replace(&root, "[ROOT]")
        );
    }
}

#[test]
fn an_applied_plan_leaves_nothing_to_write() {
    for (form, entry) in FORMS {
        let folder = copied(form);
        let (plan, edits) = planned(&read(folder.path(), entry));
        assert!(!edits.files.is_empty(), "{form} has faults on purpose");
        apply(&edits.files, &folder.path().join("edits")).expect("nothing is in the way");

        let pipeline = read(folder.path(), entry);
        // The same plan once more, and one that is derived from what stands there now.
        let again =
            plan_edits(&pipeline, &plan, Variant::Every).expect("the files are what was read");
        assert_eq!(again.files, [], "{form}");
        let (_, derived) = planned(&pipeline);
        assert_eq!(derived.files, [], "{form}");
        assert_eq!(derived.unified_diff(), "");
    }
}

#[test]
fn the_same_pipeline_gives_the_same_bytes() {
    for (form, entry) in FORMS {
        let folder = copied(form);
        let [first, second] = [(); 2].map(|()| planned(&read(folder.path(), entry)));
        assert_eq!(first, second, "{form}");
    }
}

#[test]
fn planning_writes_nothing() {
    for (form, entry) in FORMS {
        let folder = copied(form);
        let contents = |root: &Path| fs::read_to_string(root.join(entry)).expect("it is there");
        let before = contents(folder.path());
        planned(&read(folder.path(), entry));
        assert_eq!(contents(folder.path()), before);
    }
}

#[test]
fn every_value_has_its_place_in_the_files() {
    for (form, entry) in FORMS {
        let folder = copied(form);
        let (plan, edits) = planned(&read(folder.path(), entry));
        assert_eq!(edits.edits.len(), plan.changes(Variant::Every).count());
        let root = folder.path().display().to_string();
        for place in places(&edits) {
            assert!(place.starts_with(&root), "{form}: {place}");
        }
    }
}

#[test]
fn the_diff_touches_knobs_only() {
    for (form, entry) in FORMS {
        let folder = copied(form);
        let (_, edits) = planned(&read(folder.path(), entry));
        for file in &edits.files {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
            let (before, after) = (text(&file.before), text(&file.after));
            let comments = |text: &str| -> Vec<String> {
                text.lines()
                    .filter(|line| line.starts_with('#'))
                    .map(str::to_owned)
                    .collect()
            };
            assert_eq!(comments(&before), comments(&after));
            let diff = TextDiff::from_words(&before, &after);
            for change in diff
                .iter_all_changes()
                .filter(|change| change.tag() != ChangeTag::Equal)
            {
                let word = change.value().trim();
                let is_sink = word.ends_with("sink");
                assert!(
                    word.is_empty() || word.contains('=') || is_sink,
                    "{form}: `{word}`"
                );
            }
        }
    }
}

#[test]
fn without_a_gpu_there_is_still_a_plan() {
    for (form, entry) in FORMS {
        let folder = copied(form);
        let pipeline = read(folder.path(), entry);
        let plan = derive(&facts(&pipeline, None));
        let edits =
            plan_edits(&pipeline, &plan, Variant::Every).expect("the files are what was read");
        apply(&edits.files, &folder.path().join("edits")).expect("nothing is in the way");
        let pipeline = read(folder.path(), entry);
        let again = derive(&facts(&pipeline, None));
        let edits =
            plan_edits(&pipeline, &again, Variant::Every).expect("the files are what was read");
        assert_eq!(edits.files, [], "{form}");
    }
}

#[test]
fn a_plan_that_has_to_stop_writes_nothing() {
    for (form, entry) in FORMS {
        let folder = copied(form);
        let pipeline = read(folder.path(), entry);
        let mut facts = facts(&pipeline, Some(&h200()));
        // The graph takes one frame at a time: no edit of a file can change that.
        facts.infers[0].model_batch = ModelBatch::Static(Batch::ONE);
        let plan = derive(&facts);
        assert_eq!(plan.stops().count(), 1, "{form}");
        let edits = plan_edits(&pipeline, &plan, Variant::Every).expect("there is nothing to edit");
        assert_eq!(edits, PlannedEdits::default(), "{form}");
    }
}
