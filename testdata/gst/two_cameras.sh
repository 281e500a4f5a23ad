#!/bin/bash
# Two cameras side by side, each in a pipeline of its own.
export GST_DEBUG=2 USE_NEW_NVSTREAMMUX=no

USE_NEW_NVSTREAMMUX=yes gst-launch-1.0 -e \
    v4l2src device=/dev/video0 ! 'video/x-raw, width=(int)1280, height=(int)720, framerate=(fraction)30/1' ! \
    nvvideoconvert ! 'video/x-raw(memory:NVMM), format=NV12' ! m.sink_0 \
    nvstreammux name=m batch-size=1 config-file-path=mux.txt ! \
    nvinfer config-file-path=pgie.txt ! fakesink sync=0 > cam0.log 2>&1 &

gst-launch-1.0 -e rtspsrc location="rtsp://10.0.0.2/stream?profile=1&codec=h265" latency=200 ! \
    rtph265depay ! h265parse ! nvv4l2decoder ! queue ! m.sink_0 \
    nvstreammux name=m batch-size=1 live-source=1 width=1280 height=720 ! \
    nvinfer config-file-path=pgie.txt ! nveglglessink sync=false &
wait
