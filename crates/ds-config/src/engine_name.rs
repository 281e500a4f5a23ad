//! What the name of a TensorRT engine tells.

use std::fmt;

/// The name under which nvinfer saves an engine that it has built:
/// `<model>_b<N>_gpu<G>_<precision>.engine`, with `dla<C>` in place of `gpu<G>` for a DLA
/// (DeepStream 9.1 source).
///
/// The name carries what was really built: an INT8 engine that was asked for without a calibration
/// file comes out as `fp16`. An engine under another name tells nothing; its batch is then known
/// from the log of nvinfer only.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct EngineName {
    /// The file name of the model: `resnet18.onnx`.
    pub model: String,
    /// The batch that was asked for, which is the largest one that the engine takes.
    pub max_batch: u32,
    /// What it was built for.
    pub device: EngineDevice,
    /// The precision that was built.
    pub precision: EnginePrecision,
}

/// What an engine was built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EngineDevice {
    /// A GPU by its number.
    Gpu(u32),
    /// A core of the deep-learning accelerator of a Jetson.
    Dla(u32),
}

/// The precision of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EnginePrecision {
    /// 32-bit floating point.
    Fp32,
    /// 16-bit floating point.
    Fp16,
    /// 8-bit integers.
    Int8,
    /// Whatever TensorRT found fastest, layer by layer.
    Best,
}

impl EngineName {
    /// Reads a name, or the path of a file that has it; `None` for a name of any other kind.
    #[must_use]
    pub fn parse(path: &str) -> Option<Self> {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        let (rest, precision) = name.strip_suffix(".engine")?.rsplit_once('_')?;
        let (rest, device) = rest.rsplit_once('_')?;
        let (model, batch) = rest.rsplit_once('_')?;
        let max_batch = number(batch.strip_prefix('b')?)?;
        if model.is_empty() || max_batch == 0 {
            return None;
        }
        Some(Self {
            model: model.to_owned(),
            max_batch,
            device: EngineDevice::parse(device)?,
            precision: EnginePrecision::parse(precision)?,
        })
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            model,
            max_batch,
            device,
            precision,
        } = self;
        write!(f, "{model}_b{max_batch}_{device}_{precision}.engine")
    }
}

impl EngineDevice {
    fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix("gpu") {
            Some(index) => number(index).map(Self::Gpu),
            None => number(text.strip_prefix("dla")?).map(Self::Dla),
        }
    }
}

impl fmt::Display for EngineDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gpu(index) => write!(f, "gpu{index}"),
            Self::Dla(core) => write!(f, "dla{core}"),
        }
    }
}

impl EnginePrecision {
    fn parse(text: &str) -> Option<Self> {
        let all = [Self::Fp32, Self::Fp16, Self::Int8, Self::Best];
        all.into_iter().find(|precision| precision.word() == text)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32",
            Self::Fp16 => "fp16",
            Self::Int8 => "int8",
            Self::Best => "best",
        }
    }
}

/// As it stands in the name of an engine.
impl fmt::Display for EnginePrecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A number without a sign, which `parse` alone would take.
fn number(digits: &str) -> Option<u32> {
    let only_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    only_digits.then(|| digits.parse().ok())?
}
