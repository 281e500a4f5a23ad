//! The stream mux.

use crate::value::Present;

/// Which of the two muxes runs. `USE_NEW_NVSTREAMMUX=yes` selects the new one when the plugin loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MuxGeneration {
    /// Scales every frame and sends a batch after a time-out.
    Legacy,
    /// Keeps the size of the frames and takes its deadline from a policy file.
    New,
}

/// What decides the batch of the mux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchKey {
    /// Its own key or property.
    Own(Present),
    /// A `[source-list]` of deepstream-app: the number of URIs replaces the key.
    SourceList,
    /// An nvmultiurisrcbin around it: `max-batch-size`, which is also the cap on its sources.
    MultiUri {
        /// The present cap.
        max_batch_size: Present,
    },
}

/// The stream mux and what its knobs hold now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mux {
    /// Which of the two muxes runs.
    pub generation: MuxGeneration,
    /// What decides its batch.
    pub batch_size: BatchKey,
    /// `width`.
    pub width: Present,
    /// `height`.
    pub height: Present,
    /// `batched-push-timeout`.
    pub batched_push_timeout: Present,
    /// `nvbuf-memory-type`.
    pub nvbuf_memory_type: Present,
    /// `live-source`.
    pub live_source: Present,
    /// `enable-padding`.
    pub enable_padding: Present,
    /// `overall-min-fps-n` of the new mux's policy file.
    pub overall_min_fps_n: Present,
    /// `overall-min-fps-d` of the new mux's policy file.
    pub overall_min_fps_d: Present,
    /// `overall-max-fps-n` of the new mux's policy file.
    pub overall_max_fps_n: Present,
    /// `overall-max-fps-d` of the new mux's policy file.
    pub overall_max_fps_d: Present,
}

impl Mux {
    /// A mux of which no knob is named.
    #[must_use]
    pub fn new(generation: MuxGeneration) -> Self {
        Self {
            generation,
            batch_size: BatchKey::Own(Present::Absent),
            width: Present::Absent,
            height: Present::Absent,
            batched_push_timeout: Present::Absent,
            nvbuf_memory_type: Present::Absent,
            live_source: Present::Absent,
            enable_padding: Present::Absent,
            overall_min_fps_n: Present::Absent,
            overall_min_fps_d: Present::Absent,
            overall_max_fps_n: Present::Absent,
            overall_max_fps_d: Present::Absent,
        }
    }
}
