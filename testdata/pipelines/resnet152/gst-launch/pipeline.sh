#!/bin/sh
# Eight recorded H.265 streams through the ResNet-152 classifier, shown on the screen.
# Run it from this folder.
set -eu

gst-launch-1.0 -e \
  filesrc location=streams/cam0.mp4 ! qtdemux ! h265parse ! nvv4l2decoder ! queue ! mux.sink_0 \
  filesrc location=streams/cam1.mp4 ! qtdemux ! h265parse ! nvv4l2decoder ! queue ! mux.sink_1 \
  filesrc location=streams/cam2.mp4 ! qtdemux ! h265parse ! nvv4l2decoder ! queue ! mux.sink_2 \
  filesrc location=streams/cam3.mp4 ! qtdemux ! h265parse ! nvv4l2decoder ! queue ! mux.sink_3 \
  filesrc location=streams/cam4.mp4 ! qtdemux ! h265parse ! nvv4l2decoder ! queue ! mux.sink_4 \
  filesrc location=streams/cam5.mp4 ! qtdemux ! h265parse ! nvv4l2decoder ! queue ! mux.sink_5 \
  filesrc location=streams/cam6.mp4 ! qtdemux ! h265parse ! nvv4l2decoder ! queue ! mux.sink_6 \
  filesrc location=streams/cam7.mp4 ! qtdemux ! h265parse ! nvv4l2decoder ! queue ! mux.sink_7 \
  nvstreammux name=mux batch-size=1 width=1920 height=1080 batched-push-timeout=40000 ! \
  queue ! nvinfer config-file-path=config_infer_primary_resnet152.txt batch-size=1 ! \
  nveglglessink sync=1
