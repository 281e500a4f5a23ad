"""Elements as attributes of an object; a value from the class and one from the constructor."""
from gi.repository import Gst


class Detector:
    batch_size = 8

    def __init__(self, path):
        self.path = path
        self.timeout = 40000

    def build(self):
        self.mux = Gst.ElementFactory.make("nvstreammux", "mux")
        self.pgie = Gst.ElementFactory.make("nvinfer", "pgie") or None
        return self.configure()

    def configure(self):
        self.mux.set_property("batch_size", self.batch_size)
        self.mux.set_property("batched-push-timeout", self.timeout)
        self.mux.props.live_source = False
        self.pgie.set_property("config-file-path", self.path)
        return self
