# SPDX-License-Identifier: Apache-2.0
"""Code for sizes as they come beside code for one size, in turns, medians of the best of several calls; the choice of a
form; and, where a virtual environment with JAX is given, what a call of a compiled function costs there. Nothing here
is a test. Usage: compare.py TOY BENCH-DISPATCH [PYTHON-WITH-JAX]"""
import statistics
import subprocess
import sys
import tempfile

CASES = [  # name, definition, argument, repetitions
    ("x*y + conj(x), c64", "x * (x + 1) + conj(x)", "c64(randn({n})) * 1i", [64, 1024, 100000, 1000000]),
    ("sum of x*x, f64", "sum(x * x)", "randn({n})", [64, 1024, 100000, 1000000]),
    ("softmax, f32", "softmax(x, 0)", "f32(randn({n}))", [64, 1024, 100000]),
    ("x @ w, c64 [n, 256]", "x @ x[:256].T", "c64(randn({n}, 256)) * 1i", [256, 1024]),
    ("x @ x', f64 [n, 64]", "x @ x.T", "randn({n}, 64)", [64, 512]),
]


def toy_times(toy, expression, argument, n):
    calls = max(5, min(20000, 4000000 // (n * n if "@" in expression else n)))
    text = f"@static(x, 0)\ndef fixed(x) {{ return {expression}; }}\n@dynamic(x, 0)\ndef free(x) {{ return {expression}; }}\n"
    text += f"var x = {argument.format(n=n)};\nvar a = inf; var b = inf;\n"
    loop = "var t = clock(); for k in range({calls}) {{ var o = {f}(x); }} {v} = minimum({v}, (clock() - t) / {calls});"
    text += (
        "for round in range(9) { "
        + loop.format(calls=calls, f="fixed", v="a")
        + " t = clock(); "
        + loop.format(calls=calls, f="free", v="b").replace("var t = clock(); ", "")
        + " }\nprint(a, b);\n"
    )
    with tempfile.NamedTemporaryFile("w", suffix=".toy") as file:
        file.write(text)
        file.flush()
        out = subprocess.run(
            [toy, "--threads=1", "--precision=full", file.name],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if out.returncode:
            raise SystemExit(out.stderr + text)
        return [float(t) for t in out.stdout.split()]


JAX = """
import time, statistics, jax, jax.numpy as np
f = jax.jit(lambda a, b, c, d: a)
x = [np.ones((9, 64)) for _ in range(4)]
f(*x)
times = []
for _ in range(300):
    begin = time.perf_counter()
    for _ in range(100): f(*x)
    times.append((time.perf_counter() - begin) / 100)
print(f"| JAX {jax.__version__}: call of a compiled function of 4 matrices, ns | {statistics.median(times) * 1e9:.0f} |")
"""

if __name__ == "__main__":
    print("| code | n | one size, us | as it comes, us | ratio |\n| --- | --- | --- | --- | --- |")
    for name, expression, argument, sizes in CASES:
        for n in sizes:
            rounds = [toy_times(sys.argv[1], expression, argument, n) for _ in range(3)]
            fixed, free = (statistics.median(r[i] for r in rounds) * 1e6 for i in (0, 1))
            print(f"| {name} | {n} | {fixed:.2f} | {free:.2f} | {free / fixed:.2f} |")
    print("\n| choice of a form | |\n| --- | --- |")
    print(subprocess.run([sys.argv[2]], stdout=subprocess.PIPE, text=True, check=True).stdout, end="")
    if len(sys.argv) > 3:
        print(subprocess.run([sys.argv[3], "-c", JAX], stdout=subprocess.PIPE, text=True, check=True).stdout, end="")
