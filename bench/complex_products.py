# SPDX-License-Identifier: Apache-2.0
"""Recognized complex products of planar matrices beside the same source with --no-recognize: milliseconds, medians of
medians over alternating runs. Usage: complex_products.py TOY. Nothing here is a test."""
import math
import statistics
import subprocess
import sys
import tempfile

toy = sys.argv[1]
PROGRAM = """
def parts(a, b, c, d) {{ return (a@c - b@d, a@d + b@c); }}
def main() {{
  var a = randn({left}, dtype={dtype}); var b = randn({left}, dtype={dtype}); var c = randn({right}, dtype={dtype}); var d = randn({right}, dtype={dtype});
  for i in range({rounds}) {{ var t0 = clock(); var (re, im) = parts(a, b, c, d); var t1 = clock(); print(t1 - t0, sum(re) + sum(im)); }}
}}
"""


def median(flags, left, right, dtype, rounds):
    with tempfile.NamedTemporaryFile("w", suffix=".toy") as file:
        file.write(PROGRAM.format(left=left, right=right, dtype=dtype, rounds=rounds + 3))
        file.flush()
        out = subprocess.run([toy, *flags, file.name], stdout=subprocess.PIPE, text=True, check=True).stdout
    return statistics.median(float(line.split()[0]) for line in out.splitlines()[3:]) * 1e3


def compare(name, left, right, dtype, rounds=15, runs=3, common=()):
    rows = {"recognized": [], "as written": ["--no-recognize"], "gauss": ["--complex-matmul=gauss"]}
    times = {key: [] for key in rows}
    for _ in range(runs):
        for key, flags in rows.items():
            times[key].append(median([*flags, *common], left, right, dtype, rounds))
    t = {key: statistics.median(values) for key, values in times.items()}
    print(
        f"{name:24}{dtype:>5}{t['as written']:12.4f}{t['recognized']:12.4f}{t['gauss']:12.4f}{t['as written'] / t['recognized']:8.2f}{t['as written'] / t['gauss']:8.2f}",
        flush=True,
    )
    return t["as written"] / t["recognized"], t["as written"] / t["gauss"]


print(f"{'':29}{'as written':>12}{'recognized':>12}{'gauss':>12}{'ratio':>8}{'gauss':>8}")
for dtype in ("f32", "f64"):
    ratios = [
        compare(f"{n} x {n}", f"{n}, {n}", f"{n}, {n}", dtype, rounds=21 if n < 1024 else 5)
        for n in (128, 256, 512, 1024, 2048)
    ]
    print(f"geometric mean {dtype}: {math.exp(statistics.fmean(math.log(r[0]) for r in ratios)):.3f}")
for threads in ([], ["--threads=1"]):
    print("one thread" if threads else "all threads")
    for n in (2, 3, 4, 6, 8, 16):
        for total in (8192, 65536, 524288):
            compare(
                f"{total // n // n} of {n} x {n}",
                f"{total // n // n}, {n}, {n}",
                f"{total // n // n}, {n}, {n}",
                "f32",
                common=threads,
            )
    for m in (1, 2, 4, 8):
        compare(f"{m} x 1024 by 1024 x 1024", f"{m}, 1024", "1024, 1024", "f32", common=threads)
