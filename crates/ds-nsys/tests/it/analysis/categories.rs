//! Categories of kernels, and names of their variants.

use ds_nsys::{CategoryOptions, EffectiveNumber, Error, ErrorKind, NameFolding, Taxonomy};
use proptest::prelude::*;

use super::synthetic::{Export, ONE};
use crate::support::{open, testdata};

/// Names as they stand in traces of PyTorch, vLLM, TensorRT-LLM, cuDNN and DeepStream.
#[test]
fn kernels_of_known_libraries_have_their_category() {
    let taxonomy = Taxonomy::default();
    for (kernel, category) in [
        (
            "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
            "communication",
        ),
        (
            "void vllm::cross_device_reduce_2stage<__nv_bfloat16, 8>(...)",
            "communication",
        ),
        ("nvshmem_barrier_all_kernel", "communication"),
        ("allreduce_fusion_kernel_oneshot_lamport", "communication"),
        ("bmm_Bfloat16_E2m1E2m1_Fp32", "moe"),
        ("void moe::dev::finalize::finalizeKernel<float>()", "moe"),
        ("void fused_moe_kernel", "moe"),
        ("fmha_v2_kernel", "attention"),
        ("flash_fwd_kernel_sm90", "attention"),
        (
            "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128>>",
            "attention",
        ),
        (
            "void flashinfer::BatchDecodeWithPagedKVCacheKernel<...>",
            "attention",
        ),
        (
            "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16",
            "attention",
        ),
        ("void vllm::reshape_and_cache_flash_kernel<>", "kv-cache"),
        ("void vllm::rms_norm_kernel<c10::BFloat16>", "normalization"),
        (
            "void at::native::batch_norm_transform_input_channels_last_kernel<c10::Half>",
            "normalization",
        ),
        (
            "void vllm::rotary_embedding_kernel<c10::BFloat16, true>",
            "rotary",
        ),
        (
            "sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc",
            "convolution",
        ),
        ("nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_NNT", "gemm"),
        ("void cublasLt::splitKreduce_kernel<32, 16>", "gemm"),
        (
            "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal>",
            "gemm",
        ),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", "gemm"),
        ("void deep_gemm::fp8_gemm_kernel<>", "gemm"),
        ("bmm_E2m1_E2m1E2m1_Fp32", "gemm"),
        (
            "void at::native::max_pool_forward_nhwc<c10::Half, int>",
            "pooling",
        ),
        ("ConvertNV12BLtoNV12", "preprocessing"),
        ("triton_poi_fused_add_0", "triton"),
        (
            "void at::native::vectorized_elementwise_kernel<8, CUDAFunctor_add>",
            "elementwise",
        ),
        (
            "void vllm::act_and_mul_kernel<c10::BFloat16>",
            "elementwise",
        ),
        ("void at::native::reduce_kernel<512, 1>", "reduction"),
        ("my_very_own_kernel", "other"),
    ] {
        assert_eq!(taxonomy.classify(kernel).name(), category, "{kernel}");
    }
}

#[test]
fn little_of_a_recorded_decode_loop_is_unclassified() {
    let trace = open(&testdata("captures/decode_node/trace.sqlite.gz"));
    let found = trace
        .categories(&CategoryOptions::default())
        .expect("readable")
        .expect("kernels");
    assert!(found.is_mostly_known(), "{:?}", found.unclassified);
    assert_eq!(found.categories[0].category.name(), "gemm");
    let shares: f64 = found
        .categories
        .iter()
        .filter_map(|c| c.share)
        .map(|s| s.0)
        .sum();
    assert!((shares - 1.0).abs() < 1e-9);
}

#[test]
fn a_trace_without_kernels_has_no_categories() {
    let trace = open(&testdata("captures/nvtxonly/trace.sqlite.gz"));
    let found = trace
        .categories(&CategoryOptions::default())
        .expect("readable");
    assert_eq!(found, None);
}

#[test]
fn the_users_rules_come_first_and_show_in_the_version() {
    let rules = "version = 'site-3'\n[[rule]]\ncategory = 'Secret'\ncontains = ['MY_VERY']\n";
    let built_in = Taxonomy::default().version().to_owned();
    let taxonomy = Taxonomy::default().with_rules(rules).expect("sound rules");
    assert_eq!(taxonomy.version(), format!("{built_in}+site-3"));
    assert_eq!(taxonomy.classify("my_very_own_gemm").name(), "secret");
    assert_eq!(taxonomy.classify("other_gemm").name(), "gemm");
}

