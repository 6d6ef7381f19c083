# SPDX-License-Identifier: Apache-2.0
"""One library on a CUDA device, for bench/gpu.py: writes its version, then a line of JSON for each case. Usage:
cuda_peer.py torch|"torch compiled"|cupy|jax|numpy full|small CASE... (NumPy has no device: for a test)."""
import functools
import json
import statistics
import sys
import time

from cuda_cases import CASES, formatted

ROUNDS, WARM = 30, 5


def opened(peer):
    """The module, what waits for the device, and what makes a function of one that is called again and again."""
    if peer == "numpy":
        import numpy

        return numpy, lambda: None, lambda f: f
    if peer == "cupy":
        import cupy

        cupy.cuda.runtime.getDeviceCount()
        return cupy, cupy.cuda.Device().synchronize, lambda f: f
    if peer == "jax":
        import jax

        jax.devices("cuda")
        jax.config.update("jax_enable_x64", True)
        return jax.numpy, None, jax.jit
    import torch

    torch.cuda.get_device_name()
    return torch, torch.cuda.synchronize, torch.compile if "compiled" in peer else lambda f: f


def version(peer):
    module = __import__(peer.split()[0])
    return module.__version__


def milliseconds(case, peer, module, wait, compiled, small):
    set_up, call = (case.torch, case.torch_call) if "torch" in peer else (case.xp, case.xp_call)
    given, sizes = {"torch": module, "xp": module, "functools": functools}, case.small if small else case.sizes
    scope = dict(given)
    exec(formatted(set_up, sizes), scope)
    # JAX's compiler would compute what depends on no argument.
    names = sorted(name for name in scope.keys() - given.keys() if not name.startswith("_"))
    exec(f"def f({', '.join(names)}):\n  return {formatted(call, sizes)}", scope)
    f, arguments, times = compiled(scope["f"]), [scope[name] for name in names], []
    for _ in range(ROUNDS + WARM):
        begin = time.perf_counter()
        y = f(*arguments)
        wait() if wait else y.block_until_ready()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[WARM:]) * 1e3


def main():
    _, peer, sizes, *names = sys.argv
    module, wait, compiled = opened(peer)
    print(json.dumps({"version": version(peer)}), flush=True)
    for case in CASES:
        if case.name in names:
            row = {"name": case.name}
            try:
                row["ms"] = milliseconds(case, peer, module, wait, compiled, sizes == "small")
            except Exception as error:  # a form that it does not have
                row["problem"] = type(error).__name__
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
