//! Reads frames per second off a console.
//!
//! DeepStream programs have no common way to say how fast they run. Every sample prints its own lines, and most of
//! them mix figures worth having (frames in one window) with figures that mislead (averages since start, the partial
//! first window, zeros before the first frame). This module recognises the lines of the emitters in [`FpsEmitter`],
//! keeps the windows and nothing else, and says which of them are steady.
//!
//! [`FpsReader`] is fed lines or bytes, live or from a file, and gives an [`FpsLog`]. The rules it follows:
//!
//! 1. Where the log says `Pipeline running`, everything before it goes. `Pipeline ready` without it is no result.
//! 2. The leading zeros of a stream and its first window with frames go: the timer runs from set-up.
//! 3. A stream that falls to zero and stays there while others run is a fault, all of them without an end of stream
//!    a stall. The falling edge and what follows are left out.
//! 4. `--.--`, `nan` and `inf` are no samples. Averages since start are never mixed with windows.
//! 5. The aggregate is the sum over streams, in the windows in which the same set of streams is steady.
//! 6. Buffers counted behind the muxer are batches. They are never added to frames.
//!
//! The code map: [`mod@line`] knows the shapes, [`table`] puts their figures into windows, [`analysis`] applies the
//! rules, [`log`] is what a caller sees, [`tight`] says how well a mean is known.
//!
//! # Limitations
//!
//! - One run a reader: a log into which two runs were appended is read as one.
//! - A `**PERF` line of one sensor whose name holds a parenthesis and that stands without tabs is not recognised.
//! - Values with a decimal comma are not recognised.
//! - A single zero in the last window of a log already counts as a fault or a stall: nothing follows that could show
//!   it to be a gap.
//! - The shape that the documentation of the pyservicemaker `PerfMonitor` shows is recognised, but no public source
//!   prints it.

mod analysis;
mod line;
mod log;
mod reader;
mod table;
mod tight;

pub use log::{
    FpsEmitter, FpsLog, FpsSegment, FpsStatus, FpsStream, FpsStreamId, FpsUnit, MIN_STEADY_WINDOWS,
};
pub use reader::FpsReader;
pub use tight::relative_half_width;
