# SPDX-License-Identifier: Apache-2.0
"""Medians of interleaved rounds: Toy against NumPy on the same sizes. Nothing here is a test."""
import ctypes
import json
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

toy = sys.argv[1]
PROGRAM = """
def f(a: c64[N], b: c64[N], c: c64[N], d: c64[N]) {{ return (a*b + c) * conj(d) - 2i*a; }}
def total(x: f64[N]) {{ return sum(x); }}
def product(a, b) {{ return a @ b; }}
def main() {{
  var n = 1000000; var a = randn(n, dtype=c64); var b = randn(n, dtype=c64); var c = randn(n, dtype=c64); var d = randn(n, dtype=c64);
  var x = rand(10000000); var m = rand(512, 512);
  for i in range({rounds}) {{
    var t0 = clock(); var r = f(a, b, c, d); var t1 = clock(); var s = total(x); var t2 = clock(); var p = product(m, m); var t3 = clock();
    print(t1 - t0, t2 - t1, t3 - t2, r[0], s, p[0, 0]);
  }}
}}
"""


def toy_times(rounds):
    with tempfile.NamedTemporaryFile("w", suffix=".toy") as file:
        file.write(PROGRAM.format(rounds=rounds))
        file.flush()
        out = subprocess.run([toy, file.name], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [[float(v) for v in line.split()[:3]] for line in out.splitlines()]


def numpy_times(rounds):
    rng = np.random.default_rng(0)
    a, b, c, d = (
        (rng.standard_normal(1000000) + 1j * rng.standard_normal(1000000)).astype(np.complex64) for _ in range(4)
    )
    x, m, two_i = rng.random(10000000), rng.random((512, 512)), np.complex64(2j)
    work = [lambda: (a * b + c) * np.conj(d) - two_i * a, lambda: x.sum(), lambda: m @ m]
    times = []
    for _ in range(rounds):
        row = []
        for function in work:
            begin = time.perf_counter()
            function()
            row.append(time.perf_counter() - begin)
        times.append(row)
    return times


def start(command, rounds=15):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3


PRODUCT = """
def product(a, b) {{ return a @ b; }}
def main() {{
  var a = randn({n}, {n}, dtype={dtype}); var b = randn({n}, {n}, dtype={dtype});
  for i in range({rounds}) {{ var t0 = clock(); var p = product(a, b); var t1 = clock(); print(t1 - t0, abs(p[0, 0])); }}
}}
"""
BLAS = {"f32": ("s", np.float32), "f64": ("d", np.float64), "c64": ("c", np.complex64), "c128": ("z", np.complex128)}


def toy_product(n, dtype, rounds):
    with tempfile.NamedTemporaryFile("w", suffix=".toy") as file:
        file.write(PRODUCT.format(n=n, dtype=dtype, rounds=rounds))
        file.flush()
        out = subprocess.run([toy, file.name], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [float(line.split()[0]) for line in out.splitlines()]


def direct_product(n, dtype, rounds):
    """cblas_?gemm of the same library, called directly; the result is allocated in every round, as Toy does."""
    letter, numpy_dtype = BLAS[dtype]
    gemm = getattr(ctypes.CDLL("libopenblas.so.0"), f"cblas_{letter}gemm")
    a, b = (np.random.rand(n, n).astype(numpy_dtype) for _ in range(2))
    pointer = lambda x: x.ctypes.data_as(ctypes.c_void_p)
    one, zero = np.ones(1, numpy_dtype), np.zeros(1, numpy_dtype)
    scalar = {"s": lambda x: ctypes.c_float(x[0]), "d": lambda x: ctypes.c_double(x[0])}.get(letter, pointer)
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        c = np.empty((n, n), numpy_dtype)
        gemm(101, 111, 111, n, n, n, scalar(one), pointer(a), n, pointer(b), n, scalar(zero), pointer(c), n)
        times.append(time.perf_counter() - begin)
    return times


if "--direct" in sys.argv:
    print(statistics.median(direct_product(int(sys.argv[3]), sys.argv[4], 16)[2:]))
    sys.exit()
ours, theirs = [], []
for _ in range(5):
    ours += toy_times(12)[2:]
    theirs += numpy_times(12)[2:]
print(f"{'':34}{'toy ms':>10}{'numpy ms':>10}{'ratio':>8}")
for i, name in enumerate(["(a*b+c)*conj(d)-2i*a, c64, 10^6", "sum of 10^7 f64", "512x512 f64 product"]):
    t, n = (statistics.median(row[i] for row in rows) * 1e3 for rows in (ours, theirs))
    print(f"{name:34}{t:10.3f}{n:10.3f}{n / t:8.2f}")
print(f"{'':34}{'toy ms':>10}{'OpenBLAS':>10}{'ratio':>8}")
for dtype in BLAS:
    for size in (256, 512, 1024):
        mine, direct = [], []
        for _ in range(9):  # the median of runs: threads are placed well or badly for a whole run
            mine.append(statistics.median(toy_product(size, dtype, 16)[2:]))
            direct.append(
                float(
                    subprocess.run(
                        [sys.executable, __file__, toy, "--direct", str(size), dtype],
                        stdout=subprocess.PIPE,
                        check=True,
                    ).stdout
                )
            )
        t, n = statistics.median(mine) * 1e3, statistics.median(direct) * 1e3
        print(f"{f'{size}x{size} {dtype} product':34}{t:10.3f}{n:10.3f}{n / t:8.2f}")
t, n = start([toy, "-e", "1+1"]), start(["/usr/bin/python3", "-c", "import numpy"])
print(f"{'start: -e 1+1, import numpy':34}{t:10.3f}{n:10.3f}{n / t:8.2f}")
with tempfile.NamedTemporaryFile(suffix=".json") as file:
    subprocess.run(
        [
            toy,
            "--no-cache",
            f"--stats={file.name}",
            "-e",
            "def f(x, y) { return x * y + 1; } f([1, 2], [3, 4]); def g(x) { return sin(x) + x; } g([1, 2, 3]);",
        ],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    compiles = json.load(open(file.name))["compiles"]
print("compiling small functions, ms:", ", ".join(f"{c['function']} {c['milliseconds']:.1f}" for c in compiles))
