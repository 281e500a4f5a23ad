//! R5: queues.

use ds_ceilings::StreamCount;
use ds_derive::{Facts, Knob, QueuePosition, Queues, RuleId, derive};
use proptest::prelude::*;

use crate::support::{at, faulty, number, page, queue, snapshot};

fn with(position: QueuePosition) -> Facts {
    let mut facts = faulty();
    facts.queues = Queues::Named(vec![queue("q0", position)]);
    facts
}

#[track_caller]
fn check(position: QueuePosition, buffers: i64, leaky: i64) {
    let facts = with(position);
    assert_eq!(
        number(&facts, RuleId::R5, Knob::QueueMaxSizeBuffers),
        buffers
    );
    assert_eq!(number(&facts, RuleId::R5, Knob::QueueLeaky), leaky);
    assert_eq!(number(&facts, RuleId::R5, Knob::QueueMaxSizeBytes), 0);
    assert_eq!(number(&facts, RuleId::R5, Knob::QueueMaxSizeTime), 0);
}

#[test]
fn the_depth_by_hand() {
    // The final batch is 8: 8 x 4 = 32, 8 x 2 = 16, 8 x 1 = 8.
    check(QueuePosition::DecoderToMux, 32, 0);
    check(QueuePosition::MuxToInfer, 16, 0);
    check(QueuePosition::FileBranch, 8, 0);
    check(QueuePosition::MessageBranch, 2, 2);
}

#[test]
fn a_pipeline_with_every_queue() {
    let mut facts = faulty();
    let mut leaking = queue("q_mux", QueuePosition::DecoderToMux);
    leaking.leaky = at(Knob::QueueLeaky, "2");
    let mut fitting = queue("q_infer", QueuePosition::MuxToInfer);
    fitting.max_size_buffers = at(Knob::QueueMaxSizeBuffers, "16");
    facts.queues = Queues::Named(vec![
        leaking,
        fitting,
        queue("q_msg", QueuePosition::MessageBranch),
        queue("q_file", QueuePosition::FileBranch),
        queue("q_else", QueuePosition::Other),
    ]);
    snapshot("r5__every_queue", &page(&facts, RuleId::R5));
}

#[test]
fn deepstream_app_has_no_queues_to_set() {
    let mut facts = faulty();
    facts.queues = Queues::NotConfigurable;
    snapshot("r5__not_configurable", &page(&facts, RuleId::R5));
}

#[test]
fn a_queue_anywhere_else_is_left_alone() {
    assert_eq!(page(&with(QueuePosition::Other), RuleId::R5), "");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_depth_is_a_whole_number_of_batches(streams in 1_u32..100) {
        for (position, factor) in [
            (QueuePosition::DecoderToMux, 4),
            (QueuePosition::MuxToInfer, 2),
            (QueuePosition::FileBranch, 1),
        ] {
            let mut facts = with(position);
            facts.streams = StreamCount::new(streams);
            facts.plateau = None;
            let batch = i64::from(derive(&facts).final_batch.unwrap().get());
            prop_assert_eq!(number(&facts, RuleId::R5, Knob::QueueMaxSizeBuffers), batch * factor);
        }
    }
}
