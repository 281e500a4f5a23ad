"""Tracker properties from an INI file, in the manner of NVIDIA's samples."""
import configparser

from gi.repository import Gst

tracker = Gst.ElementFactory.make("nvtracker", "tracker")
config = configparser.ConfigParser()
config.read("tracker.txt")

for key in config["tracker"]:
    if key == "tracker-width":
        tracker_width = config.getint("tracker", key)
        tracker.set_property("tracker-width", tracker_width)
    if key == "tracker-height":
        tracker.set_property("tracker-height", config.getint("tracker", key))
tracker.set_property("gpu-id", 0)
