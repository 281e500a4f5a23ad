//! Which elements can be found in a trace by name.

use std::collections::BTreeMap;

use ds_config::Pipeline;
use ds_orchestrate::{Coverage, coverage, uninstrumented};

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
