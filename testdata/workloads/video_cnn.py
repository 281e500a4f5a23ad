#!/usr/bin/env python3
"""A stand-in for a DeepStream pipeline with decoder, batching and inference, for machines where DeepStream is not installed.

Each of `--streams` sessions of NVDEC decodes the same elementary stream over and over. Their frames stay on the GPU, are
gathered into batches of `--batch` in turn, scaled and normalised by a kernel, and go through an FP16 CNN of torchvision with
random weights, whose normalisation, addition and activation run inside the convolutions as an inference engine would have it,
and which is replayed from a CUDA graph; the scores are read back. With `--resident` the
frames are decoded beforehand and used again and again, so that inference runs alone. The console shows what deepstream-app
shows: a header, then one `**PERF` line per window with a column for each stream. The ranges of NVTX around the inference
carry the names that nvinfer gives its own; decoding and batching have none, as in DeepStream.

Its native half is built first, as `video_feed.cu` says. A video for it:

    ffmpeg -f lavfi -i testsrc2=size=1920x1080:rate=30:duration=8 -pix_fmt yuv420p -c:v libx265 -preset veryfast -b:v 4M \\
        -x265-params keyint=60:bframes=0 -f hevc street.h265

It runs until SIGINT or SIGTERM, as deepstream-app does with file-loop, or for `--seconds`.

usage: video_cnn.py --video street.h265 --streams 64 --batch 16 [--resident] [--seconds 24] [--model resnet152] [--size 576]
                    [--window 1.0] [--library video_feed.so]
"""
import argparse
import ctypes
import operator
import signal
import time
from collections import deque
from pathlib import Path

import numpy
import torch
import torchvision
from torch.fx.experimental.optimization import fuse

# Two batches are in the GPU's queue, one is full and waits, one is being filled.
IN_FLIGHT = 2
SLOTS = 4

# What `config_infer_primary_resnet152.txt` calls net-scale-factor.
SCALE = 0.0173520735727919

WIDTH, HEIGHT = 1920, 1080


def native(path):
    """The functions of `video_feed.cu`."""
    library = ctypes.CDLL(str(path))
    pointer, number, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
    for name, result, arguments in [
        ("feed_new", pointer, [text] + [number] * 5),
        ("feed_preroll", None, [pointer]),
        ("feed_hold", None, [pointer]),
        ("feed_next", number, [pointer, pointer]),
        ("feed_convert", None, [pointer, number, pointer, number, ctypes.c_float, pointer]),
        ("feed_release", None, [pointer, number]),
        ("feed_stop", None, [pointer]),
        ("range_domain", pointer, [text]),
        ("range_push", None, [pointer, text]),
        ("range_pop", None, [pointer]),
    ]:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class Fused(torch.nn.Module):
    """A convolution with what follows it: its bias, the addition of a shortcut, ReLU."""

    def __init__(self, conv):
        super().__init__()
        self.conv = conv

    def forward(self, x, shortcut=None):
        conv = self.conv
        how = (conv.bias, conv.stride, conv.padding, conv.dilation, conv.groups)
        if shortcut is None:
            return torch.cudnn_convolution_relu(x, conv.weight, *how)
        return torch.cudnn_convolution_add_relu(x, conv.weight, shortcut, 1.0, *how)


def untrained(model, size):
    """The model with random weights, whose batch norms have seen one batch, so that values keep their scale."""
    net = getattr(torchvision.models, model)(weights=None).cuda()
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = 1.0
    with torch.no_grad():
        net(torch.randn(4, 3, size, size, device="cuda"))
    return net.eval()


def fused(net):
    """The model with batch norms folded into the convolutions, and what follows these run by them."""
    net = fuse(net)
    modules, graph = dict(net.named_modules()), net.graph

    def is_conv(node):
        module = modules.get(node.target) if node.op == "call_module" else None
        return isinstance(module, torch.nn.Conv2d) and len(node.users) == 1

    for node in list(graph.nodes):
        if node.op != "call_module" or not isinstance(modules[node.target], torch.nn.ReLU):
            continue
        before, shortcut = node.args[0], ()
        conv = before
        if before.target in (operator.add, operator.iadd):
            conv, *shortcut = sorted(before.args, key=lambda operand: not is_conv(operand))
        if not is_conv(conv):
            continue
        net.set_submodule(conv.target, Fused(modules[conv.target]))
        with graph.inserting_before(node):
            whole = graph.call_module(conv.target, (conv.args[0], *shortcut))
        node.replace_all_uses_with(whole)
        for gone in dict.fromkeys([node, before, conv]):
            graph.erase_node(gone)
    net.recompile()
    return net


