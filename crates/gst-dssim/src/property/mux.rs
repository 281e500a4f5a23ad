//! `nvstreammux`, which is one of two elements.

use super::{Choices, Element, int, listed, one_of, switch, text, uint, uint64};

/// The closed mux.
pub(super) static LEGACY: Element = Element {
    name: "nvstreammux",
    properties: &[
        listed(uint("batch-size", 0, 1024, 0)),
        listed(uint("width", 0, u32::MAX, 0)),
        listed(uint("height", 0, u32::MAX, 0)),
        int("batched-push-timeout", -1, i32::MAX, -1),
        listed(switch("live-source", false)),
        listed(switch("enable-padding", false)),
        listed(one_of("nvbuf-memory-type", Choices::NvBufMemory, 0)),
        listed(uint("gpu-id", 0, u32::MAX, 0)),
        listed(uint("buffer-pool-size", 4, u32::MAX, 4)),
        listed(uint("num-surfaces-per-frame", 1, 4, 1)),
        listed(one_of("compute-hw", Choices::ComputeHw, 0)),
        listed(one_of("interpolation-method", Choices::Interpolation, 1)),
        listed(switch("attach-sys-ts", true)),
        listed(switch("sync-inputs", false)),
        listed(uint64("max-latency", 0)),
        listed(int("frame-duration", -1, i32::MAX, -1)),
        listed(switch("frame-num-reset-on-eos", false)),
        listed(switch("frame-num-reset-on-stream-reset", false)),
        listed(switch("drop-pipeline-eos", false)),
        listed(switch("async-process", true)),
    ],
};

/// The published mux.
pub(super) static NEW: Element = Element {
    name: "nvstreammux",
    properties: &[
        uint("batch-size", 0, 1024, 0),
        int("batched-push-timeout", 1, i32::MAX, 33_000),
        text("config-file-path"),
        uint("num-surfaces-per-frame", 1, 4, 1),
        switch("attach-sys-ts", true),
        switch("sync-inputs", false),
        uint64("max-latency", 0),
        int("frame-duration", -1, i32::MAX, -1),
        switch("frame-num-reset-on-eos", false),
        switch("frame-num-reset-on-stream-reset", false),
        switch("drop-pipeline-eos", false),
    ],
};
