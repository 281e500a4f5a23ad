#!/usr/bin/env python3
"""A decode loop as an LLM server runs it, for traces: one eager prefill, then steps replayed from a CUDA graph.

Every process is one rank. Without `--tensor-parallel` the ranks are independent replicas and may share one GPU. With it
each rank holds half of every layer on a GPU of its own, and the halves are summed by an NCCL all-reduce inside the graph.
`--slow-rank R --slow-factor F` makes rank R do each matrix product F times, so that what a tool says about a straggler
can be checked against what is known.

usage: decode_loop.py [--processes 2] [--steps 200] [--tensor-parallel] [--slow-rank 1 --slow-factor 2]
       decode_loop.py --rank R --world W …     one rank only, to be started once for each
"""
import argparse
import os
import subprocess
import sys
import time

import torch
import torch.distributed as dist


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--hidden", type=int, default=4096)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--host-gap-us", type=float, default=300)
    parser.add_argument("--tensor-parallel", action="store_true")
    parser.add_argument("--slow-rank", type=int, default=-1)
    parser.add_argument("--slow-factor", type=int, default=1)
    parser.add_argument("--rank", type=int, default=-1)
    parser.add_argument("--world", type=int, default=1)
    parser.add_argument("--port", type=int, default=29511)
    return parser.parse_args()


class Layer:
    """Two matrix products and the residual, the outcome summed over the ranks.

    All compute of a layer is inside the repeated part, so a rank that does it twice computes exactly twice as long.
    """

    def __init__(self, hidden, inner, times, ranks):
        scale = hidden**-0.5
        self.up = torch.randn(hidden, inner, dtype=torch.half, device="cuda") * scale
        self.down = torch.randn(inner, hidden, dtype=torch.half, device="cuda") * scale
        self.times, self.ranks = times, ranks

    def __call__(self, x):
        for _ in range(self.times):
            inner = torch.nn.functional.gelu(x @ self.up)
            out = torch.addmm(x, inner, self.down, beta=1 / self.ranks)
        if self.ranks > 1:
            dist.all_reduce(out)
        return out


def rank_main(args):
    rank, world = args.rank, args.world
    torch.cuda.set_device(rank % torch.cuda.device_count())
    if args.tensor_parallel:
        dist.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{args.port}", rank=rank, world_size=world)
    times = args.slow_factor if rank == args.slow_rank else 1
    ranks = world if args.tensor_parallel else 1
    layers = [Layer(args.hidden, 4 * args.hidden // ranks, times, ranks) for _ in range(args.layers)]
    token = torch.randn(args.batch, args.hidden, dtype=torch.half, device="cuda")

    def forward(x):
        for layer in layers:
            x = layer(x)
        return x

    with torch.no_grad():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                forward(token)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = forward(token)

        torch.cuda.nvtx.range_push("prefill")
        forward(token.repeat(32, 1))
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()

        host = torch.empty(args.hidden, dtype=torch.half, pin_memory=True)
        begin = time.perf_counter()
        for _ in range(args.steps):
            torch.cuda.nvtx.range_push("decode_step")
            graph.replay()
            host.copy_(out[0], non_blocking=True)
            torch.cuda.synchronize()
            torch.cuda.nvtx.range_pop()
            wake = time.perf_counter() + args.host_gap_us * 1e-6
            while time.perf_counter() < wake:  # the scheduler's work on the host
                pass
        tpot = (time.perf_counter() - begin) / args.steps
    print(f"rank={rank} pid={os.getpid()} steps={args.steps} tpot_ms={tpot * 1e3:.4f}", flush=True)
    # A communicator waits for every graph that holds its operations, so the graph goes first.
    graph.reset()
    torch.cuda.cudart().cudaProfilerStop()  # a profiler writes out what it holds
    if args.tensor_parallel:
        dist.destroy_process_group()


def main():
    args = parse()
    if args.rank >= 0 or args.processes == 1:
        args.rank = max(args.rank, 0)
        rank_main(args)
        return
    ranks = [
        subprocess.Popen([sys.executable, *sys.argv, "--rank", str(r), "--world", str(args.processes)])
        for r in range(args.processes)
    ]
    sys.exit(max(p.wait() for p in ranks))


if __name__ == "__main__":
    main()
