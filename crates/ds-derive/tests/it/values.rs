//! Reading and writing values.

use ds_derive::{Dims, Knob, Switch, Value};
use proptest::prelude::*;

#[track_caller]
fn check(knob: Knob, text: &str, expected: Value) {
    assert_eq!(knob.read(text), expected);
}

#[test]
fn a_text_is_read_as_its_knob_asks() {
    check(Knob::MuxBatchSize, " 16 ", Value::Integer(16));
    check(Knob::BatchedPushTimeout, "-1", Value::Integer(-1));
    check(Knob::LiveSource, "True", Value::Switch(Switch::On));
    check(Knob::LiveSource, "0", Value::Switch(Switch::Off));
    check(Knob::LiveSource, "2", Value::from("2"));
    check(
        Knob::InferDims,
        "3;544;960",
        Value::Dims(Dims::new(3, 544, 960).unwrap()),
    );
    check(
        Knob::InferDims,
        "3;544;960;",
        Value::Dims(Dims::new(3, 544, 960).unwrap()),
    );
    check(Knob::InferDims, "3;544", Value::from("3;544"));
    check(Knob::InferDims, "3;544;960;1", Value::from("3;544;960;1"));
    check(Knob::InferDims, "3;0;960", Value::from("3;0;960"));
    check(Knob::ModelEngineFile, "16", Value::from("16"));
    check(Knob::MuxBatchSize, "", Value::from(""));
}

proptest! {
    #[test]
    fn what_is_written_reads_back(number in any::<u32>(), side in 1_u32..9999, channels in 1_u32..5, on in any::<bool>()) {
        let switch = if on { Switch::On } else { Switch::Off };
        for (knob, value) in [
            (Knob::MuxWidth, Value::from(number)),
            (Knob::SinkSync, Value::from(switch)),
            (Knob::InferDims, Value::from(Dims::new(channels, side, 1).unwrap())),
        ] {
            prop_assert_eq!(knob.read(&value.to_string()), value);
        }
    }

    #[test]
    fn any_text_is_read(text in ".*") {
        for knob in Knob::ALL {
            let value = knob.read(&text);
            // What cannot be read is kept as it stands.
            if let Value::Text(kept) = value {
                prop_assert_eq!(kept, text.clone());
            }
        }
    }
}
