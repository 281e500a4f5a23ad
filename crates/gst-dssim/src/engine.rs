//! The engine file: built on a first run, found on the next.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::model::Model;

/// What there is to do before the first batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Engine {
    /// An engine for at least this batch is there.
    Found(PathBuf),
    /// It has to be built into this file, and that takes its time.
    ToBuild {
        /// The file.
        file: PathBuf,
        /// How long it takes.
        takes: Duration,
    },
}

impl Engine {
    /// Looks for the engine of a model file: the one that the configuration names, else the one that an earlier run
    /// left. As in nvinfer an engine serves batches up to the one in its name, `<model>_b<N>_gpu0_fp16.engine`. Built
    /// engines go into the state folder; a model that builds none needs no file.
    pub fn look(model: &Model, named: Option<&Path>, onnx: &str, batch: u32) -> Option<Self> {
        if let Some(named) = named.filter(|path| path.exists())
            && batch_of(named).is_none_or(|max| max >= batch)
        {
            return Some(Self::Found(named.to_owned()));
        }
        if model.engine_build.is_zero() {
            return None;
        }
        let file = model
            .state
            .as_deref()
            .unwrap_or(Path::new("."))
            .join("engines")
            .join(format!("{onnx}_b{batch}_gpu0_fp16.engine"));
        Some(if file.exists() {
            Self::Found(file)
        } else {
            Self::ToBuild {
                file,
                takes: model.engine_build,
            }
        })
    }

    /// Leaves the file of a built engine behind.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn leave(file: &Path) -> std::io::Result<()> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(file, "stand-in for an engine\n")
    }
}

/// The batch in an engine's name.
fn batch_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let mut parts = name.split('_').rev();
    parts.find_map(|part| part.strip_prefix('b')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_built_once_and_serves_smaller_batches() {
        let folder = tempfile::tempdir().expect("a folder");
        let model = Model {
            engine_build: Duration::from_secs(2),
            state: Some(folder.path().to_owned()),
            ..Model::default()
        };
        let Some(Engine::ToBuild { file, takes }) = Engine::look(&model, None, "m.onnx", 8) else {
            panic!("there is no engine yet");
        };
        assert_eq!(takes, Duration::from_secs(2));
        Engine::leave(&file).expect("written");
        let found = Some(Engine::Found(file.clone()));
        assert_eq!(Engine::look(&model, None, "m.onnx", 8), found);
        assert_eq!(Engine::look(&model, Some(&file), "m.onnx", 4), found);
        let larger = Engine::look(&model, Some(&file), "m.onnx", 16);
        assert!(matches!(larger, Some(Engine::ToBuild { .. })));
        assert_eq!(Engine::look(&Model::default(), None, "m.onnx", 16), None);
    }
}
