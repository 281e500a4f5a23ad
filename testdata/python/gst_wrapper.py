"""Elements through helpers of the program."""
import sys

from gi.repository import Gst


def make_element(factory, name, printed=None):
    element = Gst.ElementFactory.make(factory, name)
    if not element:
        sys.stderr.write(f"no {printed or name}\n")
    return element


def create(kind, name, **props):
    element = Gst.ElementFactory.make(kind, name)
    for key, value in props.items():
        element.set_property(key.replace("_", "-"), value)
    return element


def create_from(kind, name, settings):
    element = Gst.ElementFactory.make(kind, name)
    for key, value in settings.items():
        element.set_property(key, value)
    return element


MUX = {
    "batch-size": 2,
    "width": 1280,
}

queue = make_element("queue", "queue1", printed="Queue")
queue.set_property("max-size-buffers", 8)
mux = create_from("nvstreammux", "mux", MUX)
pgie = create("nvinfer", "pgie", batch_size=2, config_file_path="infer.txt")
sink = make_element(name="sink", factory="fakesink")
