//! Sources and the decoder.

use super::{Choices, Element, Property, int, listed, one_of, switch, text, uint};

/// What nvmultiurisrcbin passes on to its sources.
const NUM_EXTRA_SURFACES: Property = uint("num-extra-surfaces", 0, u32::MAX, 1);
const CUDADEC_MEMTYPE: Property = one_of("cudadec-memtype", Choices::CudaDecMemory, 0);
const DROP_FRAME_INTERVAL: Property = uint("drop-frame-interval", 0, 30, 0);
const FILE_LOOP: Property = switch("file-loop", false);
const LATENCY: Property = uint("latency", 0, u32::MAX, 100);
const LEAKY: Property = one_of("leaky", Choices::Leaky, 0);
const MAX_SIZE_BUFFERS: Property = uint("max-size-buffers", 0, u32::MAX, 200);
const GPU_ID: Property = uint("gpu-id", 0, u32::MAX, 0);

pub(super) static ELEMENTS: &[Element] = &[
    Element {
        name: "nvurisrcbin",
        properties: &[
            text("uri"),
            NUM_EXTRA_SURFACES,
            GPU_ID,
            CUDADEC_MEMTYPE,
            DROP_FRAME_INTERVAL,
            FILE_LOOP,
            LATENCY,
            LEAKY,
            MAX_SIZE_BUFFERS,
            listed(one_of("type", Choices::SourceType, 0)),
            listed(one_of("dec-skip-frames", Choices::SkipFrames, 0)),
            listed(uint("rtsp-reconnect-interval", 0, u32::MAX, 0)),
            listed(int("rtsp-reconnect-attempts", -1, i32::MAX, -1)),
            listed(uint("select-rtp-protocol", 0, u32::MAX, 7)),
            listed(uint("udp-buffer-size", 0, u32::MAX, 524_288)),
            listed(int("source-id", -1, i32::MAX, -1)),
            listed(switch("disable-audio", false)),
            listed(switch("low-latency-mode", false)),
            listed(switch("drop-on-latency", false)),
        ],
    },
    Element {
        name: "nvmultiurisrcbin",
        properties: &[
            text("uri-list"),
            text("sensor-id-list"),
            text("sensor-name-list"),
            uint("max-batch-size", 0, u32::MAX, 30),
            int("batched-push-timeout", -1, i32::MAX, -1),
            uint("width", 0, u32::MAX, 0),
            uint("height", 0, u32::MAX, 0),
            one_of("nvbuf-memory-type", Choices::NvBufMemory, 0),
            switch("live-source", false),
            uint("buffer-pool-size", 0, u32::MAX, 4),
            NUM_EXTRA_SURFACES,
            GPU_ID,
            CUDADEC_MEMTYPE,
            DROP_FRAME_INTERVAL,
            FILE_LOOP,
            LATENCY,
            LEAKY,
            MAX_SIZE_BUFFERS,
            listed(text("config-file-path")),
            listed(text("ip-address")),
            listed(text("port")),
            listed(uint("mode", 0, 1, 0)),
            listed(switch("enable-padding", false)),
            listed(switch("drop-pipeline-eos", false)),
            listed(switch("sync-inputs", false)),
            listed(switch("attach-sys-ts", true)),
        ],
    },
    Element {
        name: "nvv4l2decoder",
        properties: &[
            listed(uint("num-extra-surfaces", 0, 24, 0)),
            listed(CUDADEC_MEMTYPE),
            listed(DROP_FRAME_INTERVAL),
            listed(GPU_ID),
            listed(one_of("skip-frames", Choices::SkipFrames, 0)),
            listed(switch("low-latency-mode", false)),
        ],
    },
];
