//! The messages of an nvinferserver configuration.
//!
//! Names, types and `oneof` groups are those of `nvdsinferserver_common.proto`,
//! `nvdsinferserver_config.proto` and `nvdsinferserver_plugin.proto` in the DeepStream 9.1 source
//! (syntax proto3).

use super::schema::ProtoKind::{Bool, Enum, Float, Int32, Int64, Message, String, Uint32, Uint64};
use super::schema::{ProtoField, ProtoMessage};

type Field = ProtoField;

/// The top level of an nvinferserver configuration (`PluginControl`).
pub static NVINFERSERVER: ProtoMessage = ProtoMessage::new(&[
    Field::singular("infer_config", Message(&INFERENCE_CONFIG)),
    Field::singular("input_control", Message(&INPUT_CONTROL)),
    Field::singular("output_control", Message(&OUTPUT_CONTROL)),
]);

static INFERENCE_CONFIG: ProtoMessage = ProtoMessage::new(&[
    Field::singular("unique_id", Uint32),
    Field::repeated("gpu_ids", Int32),
    Field::singular("max_batch_size", Uint32),
    Field::singular("backend", Message(&BACKEND_PARAMS)),
    Field::one_of("preprocessing", "preprocess", Message(&PREPROCESS_PARAMS)),
    Field::one_of(
        "preprocessing",
        "input_tensor_from_meta",
        Message(&INPUT_TENSOR_FROM_META),
    ),
    Field::one_of(
        "postprocessing",
        "postprocess",
        Message(&POSTPROCESS_PARAMS),
    ),
    Field::singular("custom_lib", Message(&CUSTOM_LIB)),
    Field::one_of("advanced", "extra", Message(&EXTRA_CONTROL)),
    Field::one_of("lstm_control", "lstm", Message(&LSTM_PARAMS)),
    Field::singular("clip_object_outside_roi", Bool),
]);

static BACKEND_PARAMS: ProtoMessage = ProtoMessage::new(&[
    Field::repeated("inputs", Message(&INPUT_LAYER)),
    Field::repeated("outputs", Message(&OUTPUT_LAYER)),
    Field::one_of("infer_framework", "trt_is", Message(&TRITON_PARAMS)),
    Field::one_of("infer_framework", "triton", Message(&TRITON_PARAMS)),
    Field::singular("output_mem_type", Enum(MEMORY_TYPE)),
    Field::singular("disable_warmup", Bool),
]);

static TRITON_PARAMS: ProtoMessage = ProtoMessage::new(&[
    Field::singular("model_name", String),
    Field::singular("version", Int64),
    Field::repeated("class_params", Message(&TRITON_CLASSIFY_PARAMS)),
    Field::one_of("server", "model_repo", Message(&TRITON_MODEL_REPO)),
    Field::one_of("server", "grpc", Message(&TRITON_GRPC_PARAMS)),
]);

static TRITON_MODEL_REPO: ProtoMessage = ProtoMessage::new(&[
    Field::repeated("root", String),
    Field::singular("log_level", Uint32),
    Field::singular("strict_model_config", Bool),
    Field::singular("tf_gpu_memory_fraction", Float),
    Field::singular("tf_disable_soft_placement", Bool),
    Field::singular("min_compute_capacity", Float),
    Field::singular("backend_dir", String),
    Field::singular("model_control_mode", String),
    Field::repeated("cuda_device_memory", Message(&CUDA_DEVICE_MEM)),
    Field::one_of("pinned_mem", "pinned_memory_pool_byte_size", Uint64),
    Field::repeated("backend_configs", Message(&BACKEND_CONFIG)),
]);

static BACKEND_CONFIG: ProtoMessage = ProtoMessage::new(&[
    Field::singular("backend", String),
    Field::singular("setting", String),
    Field::singular("value", String),
]);

static CUDA_DEVICE_MEM: ProtoMessage = ProtoMessage::new(&[
    Field::singular("device", Uint32),
    Field::singular("memory_pool_byte_size", Uint64),
]);

static TRITON_GRPC_PARAMS: ProtoMessage = ProtoMessage::new(&[
    Field::singular("url", String),
    Field::singular("enable_cuda_buffer_sharing", Bool),
]);

static TRITON_CLASSIFY_PARAMS: ProtoMessage = ProtoMessage::new(&[
    Field::singular("topk", Uint32),
    Field::singular("threshold", Float),
    Field::singular("tensor_name", String),
]);

static EXTRA_CONTROL: ProtoMessage = ProtoMessage::new(&[
    Field::singular("copy_input_to_host_buffers", Bool),
    Field::singular("output_buffer_pool_size", Int32),
    // The spelling is NVIDIA's.
    Field::singular("custom_process_funcion", String),
]);

static INPUT_TENSOR_FROM_META: ProtoMessage =
    ProtoMessage::new(&[Field::singular("is_first_dim_batch", Bool)]);

