gst-launch-1.0 videotestsrc 'num-buffers=10' ! "nvvideoconvert" nvbuf-memory-type = 0 ! "video/x-raw(memory:NVMM)" ! m.sink_0 \
  nvstreammux "name=m" batch-size='4' width="1280" height=72"0" batched_push_timeout= 40000 ! \
  nvinfer "config-file-path=my models/pgie.txt" batch\-size=4 unique-id=1 unique-id=2 ! \
  nvmsgbroker conn-str="host;9092;t" proto-lib=a\ b.so sync=FALSE
