"""A pipeline text in a constant."""
from gi.repository import Gst

PIPELINE = """
    filesrc location=/data/a.mp4 ! qtdemux ! h264parse ! nvv4l2decoder ! m.sink_0
    nvstreammux name=m batch-size=1 width=1920 height=1080 batched-push-timeout=40000 !
    nvinfer config-file-path=infer.txt batch-size=1 ! fakesink sync=true
"""

pipeline = Gst.parse_launch(PIPELINE)