def capture(model, size, batch, stream):
    """The model as a graph over fixed input and output buffers."""
    net = fused(untrained(model, size)).half()
    net = net.to(memory_format=torch.channels_last)
    images = torch.zeros(batch, 3, size, size, dtype=torch.half, device="cuda")
    images = images.to(memory_format=torch.channels_last)
    with torch.no_grad():
        with torch.cuda.stream(stream):
            for _ in range(3):
                net(images)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            scores = net(images).argmax(dim=1)
    return graph, images, scores


class Perf:
    """Frames by stream, printed as deepstream-app prints them."""

    def __init__(self, streams, window):
        self.window_frames = numpy.zeros(streams, dtype=numpy.int64)
        self.total_frames = numpy.zeros(streams, dtype=numpy.int64)
        self.window = window
        self.begin = self.window_start = time.perf_counter()
        self.header_due = 0

    def count(self, sources):
        self.window_frames += numpy.bincount(sources, minlength=len(self.window_frames))
        now = time.perf_counter()
        if now - self.window_start < self.window:
            return
        self.total_frames += self.window_frames
        rates = self.window_frames / (now - self.window_start)
        averages = self.total_frames / (now - self.begin)
        if self.header_due == 0:
            columns = "".join(f"FPS {i} (Avg)\t" for i in range(len(rates)))
            print(f"\n**PERF:  {columns}", flush=True)
            self.header_due = 20
        self.header_due -= 1
        columns = "".join(f"{rate:.2f} ({average:.2f})\t" for rate, average in zip(rates, averages))
        print(f"**PERF:  {columns}", flush=True)
        self.window_frames[:] = 0
        self.window_start = now


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--video", required=True)
    parser.add_argument("--streams", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--resident", action="store_true")
    parser.add_argument("--model", default="resnet152")
    parser.add_argument("--size", type=int, default=576)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--window", type=float, default=1.0)
    parser.add_argument("--library", default=Path(__file__).with_name("video_feed.so"))
    args = parser.parse_args()

    torch.backends.cudnn.benchmark = True
    # The default stream would wait for the decoders' streams and they for it.
    stream = torch.cuda.Stream()
    graph, images, scores = capture(args.model, args.size, args.batch, stream)
    host = [torch.empty(args.batch, dtype=torch.long, pin_memory=True) for _ in range(IN_FLIGHT)]
    done = [torch.cuda.Event() for _ in range(IN_FLIGHT)]

    lib = native(args.library)
    domain = lib.range_domain(b"GstNvInfer: UID=1")
    feed = lib.feed_new(args.video.encode(), args.streams, args.batch, WIDTH, HEIGHT, SLOTS)
    lib.feed_preroll(feed)
    if args.resident:
        lib.feed_hold(feed)
    sources = numpy.zeros(args.batch, dtype=numpy.int32)
    queue = deque()
    ended = []
    for number in [signal.SIGINT, signal.SIGTERM]:
        signal.signal(number, lambda *_: ended.append(True))

    def dequeue():
        step, slot, whose = queue.popleft()
        lib.range_push(domain, f"dequeueOutputAndAttachMeta batch_num={step}".encode())
        done[step % IN_FLIGHT].synchronize()
        lib.range_pop(domain)
        lib.feed_release(feed, slot)
        perf.count(whose)

    print("Pipeline running\n", flush=True)
    perf = Perf(args.streams, args.window)
    step = 0
    with torch.cuda.stream(stream):
        while not ended and time.perf_counter() - perf.begin < args.seconds:
            if len(queue) == IN_FLIGHT:
                dequeue()
            slot = lib.feed_next(feed, sources.ctypes.data)
            lib.range_push(domain, f"queueInput batch_num={step}".encode())
            lib.feed_convert(feed, slot, images.data_ptr(), args.size, SCALE, stream.cuda_stream)
            graph.replay()
            host[step % IN_FLIGHT].copy_(scores, non_blocking=True)
            done[step % IN_FLIGHT].record()
            lib.range_pop(domain)
            queue.append((step, slot, sources.copy()))
            step += 1
    torch.cuda.synchronize()
    lib.feed_stop(feed)
    print("App run successful", flush=True)


if __name__ == "__main__":
    main()
