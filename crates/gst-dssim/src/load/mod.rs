//! A whole pipeline as one program that prints as deepstream-app does: decoders, mux, inference, tracker, sinks.
//!
//! Each stage has a thread and a short queue, as the elements have, so that the slowest sets the rate. The threads mark
//! the ranges that nvinfer and nvtracker mark.

mod options;
mod perf;
mod stages;
mod windows;

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub use options::{Extent, Options, OptionsError};

use self::windows::Windows;
use crate::deadline::{HOST_LATENESS, sleep_until};
use crate::engine::Engine;
use crate::ledger::Ledger;
use crate::model::{Fault, Model};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its time was up, or its sources ended.
    Orderly,
    /// It could not start.
    Failed,
}

/// What reached the sinks, and what the sources were told.
#[derive(Debug)]
struct Shared {
    windows: Windows,
    ended: AtomicBool,
}

/// Runs a load to its end.
///
/// # Errors
///
/// When the output cannot be written.
pub fn run(
    options: &Options,
    model: &Model,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<End> {
    let mut console = perf::Console::new(options.streams, options.interval, out);
    console.begin()?;
    sleep_until(Instant::now() + model.start);
    if model
        .faults
        .iter()
        .any(|fault| fault.refuses(options.batch))
    {
        writeln!(
            err,
            "ERROR: [TRT]: 2: [virtualMemoryBuffer.cpp::resizePhysical::127] Error Code 2: OutOfMemory (no further information)\n\
             ERROR from primary_gie: Failed to create NvDsInferContext instance"
        )?;
        return Ok(End::Failed);
    }
    prepare_engine(options, model, err)?;
    Ledger::of_process(model).allocated(memory_mib(options.batch));
    console.running()?;

    let start = Instant::now();
    let shared = Arc::new(Shared {
        windows: Windows::new(start, options.interval, options.streams),
        ended: AtomicBool::new(false),
    });
    stages::start(options, model, &shared, start);
    let first_end = model.faults.iter().find_map(|fault| match fault {
        Fault::EndOfStream { after } => Some(*after),
        _ => None,
    });
    let last = [options.seconds, first_end].into_iter().flatten().min();
    for window in 1.. {
        let end = options.interval * window;
        if last.is_some_and(|last| end > last) {
            break;
        }
        sleep_until(start + end + HOST_LATENESS);
        console.window(&shared.windows.take())?;
    }
    shared.ended.store(true, Ordering::Relaxed);
    console.end()?;
    Ok(End::Orderly)
}

/// Waits for an engine to be built, with the texts of nvinfer (DeepStream 9.1, `nvdsinfer_model_builder.cpp`).
fn prepare_engine(options: &Options, model: &Model, err: &mut dyn Write) -> io::Result<()> {
    let Some(Engine::ToBuild { file, takes }) =
        Engine::look(model, None, "model.onnx", options.batch)
    else {
        return Ok(());
    };
    let name = file.display();
    writeln!(
        err,
        "WARNING: Deserialize engine failed because file path: {name} open error"
    )?;
    sleep_until(Instant::now() + takes);
    Engine::leave(&file)?;
    writeln!(err, "serialize cuda engine to file: {name} successfully")
}

/// Memory of a context and an engine, and of each frame of a batch. Any amount that grows with the batch serves.
pub(crate) fn memory_mib(batch: u32) -> u64 {
    600 + 40 * u64::from(batch)
}
