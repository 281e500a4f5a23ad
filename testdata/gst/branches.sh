gst-launch-1.0 \
  m. ! queue name=to_infer ! nvinfer name=pgie config-file-path=pgie.txt ! nvtracker ll-lib-file=t.so \
     ! nvinfer name=sgie process-mode=2 config-file-path=sgie.txt ! tee name=t \
  t. ! queue name=to_broker leaky=downstream ! nvmsgconv config=c.txt ! nvmsgbroker proto-lib=p.so \
  t. ! queue name=to_file ! nvvideoconvert ! nvv4l2h265enc bitrate=4000000 ! h265parse ! matroskamux ! filesink location=out.mkv \
  uridecodebin uri=file:///a.mp4 name=d0 d0. ! queue name=from_a ! m.sink_0 \
  uridecodebin uri=file:///b.mp4 ! queue name=from_b ! m.sink_1 \
  nvstreammux name=m batch-size=2 width=1920 height=1080 \
  \( name=extra videotestsrc ! fakesink name=e \)
