//! The names of engines: what nvinfer gives is read, anything else is not.

use ds_config::EngineName;
use proptest::prelude::*;

#[track_caller]
fn check(path: &str, expected: Option<(&str, u32, &str, &str)>) {
    let parsed = EngineName::parse(path);
    let parts = parsed.as_ref().map(|name| {
        let device = name.device.to_string();
        (
            name.model.as_str(),
            name.max_batch,
            device,
            name.precision.to_string(),
        )
    });
    let expected = expected.map(|(model, batch, device, precision)| {
        (model, batch, device.to_owned(), precision.to_owned())
    });
    assert_eq!(parts, expected, "{path}");
    if let Some(name) = parsed {
        assert!(
            path.ends_with(&name.to_string()),
            "{path} is written as {name}"
        );
    }
}

#[test]
fn names_that_nvinfer_gives() {
    check(
        "../models/resnet152.onnx_b16_gpu0_fp16.engine",
        Some(("resnet152.onnx", 16, "gpu0", "fp16")),
    );
    check(
        "model_b1_dla1_int8.engine",
        Some(("model", 1, "dla1", "int8")),
    );
    check(
        "a_b2_c_b4_gpu12_best.engine",
        Some(("a_b2_c", 4, "gpu12", "best")),
    );
    check("/m_b300_gpu0_fp32.engine", Some(("m", 300, "gpu0", "fp32")));
}

#[test]
fn other_names() {
    for path in [
        "",
        "model.engine",
        "model_b4_gpu0_fp16.plan",
        "model_b4_gpu0_fp16",
        "model_b4_gpu0_fp8.engine",
        "model_b4_gpu0_FP16.engine",
        "model_b4_fp16.engine",
        "model_b_gpu0_fp16.engine",
        "model_b0_gpu0_fp16.engine",
        "model_b+4_gpu0_fp16.engine",
        "model_b99999999999_gpu0_fp16.engine",
        "model_4_gpu0_fp16.engine",
        "model_b4_cpu0_fp16.engine",
        "model_b4_gpu_fp16.engine",
        "_b4_gpu0_fp16.engine",
        "b4_gpu0_fp16.engine",
        "model_b4_gpu0_fp16.engine/model.engine",
    ] {
        check(path, None);
    }
}

proptest! {
    #[test]
    fn a_name_reads_back(
        model in "[a-z_.0-9]{1,12}",
        batch in 1..5000_u32,
        device in "(gpu|dla)[1-9]",
        precision in "(fp32|fp16|int8|best)",
    ) {
        let written = format!("{model}_b{batch}_{device}_{precision}.engine");
        let name = EngineName::parse(&written).expect("nvinfer's own form");
        prop_assert_eq!(&name.model, &model);
        prop_assert_eq!(name.max_batch, batch);
        prop_assert_eq!(name.to_string(), written);
    }
}
