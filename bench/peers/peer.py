# SPDX-License-Identifier: Apache-2.0
"""The peers in one process: reads a line of JSON for each cell, answers with seconds by peer and with what differs.
run.py starts it."""
import functools
import json
import os
import sys
import time
import warnings

threads = sys.argv[1]
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = threads
if threads == "1":
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F
from scipy import linalg, special

torch.set_num_threads(int(threads))
jax.config.update("jax_enable_x64", True)
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
TOLERANCE = {"bf16": 2e-2, "f32": 2e-5, "c64": 2e-5}


@functools.lru_cache(16)
def load(path):
    return np.load(path)


def least(call, seconds):
    """Of batches long enough for the clock; a result lives until the next one is there, as in Toy's loop."""
    begin = time.perf_counter()
    last = call()
    once = time.perf_counter() - begin
    batch, times, end = max(1, int(2e-5 / max(once, 1e-8))), [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 2:
        begin = time.perf_counter()
        for _ in range(batch):
            last = call()
        times.append((time.perf_counter() - begin) / batch)
    return min(times), last


def of_numpy(text, arrays):
    names = {**globals(), **arrays}
    return eval(f"lambda: {text}", names)


def of_torch(text, arrays, halves):
    given = {k: torch.from_numpy(v) for k, v in arrays.items()}
    given = {k: v.bfloat16() if k in halves else v for k, v in given.items()}
    call = eval(f"lambda {', '.join(given)}: {text}", dict(globals()))
    return lambda: call(*given.values())


def of_jax(text, arrays, halves):
    given = {k: jnp.asarray(v) for k, v in arrays.items()}
    given = {k: v.astype(jnp.bfloat16) if k in halves else v for k, v in given.items()}
    call = jax.jit(eval(f"lambda {', '.join(given)}: {text}", dict(globals())))
    return lambda: jax.block_until_ready(call(*given.values()))


def as_array(result):
    if isinstance(result, torch.Tensor):
        return (result.float() if result.dtype == torch.bfloat16 else result.resolve_conj()).numpy()
    return np.asarray(result, dtype=np.float32 if getattr(result, "dtype", None) == jnp.bfloat16 else None)


def difference(ours, theirs, tolerance):
    if ours.shape != theirs.shape:
        return f"shape {ours.shape}, not {theirs.shape}"
    if not ours.size:
        return None
    wide = np.complex128 if "c" in (ours.dtype.kind, theirs.dtype.kind) else np.float64
    a, b = ours.astype(wide), theirs.astype(wide)
    scale = np.nanmax(np.where(np.isfinite(b), abs(b), 0), initial=1e-300)
    if np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
        return None
    return f"by {np.nanmax(abs(a - b)) / scale:.1e} of the greatest"


def measure(cell):
    arrays, times, problem, compared = {k: load(v) for k, v in cell["inputs"].items()}, {}, None, False
    for peer, text in cell["texts"].items():
        if peer == "numpy" and cell["halves"]:
            continue
        try:
            call = (
                of_numpy(text, arrays)
                if peer == "numpy"
                else (of_torch if peer == "torch" else of_jax)(text, arrays, cell["halves"])
            )
            with torch.no_grad():
                times[peer], result = least(call, cell["seconds"])
        except Exception as error:
            times[peer] = None
            if cell["verbose"]:
                print(f"{peer} {text}: {str(error)[:200]}", file=sys.stderr)
            continue
        if cell["tolerance"] is not None and cell["result"] and not compared:
            limit = TOLERANCE.get(cell["dtype"], 1e-11) * cell["tolerance"]
            problem, compared = difference(np.load(cell["result"]), as_array(result), limit), True
            problem = problem and f"{peer}: {problem}"
    return {"times": times, "differs": problem}


if __name__ == "__main__":
    versions = {m.__name__: m.__version__ for m in (np, torch, jax)}
    print(json.dumps(versions), flush=True)
    for line in sys.stdin:
        print(json.dumps(measure(json.loads(line))), flush=True)
