"""pyservicemaker's Pipeline with dictionaries, as all of NVIDIA's samples write it."""
import sys

from pyservicemaker import Pipeline

CONFIG = "/opt/models/config_infer.yml"
SINK = {"sync": 0, "qos": 0}

pipeline = Pipeline("detector")
pipeline.add("nvurisrcbin", "src", {"uri": sys.argv[1]})
pipeline.add("nvstreammux", "mux", {
    "batch-size": 1,
    "width": 1280,  # of the model
    "height": 720
})
pipeline.add("nvinfer", "pgie", {"config-file-path": CONFIG, "batch-size": 1,})
(pipeline.add("queue", "queue")
    .add("nvdsosd", "osd", {})
    .add("nveglglessink", "sink", SINK))
pipeline["mux"].set({"batched-push-timeout": 33000})
pipeline.link(("src", "mux"), ("", "sink_%u")).link("mux", "pgie", "queue", "osd", "sink")
pipeline.start().wait()
