# SPDX-License-Identifier: Apache-2.0
"""Elementary functions of 10^6 elements, one thread: Toy beside NumPy in interleaved rounds, medians of the best of
five calls (fresh memory costs more than the work). Nothing here is a test."""
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

N, ROUNDS = 1000000, 3
FUNCTIONS = (
    "exp expm1 log log1p sqrt sin cos sinh cosh tan tanh asin acos atan asinh acosh atanh abs reciprocal pow".split()
)
REAL = "exp sin cos tanh pow".split()
EXPONENT = 1.7  # of pow
CASES = [(f, d) for d in ("c64", "c128") for f in FUNCTIONS] + [(f, d) for d in ("f32", "f64") for f in REAL]


def toy_times(toy):
    text = "".join(
        f"def test{i}(x: {d}[N]) {{ return {f}(x{f', {EXPONENT}' if f == 'pow' else ''}); }}\n"
        for i, (f, d) in enumerate(CASES)
    )
    text += f"var z = randn({N}) + 1i*randn({N}); var c128x = z; var c64x = c64(z); var f64x = abs(z); var f32x = f32(f64x);\n"
    text += "".join(
        f"var t{i} = inf; for k in range(5) {{ var b = clock(); var o = test{i}({d}x); t{i} = minimum(t{i}, clock() - b); }} print(t{i});\n"
        for i, (f, d) in enumerate(CASES)
    )
    with tempfile.NamedTemporaryFile("w", suffix=".toy") as file:
        file.write(text)
        file.flush()
        return [
            float(line)
            for line in subprocess.run(
                [toy, "--threads=1", file.name], stdout=subprocess.PIPE, text=True, check=True
            ).stdout.split()
        ]


def numpy_times():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(N) + 1j * rng.standard_normal(N)
    values = {"c128": z, "c64": z.astype(np.complex64), "f64": abs(z), "f32": abs(z).astype(np.float32)}
    times = []
    for function, dtype in CASES:
        f = getattr(
            np,
            {"pow": "power"}.get(function)
            or ("arc" + function[1:] if function in ("asin", "acos", "atan", "asinh", "acosh", "atanh") else function),
        )
        arguments = [values[dtype], values[dtype].dtype.type(EXPONENT)][: 2 if function == "pow" else 1]
        best = float("inf")
        for _ in range(5):
            begin = time.perf_counter()
            f(*arguments)
            best = min(best, time.perf_counter() - begin)
        times.append(best)
    return times


if __name__ == "__main__":
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(toy_times(sys.argv[1]))
        theirs.append(numpy_times())
    print(f"| function | dtype | toy ms | NumPy {np.__version__} ms | ratio |\n| --- | --- | --- | --- | --- |")
    for i, (function, dtype) in enumerate(CASES):
        a, b = (statistics.median(row[i] for row in rows) * 1e3 for rows in (ours, theirs))
        print(f"| {function} | {dtype} | {a:.2f} | {b:.2f} | {b / a:.1f} |")
