#!/usr/bin/env python3
"""A stand-in for the inference half of a DeepStream pipeline, for machines where DeepStream is not installed.

One FP16 CNN of torchvision with random weights is captured into a CUDA graph and replayed as fast as the GPU allows.
Each step copies a batch of frames that already lie on the GPU (as decoded frames do) into the graph's input, replays the
graph and reads the scores back. The console shows what deepstream-app shows: a header, then one `**PERF` line per window
with a column for each of the `--batch` sources. With the package `nvtx` the ranges carry the names that nvinfer gives its own.

usage: cnn_graph.py [--model resnet152] [--size 448] [--batch 8] [--seconds 24] [--window 1.0]
"""
import argparse
import time

import torch
import torchvision

try:
    import nvtx

    DOMAIN = nvtx.get_domain("GstNvInfer: UID=1")

    def push(name):
        DOMAIN.push_range(DOMAIN.get_event_attributes(message=name))

    def pop():
        DOMAIN.pop_range()
except ImportError:  # the sweep needs no ranges
    def push(name):
        pass

    def pop():
        pass


def capture(model, size, batch):
    """The model as a graph over fixed input and output buffers."""
    net = getattr(torchvision.models, model)(weights=None).half().cuda().eval()
    net = net.to(memory_format=torch.channels_last)
    images = torch.zeros(batch, 3, size, size, dtype=torch.half, device="cuda")
    images = images.to(memory_format=torch.channels_last)
    with torch.no_grad():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                net(images)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            scores = net(images).argmax(dim=1)
    return graph, images, scores


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="resnet152")
    parser.add_argument("--size", type=int, default=448)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=24)
    parser.add_argument("--window", type=float, default=1.0)
    args = parser.parse_args()

    torch.backends.cudnn.benchmark = True
    graph, images, scores = capture(args.model, args.size, args.batch)
    frames = torch.randn(args.batch, 3, args.size, args.size, device="cuda").half()
    frames = frames.to(memory_format=torch.channels_last)
    host = [torch.empty(args.batch, dtype=torch.long, pin_memory=True) for _ in range(2)]
    done = [torch.cuda.Event(), torch.cuda.Event()]

    print("Pipeline running\n", flush=True)
    begin = window_start = time.perf_counter()
    step = window_steps = total_steps = 0
    header_due = 0
    while time.perf_counter() - begin < args.seconds:
        slot = step % 2
        if step >= 2:
            push(f"dequeueOutputAndAttachMeta batch_num={step - 2}")
            done[slot].synchronize()
            pop()
            window_steps += 1
        push(f"queueInput batch_num={step}")
        images.copy_(frames)
        graph.replay()
        host[slot].copy_(scores, non_blocking=True)
        done[slot].record()
        pop()
        step += 1
        now = time.perf_counter()
        if now - window_start >= args.window:
            total_steps += window_steps
            fps = window_steps / (now - window_start)
            average = total_steps / (now - begin)
            if header_due == 0:
                columns = "".join(f"FPS {i} (Avg)\t" for i in range(args.batch))
                print(f"\n**PERF:  {columns}", flush=True)
                header_due = 20
            header_due -= 1
            print("**PERF:  " + f"{fps:.2f} ({average:.2f})\t" * args.batch, flush=True)
            window_start, window_steps = now, 0
    torch.cuda.synchronize()
    print("App run successful", flush=True)


if __name__ == "__main__":
    main()
