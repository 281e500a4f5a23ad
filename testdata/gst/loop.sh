#!/bin/sh
# Measures several batch sizes.
set -eu
MODEL=${1:-resnet}

run() {
    batch=$1
    timeout 60 gst-launch-1.0 ${SOURCES} \
        nvstreammux name=mux batch-size=$batch width=640 height="${H}" batched-push-timeout=33333 ! \
        queue max-size-buffers=`expr $batch \* 2` ! \
        nvinfer config-file-path="models/$MODEL/pgie.txt" batch-size=$batch ! \
        fakesink sync=0 2>> "$LOG" || true
}

for b in 1 2 4; do run $b; done
if ! gst-launch-1.0 videotestsrc num-buffers=1 ! fakesink >/dev/null; then echo "no GStreamer ! sorry"; fi
