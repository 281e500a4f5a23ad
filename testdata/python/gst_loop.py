"""One source element for each URI, made in a loop."""
from gi.repository import Gst

URIS = ["file:///data/a.mp4", "file:///data/b.mp4"]

mux = Gst.ElementFactory.make("nvstreammux", "mux")
for index, uri in enumerate(URIS):
    source = Gst.ElementFactory.make("nvurisrcbin", f"source-{index}")
    source.set_property("uri", uri)
    source.set_property("num-extra-surfaces", 1)
    queue = Gst.ElementFactory.make("queue"); queue.set_property("max-size-buffers", 200)
mux.set_property("batch-size", len(URIS))
