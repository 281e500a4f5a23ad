//! Whatever the files and wherever it breaks off: all of them are new in the end, or all of them old.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use ds_orchestrate::transaction::{FileChange, Recovery, apply_observed, recover};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};

use super::journal;
use crate::support::{folder, put};

/// Applies `changes` and breaks off after step `last`; whether it came that far.
fn broken_off(changes: &[FileChange], root: &Path, last: usize) -> bool {
    let mut step = 0;
    let result = catch_unwind(AssertUnwindSafe(|| {
        apply_observed(changes, &journal(root), &mut |_| {
            if step == last {
                // A panic that nobody hears of.
                resume_unwind(Box::new(()));
            }
            step += 1;
        })
    }));
    match result {
        Ok(applied) => {
            applied.expect("nothing is in the way");
            false
        }
        Err(_) => true,
    }
}

proptest! {
    // Each case syncs some twenty files to the disk.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn all_or_none(contents in vec((vec(any::<u8>(), 0..20), vec(any::<u8>(), 0..20)), 1..5), last in 0_usize..8) {
        let folder = folder();
        let changes: Vec<FileChange> = contents
            .into_iter()
            .enumerate()
            .map(|(index, (before, after))| FileChange {
                path: folder.path().join(format!("file {index}")),
                before,
                after,
            })
            .collect();
        for change in &changes {
            put(&change.path, &change.before);
        }
        let is_broken = broken_off(&changes, folder.path(), last);
        let recovery = recover(&journal(folder.path())).expect("nothing is in the way");
        let hold = |which: fn(&FileChange) -> &Vec<u8>| {
            changes.iter().all(|change| fs::read(&change.path).is_ok_and(|bytes| bytes == *which(change)))
        };
        // The first of the steps is the last at which nothing has been announced.
        if is_broken && last == 0 {
            assert_eq!(recovery, Recovery::Dropped);
            assert!(hold(|change| &change.before));
        } else {
            assert!(hold(|change| &change.after));
        }
        assert_eq!(recover(&journal(folder.path())).expect("it is done"), Recovery::Nothing);
    }
}
