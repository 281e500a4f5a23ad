from gi.repository import Gst

mux = Gst.ElementFactory.make("nvstreammux", "mux")
mux.set_property("batch-size", 4)
print "batch size is", mux.get_property("batch-size")
