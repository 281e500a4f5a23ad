#![no_main]
//! ONNX models: no panic, and the pieces in which a source gives its bytes make no difference.

use std::io::{self, Read};

use ds_config::OnnxModel;
use libfuzzer_sys::fuzz_target;

/// A source that gives one byte at a time.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(1);
        self.0.read(&mut buffer[..len])
    }
}

fuzz_target!(|file: &[u8]| {
    let model = OnnxModel::read(&mut &*file);
    assert_eq!(OnnxModel::read(&mut Slow(file)), model);
    if let Ok(model) = model {
        let _ = model.batch();
        assert!(
            model
                .inputs()
                .iter()
                .all(|input| input.name.len() <= file.len() * 3)
        );
    }
});
