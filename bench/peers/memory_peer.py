# SPDX-License-Identifier: Apache-2.0
"""Calls of peers, whose memory memory.py measures: for each line of JSON a fork loads the inputs, makes the small call,
says `ready PID`, makes the large one when a line comes, says `done`, and ends at the next line; `failed` in the place
of either where the peer cannot."""
import gc
import json
import os
import sys

from peer import load, of_jax, of_numpy, of_torch
import torch

MAKERS = {"numpy": of_numpy, "torch": lambda *args: of_torch(*args, ()), "jax": lambda *args: of_jax(*args, ())}


def next_line():
    """Byte by byte: a buffer would keep what the fork, or its parent, is to read."""
    text = b""
    while not text.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            break
        text += byte
    return text.decode()


def measured(task):
    small, large = (
        MAKERS[task["peer"]](call["text"], {name: load(path) for name, path in call["inputs"].items()})
        for call in task["calls"]
    )
    first = small()
    gc.collect()
    print("ready", os.getpid(), flush=True)
    next_line()
    result = large()
    print("done", flush=True)
    next_line()
    return first, result


if __name__ == "__main__":
    while line := next_line():
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            continue
        try:
            with torch.no_grad():
                measured(json.loads(line))
        except Exception as error:
            print(error, file=sys.stderr)
            print("failed", flush=True)
        os._exit(0)
