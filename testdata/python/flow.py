"""The Flow API in one chain."""
from pyservicemaker import Flow, Pipeline

SOURCES = ["file:///data/a.mp4", "file:///data/b.mp4", "file:///data/c.mp4"]

pipeline = Pipeline("flow")
Flow(pipeline).batch_capture(SOURCES, width=1920, height=1080).infer(
    "/opt/models/config_infer.yml",
    batch_size=1,
).track(
    ll_config_file="config_tracker.yml",
    ll_lib_file="/opt/nvidia/deepstream/deepstream/lib/libnvds_nvmultiobjecttracker.so"
).render(sync=False)()