#[test]
fn rules_that_cannot_be_read_name_their_line() {
    for (rules, says) in [
        (
            "version = 3",
            "taxonomy, line 1: integer where a text is due",
        ),
        (
            "\n[[rule]]\ncontains = ['a']",
            "taxonomy, line 2: a rule without a `category`",
        ),
        (
            "[[rule]]\ncategory = 'a'",
            "taxonomy, line 1: a rule without a pattern",
        ),
        (
            "[[rule]]\ncategory = 'a'\ncontains = ['']",
            "taxonomy, line 3: array where a list of texts that are not empty is due",
        ),
        (
            "[[rule]]\ncategory = 'a'\nregex = 'b'",
            "taxonomy, line 3: unknown key `regex`",
        ),
    ] {
        let error = Taxonomy::default().with_rules(rules).expect_err(rules);
        assert_eq!(error.to_string(), says);
        assert_eq!(error.kind(), ErrorKind::Usage);
    }
    let error = Taxonomy::default()
        .with_rules("a = [\n")
        .expect_err("no TOML");
    assert!(matches!(error, Error::Input { line: 1 | 2, .. }), "{error}");
}

#[test]
fn one_kernel_or_three() {
    // Three kernels of equal time count as three; shares of 0.8, 0.1 and 0.1 as 1 / 0.66 = 1.515.
    for (lengths, expected) in [([100, 100, 100], 3.0), ([800, 100, 100], 1.515)] {
        let mut export = Export::new();
        for (at, length) in (1_i64..).zip(lengths) {
            export.kernel(
                ONE,
                &format!("gemm_{at}"),
                at * 10_000,
                at * 10_000 + length,
            );
        }
        let (_file, trace) = export.open();
        let found = trace
            .categories(&CategoryOptions::default())
            .expect("readable")
            .expect("kernels");
        let EffectiveNumber(number) = found.categories[0].effective_kernels.expect("kernels");
        assert!((number - expected).abs() < 1e-3, "{number}");
    }
}

#[test]
fn variants_of_a_kernel_fold_to_one_name() {
    for (folding, name, expected) in [
        (NameFolding::Exact, "void a::b<1>(int)", "void a::b<1>(int)"),
        (
            NameFolding::Arguments,
            "void a::b<(int)8, c<d>>(T1 *, T2)",
            "a::b",
        ),
        (NameFolding::Arguments, "a::<unnamed>::b<1>(int)", "a::b"),
        (
            NameFolding::Arguments,
            "void (anonymous namespace)::b<1>(int)",
            "b",
        ),
        (
            NameFolding::Arguments,
            "triton_red_fused_0d1d2de3c",
            "triton_red_fused",
        ),
        (NameFolding::Arguments, "kernel_9f3a1c77", "kernel"),
        (
            NameFolding::Arguments,
            "nvjet_sm90_hsh_64x8_64x16",
            "nvjet_sm90_hsh_64x8_64x16",
        ),
        (NameFolding::Arguments, "flash_fwd_128", "flash_fwd_128"),
        (
            NameFolding::Tiles,
            "nvjet_sm90_hsh_64x8_64x16_4x1_v",
            "nvjet_sm90_hsh_#_#_#_v",
        ),
        (NameFolding::Tiles, "cutlass_80_128x128x32", "cutlass_80_#"),
        (NameFolding::Arguments, "a > b", "a > b"),
        (NameFolding::Arguments, "a<b", "a<b"),
        (NameFolding::Arguments, "", ""),
    ] {
        assert_eq!(folding.fold(name), expected, "{name}");
    }
}

proptest! {
    /// A folded name is never longer, and no text makes folding or sorting panic.
    #[test]
    fn folding_shortens(name in "(void )?[a-z:_<>()0-9x, ]{0,40}|.{0,20}") {
        for folding in [NameFolding::Exact, NameFolding::Arguments, NameFolding::Tiles] {
            let once = folding.fold(&name);
            prop_assert!(once.len() <= name.len());
            if folding == NameFolding::Exact {
                prop_assert_eq!(&once, &name);
            }
        }
        let _ = Taxonomy::default().classify(&name);
    }
}
