"""The old and the new mux in one program."""
import os

from gi.repository import Gst

os.environ["USE_NEW_NVSTREAMMUX"] = "yes"
TIMEOUT = 40000

mux = Gst.ElementFactory.make("nvstreammux", "mux")
if os.environ.get("USE_NEW_NVSTREAMMUX") != "yes":
    mux.set_property("width", 1920)
    mux.set_property("height", 1080)
    mux.set_property("batched-push-timeout", TIMEOUT)
    memory = 2
else:
    mux.set_property("config-file-path", "mux.txt")
    memory = 0
converter = Gst.ElementFactory.make("nvvideoconvert", "converter")
converter.set_property("nvbuf-memory-type", memory)
