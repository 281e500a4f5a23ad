"""Elements that are handed to other functions, or made in another module."""
from gi.repository import Gst

from elements import make_tracker


def configure(mux):
    mux.set_property("batch-size", 4)


tracker = make_tracker()
tracker.set_property("tracker-width", 640)
tracker.set_property("tracker-height", 384)
configure(Gst.ElementFactory.make("nvstreammux", "mux"))
