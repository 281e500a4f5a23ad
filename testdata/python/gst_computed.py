"""Values that only the running program knows."""
import argparse
import math

from gi.repository import Gst


def build(uris, batch, args):
    rows = int(math.sqrt(len(uris)))
    streammux = Gst.ElementFactory.make("nvstreammux", "mux")
    streammux.set_property("batch-size", len(uris))
    streammux.set_property("width", args.width)
    streammux.set_property("batched-push-timeout", 1000000 // 30)
    pgie = Gst.ElementFactory.make("nvinfer", f"pgie-{batch}")
    pgie.set_property("batch-size", batch)
    pgie.set_property("unique-id", UNIQUE_ID)
    tiler = Gst.ElementFactory.make("nvmultistreamtiler", "tiler")
    tiler.set_property("rows", rows)
    interval = 0
    interval += 1
    pgie.set_property("interval", interval)
    return [streammux, pgie, tiler]
