"""The Flow API step by step, with sources from the command line."""
import sys

from pyservicemaker import Flow, Pipeline


def run(config, **overrides):
    flow = Flow(Pipeline("steps"))
    flow = flow.batch_capture(sys.argv[1:], batched_push_timeout=33000)
    detected = flow.infer(config, with_triton=True, **overrides)
    detected.render()
    detected()


run("config_triton.yml", interval=1)
