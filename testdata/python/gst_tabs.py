"""Indented with tabs, with CRLF line ends."""
from gi.repository import Gst


def build():
	mux = Gst.ElementFactory.make("nvstreammux", "mux")
	if not mux:
		raise RuntimeError("no mux")
	pgie = Gst.ElementFactory.make("nvinfer", "pgie")
	pgie.set_property("batch-size", 1)
	return mux, pgie
