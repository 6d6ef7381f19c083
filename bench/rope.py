# SPDX-License-Identifier: Apache-2.0
"""Rotary embedding of x f32[1, 2048, 32, 128]: Toy in four spellings, a copy with non-temporal stores, NumPy and, where
the Python that runs this has it, PyTorch; milliseconds, medians of runs that take turns, all on the same number of
threads. Nothing here is a test. Usage: rope.py TOY [THREADS]"""
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

try:
    import torch
except ImportError:
    torch = None

SHAPE = (1, 2048, 32, 128)
SPELLINGS = {
    "complex": (
        "view_as_real(view_as_complex(reshape(x, [1, 2048, 32, 64, 2])) * reshape(w, [2048, 1, 64]))",
        "[1, 2048, 32, 64, 2]",
    ),
    "even and odd": (
        "stack([x[..., 0::2] * c - x[..., 1::2] * s, x[..., 0::2] * s + x[..., 1::2] * c], axis=-1)",
        "[1, 2048, 32, 64, 2]",
    ),
    "halves": (
        "cat([x[..., :64] * c - x[..., 64:] * s, x[..., :64] * s + x[..., 64:] * c], axis=-1)",
        "[1, 2048, 32, 128]",
    ),
    "rotate half": (
        "x * cat([c, c], axis=-1) + cat([-x[..., 64:], x[..., :64]], axis=-1) * cat([s, s], axis=-1)",
        "[1, 2048, 32, 128]",
    ),
}
COPY = """
#include <immintrin.h>
#include <stddef.h>
void copy(float *to, const float *from, size_t n) {
  for (size_t i = 0; i < n; i += 4) _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
  _mm_sfence();
}
"""


def toy_times(toy, threads, rounds):
    text = "".join(
        f"def f{i}(x: f32[1, 2048, 32, 128], w, c, s) {{ return reshape({e}, [1, 2048, 32, 128]); }}\n"
        for i, (e, _) in enumerate(SPELLINGS.values())
    )
    text += "var x = randn(1, 2048, 32, 128, dtype=f32); var t = arange(2048)[:, newaxis] * 10000.0 ** (-arange(64) / 64);\n"
    text += "var w = c64(polar(1.0, t)); var c = reshape(f32(cos(t)), [2048, 1, 64]); var s = reshape(f32(sin(t)), [2048, 1, 64]);\n"
    for i in range(len(SPELLINGS)):
        text += f"for i in range({rounds}) {{ var b = clock(); var y = f{i}(x, w, c, s); print({i}, clock() - b); }}\n"
    text += f"def again(x: f32[1, 2048, 32, 128], w, c, s) {{ var y = x; for i in range({rounds}) {{ var b = clock(); y = f0(y, w, c, s); print({len(SPELLINGS)}, clock() - b); }} return y; }} again(x, w, c, s);\n"
    with tempfile.NamedTemporaryFile("w", suffix=".toy") as file:
        file.write(text)
        file.flush()
        out = subprocess.run(
            [toy, f"--threads={threads}", file.name], stdout=subprocess.PIPE, text=True, check=True
        ).stdout
    times = [[] for _ in range(len(SPELLINGS) + 1)]
    for line in out.splitlines():
        i, seconds = line.split()[:2]
        times[int(i)].append(float(seconds))
    return [statistics.median(t[2:]) for t in times]


def median(function, rounds):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[2:])


def main():
    toy, threads = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rng = np.random.default_rng(0)
    x = rng.standard_normal(SHAPE).astype(np.float32)
    w = np.exp(1j * np.arange(2048)[:, None] * 10000.0 ** (-np.arange(64) / 64)).astype(np.complex64)[None, :, None, :]
    out = np.empty_like(x)
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, "copy.c"), os.path.join(folder, "copy.so")
        open(source, "w").write(COPY)
        subprocess.run(["cc", "-O3", "-shared", "-fPIC", "-o", library, source], check=True)
        copy = ctypes.CDLL(library).copy
    address = lambda a: ctypes.c_void_p(a.ctypes.data)
    peers = {
        "non-temporal copy, one thread": lambda: copy(address(out), address(x), ctypes.c_size_t(x.size)),
        f"NumPy {np.__version__}, complex": lambda: (x.view(np.complex64) * w).view(np.float32),
    }
    if torch:
        torch.set_num_threads(threads)
        tx, tw = torch.from_numpy(x), torch.from_numpy(w)
        peers[f"PyTorch {torch.__version__}, complex"] = lambda: torch.view_as_real(
            torch.view_as_complex(tx.reshape(*SHAPE[:-1], -1, 2)) * tw
        ).flatten(3)
    rows = {}
    for _ in range(5):
        for name, seconds in zip([*SPELLINGS, "complex, operand reused"], toy_times(toy, threads, 12)):
            rows.setdefault("Toy, " + name, []).append(seconds)
        for name, function in peers.items():
            rows.setdefault(name, []).append(median(function, 12))
    moved = 2 * x.nbytes
    print(f"| {threads} thread{'s' if threads > 1 else ''} | ms | GB/s |\n| --- | --- | --- |")
    for name, seconds in rows.items():
        t = statistics.median(seconds)
        print(f"| {name} | {t * 1e3:.2f} | {moved / t / 1e9:.1f} |")


if __name__ == "__main__":
    main()
