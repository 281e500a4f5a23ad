"""A template: some of it is no Python."""
from gi.repository import Gst

mux = Gst.ElementFactory.make("nvstreammux", "mux")
mux.set_property("batch-size", {{ batch size }})
mux.set_property("width", 1920)
{% if tracker %}
tracker = Gst.ElementFactory.make("nvtracker", "tracker")
{% endif %}
