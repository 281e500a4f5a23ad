#!/usr/bin/env python3
"""Four files through one detector: every knob is a literal."""
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst


def main():
    Gst.init(None)
    pipeline = Gst.Pipeline()

    streammux = Gst.ElementFactory.make("nvstreammux", "mux")
    if not streammux:
        sys.stderr.write("no nvstreammux\n")
    pgie = Gst.ElementFactory.make("nvinfer", "primary-inference")
    queue = Gst.ElementFactory.make('queue', 'queue1')
    sink = Gst.ElementFactory.make("nveglglessink", "sink")

    streammux.set_property("width", 1920)
    streammux.set_property("height", 1080)
    streammux.set_property("batch-size", 1)  # one per source
    streammux.set_property("batched-push-timeout", 4_000_000)
    pgie.set_property("config-file-path", "config_infer_primary.txt")
    pgie.set_property("batch-size", 0x04)
    sink.set_property("sync", True)
    sink.set_property('qos', 0)

    for element in (streammux, pgie, queue, sink):
        pipeline.add(element)


if __name__ == "__main__":
    sys.exit(main())
