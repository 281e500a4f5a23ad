"""Knobs that lead to module constants, of which one has other uses."""
from gi.repository import Gst

MUXER_OUTPUT_WIDTH = 1920
MUXER_OUTPUT_HEIGHT = 1080
MUXER_BATCH_TIMEOUT_USEC = 33000
BATCH: int = 4
CONFIG = "config_infer_primary.txt"
ENGINE = CONFIG

TILER_WIDTH = 1280
TILER_WIDTH = 1920


def build(pipeline):
    streammux = Gst.ElementFactory.make("nvstreammux", "mux")
    streammux.set_property("width", MUXER_OUTPUT_WIDTH)
    streammux.set_property("height", MUXER_OUTPUT_HEIGHT)
    streammux.set_property("batched-push-timeout", MUXER_BATCH_TIMEOUT_USEC)
    streammux.set_property("batch-size", BATCH)

    pgie = Gst.ElementFactory.make("nvinfer", "pgie")
    pgie.set_property("batch-size", BATCH)
    pgie.set_property("config-file-path", ENGINE)

    tiler = Gst.ElementFactory.make("nvmultistreamtiler", "tiler")
    tiler.set_property("width", TILER_WIDTH)
    print(f"frames are {MUXER_OUTPUT_HEIGHT} lines high")
    return pipeline