static CUSTOM_LIB: ProtoMessage = ProtoMessage::new(&[Field::singular("path", String)]);

static INPUT_LAYER: ProtoMessage = ProtoMessage::new(&[
    Field::singular("name", String),
    Field::repeated("dims", Int32),
    Field::singular("data_type", Enum(TENSOR_DATA_TYPE)),
]);

static OUTPUT_LAYER: ProtoMessage = ProtoMessage::new(&[
    Field::singular("name", String),
    Field::singular("max_buffer_bytes", Uint64),
]);

static PREPROCESS_PARAMS: ProtoMessage = ProtoMessage::new(&[
    Field::singular("network_format", Enum(MEDIA_FORMAT)),
    Field::singular("tensor_order", Enum(TENSOR_ORDER)),
    Field::singular("tensor_name", String),
    Field::singular("maintain_aspect_ratio", Int32),
    Field::singular("frame_scaling_hw", Enum(FRAME_SCALING_HW)),
    Field::singular("frame_scaling_filter", Uint32),
    Field::one_of("preprocess_method", "normalize", Message(&SCALE_NORMALIZE)),
    Field::singular("symmetric_padding", Int32),
]);

static SCALE_NORMALIZE: ProtoMessage = ProtoMessage::new(&[
    Field::singular("scale_factor", Float),
    Field::repeated("channel_offsets", Float),
    Field::singular("mean_file", String),
]);

static POSTPROCESS_PARAMS: ProtoMessage = ProtoMessage::new(&[
    Field::singular("labelfile_path", String),
    Field::one_of("process_type", "detection", Message(&DETECTION_PARAMS)),
    Field::one_of(
        "process_type",
        "classification",
        Message(&CLASSIFICATION_PARAMS),
    ),
    Field::one_of(
        "process_type",
        "segmentation",
        Message(&SEGMENTATION_PARAMS),
    ),
    Field::one_of("process_type", "other", Message(&OTHER_NETWORK_PARAMS)),
    Field::one_of(
        "process_type",
        "trtis_classification",
        Message(&TRITON_CLASSIFY_PARAMS),
    ),
    Field::one_of(
        "process_type",
        "triton_classification",
        Message(&TRITON_CLASSIFY_PARAMS),
    ),
]);

static DETECTION_PARAMS: ProtoMessage = ProtoMessage::new(&[
    Field::singular("num_detected_classes", Int32),
    Field::repeated("per_class_params", Message(&PER_CLASS_ENTRY)),
    Field::singular("custom_parse_bbox_func", String),
    Field::one_of("clustering_policy", "nms", Message(&NMS)),
    Field::one_of("clustering_policy", "dbscan", Message(&DBSCAN)),
    Field::one_of(
        "clustering_policy",
        "group_rectangle",
        Message(&GROUP_RECTANGLE),
    ),
    Field::one_of(
        "clustering_policy",
        "simple_cluster",
        Message(&SIMPLE_CLUSTER),
    ),
]);

static PER_CLASS_ENTRY: ProtoMessage = ProtoMessage::new(&[
    Field::singular("key", Int32),
    Field::singular("value", Message(&PER_CLASS_PARAMS)),
]);

static PER_CLASS_PARAMS: ProtoMessage =
    ProtoMessage::new(&[Field::singular("pre_threshold", Float)]);

static NMS: ProtoMessage = ProtoMessage::new(&[
    Field::singular("confidence_threshold", Float),
    Field::singular("iou_threshold", Float),
    Field::singular("topk", Int32),
]);

static DBSCAN: ProtoMessage = ProtoMessage::new(&[
    Field::singular("pre_threshold", Float),
    Field::singular("eps", Float),
    Field::singular("min_boxes", Int32),
    Field::singular("min_score", Float),
]);

static GROUP_RECTANGLE: ProtoMessage = ProtoMessage::new(&[
    Field::singular("confidence_threshold", Float),
    Field::singular("group_threshold", Int32),
    Field::singular("eps", Float),
]);

static SIMPLE_CLUSTER: ProtoMessage = ProtoMessage::new(&[Field::singular("threshold", Float)]);

static CLASSIFICATION_PARAMS: ProtoMessage = ProtoMessage::new(&[
    Field::singular("threshold", Float),
    Field::singular("custom_parse_classifier_func", String),
]);

static SEGMENTATION_PARAMS: ProtoMessage = ProtoMessage::new(&[
    Field::singular("threshold", Float),
    Field::singular("num_segmentation_classes", Int32),
    Field::singular("custom_parse_segmentation_func", String),
]);

static OTHER_NETWORK_PARAMS: ProtoMessage =
    ProtoMessage::new(&[Field::singular("type_name", String)]);

static LSTM_PARAMS: ProtoMessage =
    ProtoMessage::new(&[Field::repeated("loops", Message(&LSTM_LOOP))]);

