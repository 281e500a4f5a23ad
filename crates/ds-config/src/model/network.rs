//! What the files of an inference stage tell of its network: the graph of the ONNX file, and the name
//! of the engine.

use super::{ElementId, Knob, KnobSetting, Pipeline, Target};
use crate::engine_name::EngineName;
use crate::error::Error;
use crate::onnx::OnnxModel;
use crate::resolve::FileSource;

impl Pipeline {
    /// What the name of the engine of a stage tells: batch, device and precision.
    ///
    /// `None` where no engine is named, and for a name that nvinfer does not give.
    #[must_use]
    pub fn engine_name(&self, stage: ElementId) -> Option<EngineName> {
        let setting = self.network_file(stage, Knob::InferModelEngineFile)?;
        EngineName::parse(setting.value.as_ref()?.text()?)
    }

    /// The ONNX model of a stage, read without its weights; `None` where the stage names none.
    ///
    /// # Errors
    ///
    /// [`MissingFile`](crate::ErrorKind::MissingFile) if the file cannot be read, [`Refused`](crate::ErrorKind::Refused) if it is no ONNX
    /// model.
    pub fn onnx(
        &self,
        stage: ElementId,
        files: &dyn FileSource,
    ) -> Result<Option<OnnxModel>, Error> {
        let setting = self.network_file(stage, Knob::InferOnnxFile);
        let Some(path) = setting.and_then(|setting| self.path_of(setting)) else {
            return Ok(None);
        };
        let mut source = files
            .open(&path)
            .map_err(|error| Error::unreadable(&error).in_file(&path))?;
        let model = OnnxModel::read(&mut *source).map_err(|error| error.in_file(&path))?;
        Ok(Some(model))
    }

    fn network_file(&self, element: ElementId, knob: Knob) -> Option<&KnobSetting> {
        self.knob(Target { element, knob })
    }
}
