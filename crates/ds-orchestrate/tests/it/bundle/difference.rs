//! Inputs differ exactly where a difference is named.

use std::collections::BTreeMap;

use ds_orchestrate::bundle::{Bundle, Inputs, Manifest};
use proptest::collection::btree_map;
use proptest::option;
use proptest::prelude::{ProptestConfig, Strategy, proptest};

use crate::support::folder;

/// Few names and values, so that equal ones meet often.
fn map() -> impl Strategy<Value = BTreeMap<String, String>> {
    btree_map("[ab]", "[xy]", 0..3)
}

fn inputs() -> impl Strategy<Value = Inputs> {
    ("[cd]", option::of("[pq]"), map(), map(), option::of("[m]")).prop_map(
        |(command, pipeline, pipeline_files, arguments, provenance)| Inputs {
            command,
            pipeline,
            pipeline_files,
            arguments,
            provenance,
        },
    )
}

proptest! {
    #[test]
    fn a_difference_is_named_where_there_is_one(recorded in inputs(), now in inputs()) {
        let difference = Manifest::new(recorded.clone()).difference(&now);
        assert_eq!(difference.is_none(), recorded == now);
        if let Some((item, recorded, now)) = difference {
            assert_ne!(recorded, now, "{item}");
        }
    }

}

proptest! {
    // Each case syncs to the disk.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_manifest_survives_its_file(inputs in inputs()) {
        let folder = folder();
        let manifest = Manifest::new(inputs.clone());
        Bundle::open(folder.path(), inputs).expect("a new bundle");
        assert_eq!(Manifest::read(folder.path()).expect("it was written"), manifest);
    }
}
