//! What the name of a TensorRT engine tells.
//!
//! nvinfer saves an engine as `<onnx>_b<N>_gpu<G>_<precision>.engine`, with `dla<C>` in place of
//! `gpu<G>` for a DLA (DeepStream 9.1 source). The precision is the one that was really built.

use std::fmt;

/// A precision in the name of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    Fp32,
    Fp16,
    Int8,
    Best,
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fp32 => "FP32",
            Self::Fp16 => "FP16",
            Self::Int8 => "INT8",
            Self::Best => "the best precision",
        })
    }
}

impl Precision {
    /// The precision that a value of nvinfer's `network-mode` asks for (DeepStream 9.1 source).
    pub(super) fn of_network_mode(mode: i64) -> Option<Self> {
        Some(match mode {
            0 => Self::Fp32,
            1 => Self::Int8,
            2 => Self::Fp16,
            3 => Self::Best,
            _ => return None,
        })
    }
}

/// The largest batch of an engine, by its name.
pub(super) fn batch(path: &str) -> Option<i64> {
    let name = file_name(path);
    name.rmatch_indices("_b").find_map(|(at, mark)| {
        let (digits, _) = name[at + mark.len()..].split_once('_')?;
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().ok())?
    })
}

/// The precision of an engine, by its name.
pub(super) fn precision(path: &str) -> Option<Precision> {
    let (_, last) = file_name(path).strip_suffix(".engine")?.rsplit_once('_')?;
    Some(match last {
        "fp32" => Precision::Fp32,
        "fp16" => Precision::Fp16,
        "int8" => Precision::Int8,
        "best" => Precision::Best,
        _ => return None,
    })
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: (Option<i64>, Option<Precision>)) {
        assert_eq!((batch(path), precision(path)), expected, "{path}");
    }

    #[test]
    fn names_tell_batch_and_precision() {
        check(
            "a/resnet152.onnx_b16_gpu0_fp16.engine",
            (Some(16), Some(Precision::Fp16)),
        );
        check(
            "model_b1_dla1_int8.engine",
            (Some(1), Some(Precision::Int8)),
        );
        check(
            "my_best_b2_gpu0_best.engine",
            (Some(2), Some(Precision::Best)),
        );
        check("folder_b8_x/model.plan", (None, None));
        check("yolo_big_b_fp32.engine", (None, Some(Precision::Fp32)));
        check("", (None, None));
    }
}
