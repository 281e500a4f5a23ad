docker run --rm --gpus all --entrypoint gst-launch-1.0 nvcr.io/nvidia/deepstream:9.1 \
  -e videotestsrc num-buffers=100 ! nvvideoconvert ! m.sink_0 nvstreammux name=m batch-size=1 width=640 height=480 ! fakesink
docker exec box sh -c "gst-launch-1.0 videotestsrc ! \"video/x-raw, width=320\" ! nvinfer config-file-path=\"a.txt\" batch-size=2 ! fakesink sync=0"
ssh host 'gst-launch-1.0 videotestsrc ! nvinfer batch-size=2 ! fakesink' && echo done
/usr/bin/gst-launch-1.0 fakesrc ! fakesink
