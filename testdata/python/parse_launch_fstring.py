"""A pipeline text that an f-string fills in, over several literals."""
import sys

from gi.repository import Gst

uri = sys.argv[1]
BATCH = 4

pipeline = Gst.parse_launch(
    f'uridecodebin uri={uri} ! queue max-size-buffers=200 ! m.sink_0 '
    f'nvstreammux name=m batch-size={BATCH} width=1280 height=720 ! '
    'nvinfer config-file-path=\'infer.txt\' interval=0 ! '
    f"{sys.argv[2]} sync=0"
)
other = Gst.parse_launch(" ! ".join(["videotestsrc", "fakesink"]))
formatted = Gst.parse_launch("videotestsrc num-buffers={} ! fakesink".format(BATCH))
