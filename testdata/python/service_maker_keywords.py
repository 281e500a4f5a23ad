"""pyservicemaker's Pipeline with keywords."""
from pyservicemaker import Pipeline

DEFAULTS = dict(width=1280, height=720)

pipeline = (
    Pipeline("detector")
    .add("nvstreammux", "mux", batch_size=1, batched_push_timeout=40000)
    .add("nvinfer", "pgie", config_file_path="infer.yml")
    .add("nvmultistreamtiler", "tiler", DEFAULTS)
    .add("fakesink", "sink", properties={"sync": True})
)