static LSTM_LOOP: ProtoMessage = ProtoMessage::new(&[
    Field::singular("input", String),
    Field::singular("output", String),
    Field::one_of("init_state", "init_const", Message(&INIT_CONST)),
    Field::singular("keep_output", Bool),
]);

static INIT_CONST: ProtoMessage = ProtoMessage::new(&[Field::singular("value", Float)]);

static INPUT_CONTROL: ProtoMessage = ProtoMessage::new(&[
    Field::singular("process_mode", Enum(PROCESS_MODE)),
    Field::singular("operate_on_gie_id", Int32),
    Field::repeated("operate_on_class_ids", Int32),
    Field::one_of("inference_interval", "interval", Uint32),
    Field::one_of("inference_interval", "secondary_reinfer_interval", Uint32),
    Field::singular("async_mode", Bool),
    Field::one_of(
        "object_filter",
        "object_control",
        Message(&INPUT_OBJECT_CONTROL),
    ),
]);

static INPUT_OBJECT_CONTROL: ProtoMessage =
    ProtoMessage::new(&[Field::singular("bbox_filter", Message(&BBOX_FILTER))]);

static BBOX_FILTER: ProtoMessage = ProtoMessage::new(&[
    Field::singular("min_width", Uint32),
    Field::singular("min_height", Uint32),
    Field::singular("max_width", Uint32),
    Field::singular("max_height", Uint32),
]);

static OUTPUT_CONTROL: ProtoMessage = ProtoMessage::new(&[
    Field::singular("output_tensor_meta", Bool),
    Field::one_of(
        "postprocess_control",
        "detect_control",
        Message(&OUTPUT_DETECTION_CONTROL),
    ),
    Field::one_of("ClassifierMeta", "classifier_type", String),
]);

static OUTPUT_DETECTION_CONTROL: ProtoMessage = ProtoMessage::new(&[
    Field::singular("default_filter", Message(&DETECT_CLASS_FILTER)),
    Field::repeated("specific_class_filters", Message(&CLASS_FILTER_ENTRY)),
    Field::repeated("filter_out_class_ids", Int32),
]);

static CLASS_FILTER_ENTRY: ProtoMessage = ProtoMessage::new(&[
    Field::singular("key", Uint32),
    Field::singular("value", Message(&DETECT_CLASS_FILTER)),
]);

static DETECT_CLASS_FILTER: ProtoMessage = ProtoMessage::new(&[
    Field::singular("bbox_filter", Message(&BBOX_FILTER)),
    Field::singular("roi_top_offset", Uint32),
    Field::singular("roi_bottom_offset", Uint32),
    Field::singular("border_color", Message(&COLOR)),
    Field::singular("bg_color", Message(&COLOR)),
]);

static COLOR: ProtoMessage = ProtoMessage::new(&[
    Field::singular("r", Float),
    Field::singular("g", Float),
    Field::singular("b", Float),
    Field::singular("a", Float),
]);

const MEDIA_FORMAT: &[(&str, i32)] = &[
    ("MEDIA_FORMAT_NONE", 0),
    ("IMAGE_FORMAT_RGB", 1),
    ("IMAGE_FORMAT_BGR", 2),
    ("IMAGE_FORMAT_GRAY", 3),
];

const TENSOR_ORDER: &[(&str, i32)] = &[
    ("TENSOR_ORDER_NONE", 0),
    ("TENSOR_ORDER_LINEAR", 1),
    ("TENSOR_ORDER_NHWC", 2),
];

const TENSOR_DATA_TYPE: &[(&str, i32)] = &[
    ("TENSOR_DT_NONE", 0),
    ("TENSOR_DT_FP32", 1),
    ("TENSOR_DT_FP16", 2),
    ("TENSOR_DT_INT8", 3),
    ("TENSOR_DT_INT16", 4),
    ("TENSOR_DT_INT32", 5),
    ("TENSOR_DT_UINT8", 6),
    ("TENSOR_DT_UINT16", 7),
    ("TENSOR_DT_UINT32", 8),
    ("TENSOR_DT_FP64", 9),
    ("TENSOR_DT_INT64", 10),
    ("TENSOR_DT_UINT64", 11),
    ("TENSOR_DT_STRING", 12),
];

const FRAME_SCALING_HW: &[(&str, i32)] = &[
    ("FRAME_SCALING_HW_DEFAULT", 0),
    ("FRAME_SCALING_HW_GPU", 1),
    ("FRAME_SCALING_HW_VIC", 2),
];

const MEMORY_TYPE: &[(&str, i32)] = &[
    ("MEMORY_TYPE_DEFAULT", 0),
    ("MEMORY_TYPE_CPU", 1),
    ("MEMORY_TYPE_GPU", 2),
];

const PROCESS_MODE: &[(&str, i32)] = &[
    ("PROCESS_MODE_DEFAULT", 0),
    ("PROCESS_MODE_FULL_FRAME", 1),
    ("PROCESS_MODE_CLIP_OBJECTS", 2),
];
