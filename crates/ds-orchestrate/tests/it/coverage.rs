//! Which elements can be found in a trace by name.

use std::collections::BTreeMap;

use ds_ceilings::Nanos;
use ds_config::Pipeline;
use ds_orchestrate::{
    Coverage, NamedTime, TraceReading, coverage, coverage_in, read_trace, uninstrumented,
};

use crate::support::testdata;

fn pipeline(command: &str) -> Pipeline {
    let script = format!("#!/bin/sh\ngst-launch-1.0 {command}\n");
    let files = BTreeMap::from([("pipeline.sh".to_owned(), script.into_bytes())]);
    Pipeline::resolve("pipeline.sh", &files).expect("a pipeline")
}

#[test]
fn elements_with_ranges() {
    let pipeline = pipeline(
        "uridecodebin uri=file:///a.mp4 ! m.sink_0 nvstreammux name=m ! nvdspreprocess ! nvinfer ! nvtracker \
         ! nvdsosd ! fakesink",
    );
    let covered: Vec<&str> = pipeline
        .elements
        .iter()
        .filter(|element| matches!(coverage(element), Coverage::Covered(_)))
        .map(|element| element.factory.as_str())
        .collect();
    assert_eq!(
        covered,
        ["nvdspreprocess", "nvinfer", "nvtracker", "nvdsosd"]
    );
}

#[test]
fn elements_without_ranges_are_counted_by_kind_in_their_order() {
    let pipeline = pipeline(
        "filesrc location=a ! h265parse ! nvv4l2decoder ! queue ! m.sink_0 \
         filesrc location=b ! h265parse ! nvv4l2decoder ! queue ! m.sink_1 \
         nvstreammux name=m ! queue ! nvinfer ! fakesink",
    );
    let found: Vec<(String, usize, bool)> = uninstrumented(&pipeline)
        .into_iter()
        .map(|(factory, count, reason)| (factory, count, reason.contains("NVIDIA")))
        .collect();
    let expected = [
        ("filesrc", 2, false),
        ("h265parse", 2, false),
        ("nvv4l2decoder", 2, true),
        ("queue", 3, false),
        ("nvstreammux", 1, true),
        ("fakesink", 1, false),
    ];
    assert_eq!(
        found,
        expected.map(|(factory, count, nvidia)| (factory.to_owned(), count, nvidia))
    );
}

fn trace(bundle: &str) -> TraceReading {
    let path = format!("bundles/{bundle}/trace/e2e.sqlite.gz");
    read_trace(&testdata(&path)).expect("it is shipped")
}

const INFER: &str =
    "uridecodebin uri=file:///a.mp4 ! m.sink_0 nvstreammux name=m ! nvinfer ! nvtracker ! fakesink";

#[test]
fn what_a_trace_holds_is_covered_and_what_it_lacks_is_not() {
    let found = coverage_in(&pipeline(INFER), &trace("h200-resnet152"));
    let covered: Vec<&str> = found
        .covered
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert!(covered.contains(&"nvinfer"), "{found:?}");
    assert!(found.covered.iter().all(|(_, ranges)| *ranges > 0));
    let (_, count, reason) = found
        .uninstrumented
        .iter()
        .find(|(name, ..)| name == "nvtracker")
        .expect("the trace has no tracker");
    assert!(
        *count == 1 && reason.starts_with("the trace of this build holds none of its ranges"),
        "{reason}"
    );
    assert_eq!(found.broken, None);
}

#[test]
fn kernels_without_a_range_of_nvinfer_tell_a_broken_injection() {
    let mut trace = trace("h200-resnet152-graphs");
    assert_eq!(coverage_in(&pipeline(INFER), &trace).broken, None);
    trace.plugins.clear();
    let broken = coverage_in(&pipeline(INFER), &trace)
        .broken
        .expect("none reach nsys");
    for part in ["GstNvInfer", "kernels of", "triton-multiarch", "581889d"] {
        assert!(broken.contains(part), "{broken}");
    }
    // A pipeline without nvinfer marks none, and that is how it is.
    let without =
        pipeline("uridecodebin uri=file:///a.mp4 ! m.sink_0 nvstreammux name=m ! fakesink");
    assert_eq!(coverage_in(&without, &trace).broken, None);
    // Without kernels nothing can be told.
    let empty = TraceReading {
        kernel_names: 0,
        ..trace
    };
    assert_eq!(coverage_in(&pipeline(INFER), &empty).broken, None);
}

#[test]
fn signs_of_an_engine_that_was_built() {
    let mut trace = trace("h200-resnet152");
    assert_eq!(trace.engine_build(None), [""; 0]);
    assert_eq!(
        trace.builder_share().map(|share| share.percent()),
        Some(0.0)
    );
    let line =
        "serialize cuda engine to file: /m/net.onnx_b8_gpu0_fp16.engine successfully".to_owned();
    assert_eq!(
        trace.engine_build(Some(line.clone())),
        [format!("the program said: {line}")]
    );
    trace.builder.push(NamedTime {
        name: "trtBuilder::tactic".to_owned(),
        count: 3,
        total: Nanos::new(5_000_000),
    });
    assert_eq!(
        trace.engine_build(None),
        ["`trtBuilder::tactic` ×3, 5.0 ms"]
    );
    assert!(
        trace
            .builder_share()
            .is_some_and(|share| share.percent() > 0.0)
    );
}
