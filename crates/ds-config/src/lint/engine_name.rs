//! What the name of a TensorRT engine tells, be it the one that nvinfer gives or one after its manner.
//!
//! [`EngineName`](crate::EngineName) reads what nvinfer saves and nothing else. People rename engines
//! and keep the parts that matter, `yolo_b4_fp16.engine`: for a hint each part counts by itself.

use crate::engine_name::EnginePrecision;

/// The precision that a value of nvinfer's `network-mode` asks for (DeepStream 9.1 source).
pub(super) fn of_network_mode(mode: i64) -> Option<EnginePrecision> {
    Some(match mode {
        0 => EnginePrecision::Fp32,
        1 => EnginePrecision::Int8,
        2 => EnginePrecision::Fp16,
        3 => EnginePrecision::Best,
        _ => return None,
    })
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
pub(super) fn precision(path: &str) -> Option<EnginePrecision> {
    let (_, last) = file_name(path).strip_suffix(".engine")?.rsplit_once('_')?;
    Some(match last {
        "fp32" => EnginePrecision::Fp32,
        "fp16" => EnginePrecision::Fp16,
        "int8" => EnginePrecision::Int8,
        "best" => EnginePrecision::Best,
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
    fn check(path: &str, expected: (Option<i64>, Option<EnginePrecision>)) {
        assert_eq!((batch(path), precision(path)), expected, "{path}");
    }

    #[test]
    fn names_tell_batch_and_precision() {
        check(
            "a/resnet152.onnx_b16_gpu0_fp16.engine",
            (Some(16), Some(EnginePrecision::Fp16)),
        );
        check(
            "model_b1_dla1_int8.engine",
            (Some(1), Some(EnginePrecision::Int8)),
        );
        check(
            "my_best_b2_gpu0_best.engine",
            (Some(2), Some(EnginePrecision::Best)),
        );
        check("folder_b8_x/model.plan", (None, None));
        check(
            "yolo_big_b_fp32.engine",
            (None, Some(EnginePrecision::Fp32)),
        );
        check("", (None, None));
    }
}
