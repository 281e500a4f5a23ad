//! Everything behind the mux.

use super::{Choices, Element, Property, int, listed, one_of, switch, text, uint};

const GPU_ID: Property = uint("gpu-id", 0, u32::MAX, 0);
const MEMORY: Property = one_of("nvbuf-memory-type", Choices::NvBufMemory, 0);
const UNIQUE_ID: Property = uint("unique-id", 0, u32::MAX, 1);

pub(super) static ELEMENTS: &[Element] = &[
    Element {
        name: "nvinfer",
        properties: &[
            text("config-file-path"),
            uint("batch-size", 1, 1024, 1),
            uint("interval", 0, i32::MAX as u32, 0),
            text("model-engine-file"),
            UNIQUE_ID,
            GPU_ID,
            one_of("process-mode", Choices::ProcessMode, 1),
            int("infer-on-gie-id", -1, i32::MAX, -1),
            text("infer-on-class-ids"),
            switch("input-tensor-meta", false),
            switch("strongly-typed", false),
            listed(text("filter-out-class-ids")),
            listed(switch("output-tensor-meta", false)),
            listed(switch("output-instance-mask", false)),
            listed(switch("raw-output-file-write", false)),
            listed(switch("clip-object-outside-roi", true)),
            listed(switch("crop-objects-to-roi-boundary", false)),
        ],
    },
    Element {
        name: "nvinferserver",
        properties: &[
            text("config-file-path"),
            uint("batch-size", 0, 1024, 0),
            uint("interval", 0, i32::MAX as u32, 0),
            uint("unique-id", 0, u32::MAX, 0),
            one_of("process-mode", Choices::ProcessMode, 1),
            int("infer-on-gie-id", -1, i32::MAX, -1),
            text("infer-on-class-ids"),
            listed(switch("input-tensor-meta", false)),
            listed(switch("output-tensor-meta", false)),
            listed(switch("raw-output-file-write", false)),
        ],
    },
    Element {
        name: "nvtracker",
        properties: &[
            uint("tracker-width", 0, u32::MAX, 960),
            uint("tracker-height", 0, u32::MAX, 544),
            GPU_ID,
            text("ll-lib-file"),
            text("ll-config-file"),
            switch("display-tracking-id", true),
            one_of("compute-hw", Choices::ComputeHw, 0),
            uint("user-meta-pool-size", 1, u32::MAX, 32),
            text("sub-batches"),
            one_of("tracking-id-reset-mode", Choices::IdReset, 0),
            switch("input-tensor-meta", false),
            listed(uint("tensor-meta-gie-id", 0, u32::MAX, 0)),
            listed(int("sub-batch-err-recovery-trial-cnt", -1, i32::MAX, 0)),
        ],
    },
    Element {
        name: "nvdsanalytics",
        properties: &[
            text("config-file"),
            uint("unique-id", 0, u32::MAX, 15),
            listed(switch("enable", true)),
        ],
    },
    Element {
        name: "nvdspreprocess",
        properties: &[
            text("config-file"),
            uint("unique-id", 0, u32::MAX, 15),
            GPU_ID,
            switch("enable", true),
            listed(text("target-unique-ids")),
        ],
    },
    Element {
        name: "nvmultistreamtiler",
        properties: &[
            listed(uint("rows", 1, u32::MAX, 1)),
            listed(uint("columns", 1, u32::MAX, 1)),
            listed(uint("width", 16, u32::MAX, 1920)),
            listed(uint("height", 16, u32::MAX, 1080)),
            listed(int("show-source", -1, i32::MAX, -1)),
            listed(GPU_ID),
            listed(MEMORY),
            listed(one_of("compute-hw", Choices::ComputeHw, 0)),
            listed(one_of("interpolation-method", Choices::Interpolation, 1)),
            listed(switch("square-seq-grid", false)),
            listed(uint("buffer-pool-size", 1, u32::MAX, 4)),
        ],
    },
    Element {
        name: "nvvideoconvert",
        properties: &[
            listed(MEMORY),
            listed(GPU_ID),
            listed(uint("output-buffers", 1, u32::MAX, 4)),
            listed(one_of("interpolation-method", Choices::Interpolation, 6)),
            listed(one_of("compute-hw", Choices::ComputeHw, 0)),
            listed(text("src-crop")),
            listed(text("dest-crop")),
            listed(switch("bl-output", true)),
            listed(switch("disable-passthrough", false)),
        ],
    },
    Element {
        name: "nvdsosd",
        properties: &[
            one_of("process-mode", Choices::OsdMode, 1),
            switch("display-text", true),
            switch("display-bbox", true),
            switch("display-mask", false),
            switch("display-clock", false),
            GPU_ID,
            listed(text("clock-font")),
            listed(uint("clock-font-size", 0, 60, 12)),
            listed(int("x-clock-offset", 0, i32::MAX, 0)),
            listed(int("y-clock-offset", 0, i32::MAX, 0)),
        ],
    },
    Element {
        name: "nvmsgconv",
        properties: &[
            text("config"),
            text("msg2p-lib"),
            uint("payload-type", 0, u32::MAX, 0),
            uint("comp-id", 0, u32::MAX, 0),
            text("debug-payload-dir"),
            switch("multiple-payloads", false),
            switch("msg2p-newapi", false),
            uint("frame-interval", 1, u32::MAX, 30),
        ],
    },
    Element {
        name: "nvmsgbroker",
        properties: &[
            text("proto-lib"),
            text("conn-str"),
            text("config"),
            text("topic"),
            uint("comp-id", 0, u32::MAX, 0),
            int("sleep-time", 0, i32::MAX, 0),
            switch("new-api", false),
        ],
    },
    Element {
        name: "nvstreamdemux",
        properties: &[listed(switch("per-stream-eos", false))],
    },
    Element {
        name: "nvdslogger",
        properties: &[listed(uint("fps-measurement-interval-sec", 1, u32::MAX, 5))],
    },
];
