//! FPS consoles: the table of samples, recordings of real runs, single traps, and properties.

mod cases;
mod expected;
mod properties;
mod recordings;

use ds_orchestrate::{FpsLog, FpsReader};

/// Reads a whole console.
fn read(console: &str) -> FpsLog {
    read_bytes(console.as_bytes())
}

fn read_bytes(console: &[u8]) -> FpsLog {
    let mut reader = FpsReader::new();
    reader.push_bytes(console);
    reader.finish()
}
