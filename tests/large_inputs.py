# SPDX-License-Identifier: Apache-2.0
"""What shows on large inputs, or over many of them: memory, code that is kept, loops over lanes and threads."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

import numpy as np

from programs import run, same


def code_cache(toy):
    """A second run of a script takes its code from the cache; damaged files and processes side by side are no danger;
    --no-cache writes nothing."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "p.toy")
        program.write_text(
            "def f(z: c64[N], n: i64) { var s = z; for i in range(n) { s = s * z + conj(s); } return s; }\nprint(sum(f(c64([1, 0.5i, 2]), 7)));\nassert len(args) == 0, args[0];\n"
        )
        cache, environment = pathlib.Path(folder, "toy"), {**os.environ, "XDG_CACHE_HOME": folder}

        def go(*flags, arguments=()):
            done = run([toy, f"--stats={folder}/s.json", *flags, str(program), *arguments], env=environment)
            return (
                done.returncode,
                done.stdout,
                [c["reason"] for c in json.loads(pathlib.Path(folder, "s.json").read_text())["compiles"]],
            )

        none = go("--no-cache")
        if cache.exists():
            return "--no-cache wrote files"
        first, second = go(), go()
        if first != none or second[:2] != first[:2] or "kept" in first[2][0] or "kept" not in second[2][0]:
            return f"{none} {first} {second}"
        failed = run([toy, str(program), "reason"], env=environment)
        if failed.returncode != 1 or "p.toy:3:1" not in failed.stderr or "reason" not in failed.stderr:
            return failed.stderr
        for i, file in enumerate(sorted(cache.iterdir())):
            data = file.read_bytes()
            file.write_bytes([data[: len(data) // 2], b"", data[:-1] + bytes([data[-1] ^ 1]), b"x" * len(data)][i % 4])
        damaged, again = go(), go()
        if damaged[:2] != first[:2] or "kept" in damaged[2][0] or "kept" not in again[2][0]:
            return f"damaged {damaged} {again}"
        for file in cache.iterdir():
            file.unlink()
        together = [
            subprocess.Popen([toy, str(program)], env=environment, stdout=subprocess.PIPE, text=True) for _ in range(8)
        ]
        outputs = {p.communicate()[0] for p in together}
        return same("outputs", outputs, {first[1]}) or same(
            "leftovers", [f.name for f in cache.iterdir() if "." in f.name], []
        )


def peak_of(toy, text):
    """The largest resident size of a program, in KiB, or what went wrong."""
    with tempfile.TemporaryFile("w+") as file:
        file.write(text)
        file.seek(0)
        child = subprocess.Popen([toy, "-"], stdin=file, stdout=subprocess.DEVNULL)
        peak = 0
        while child.poll() is None:
            found = re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{child.pid}/status").read_text())
            peak = int(found.group(1)) if found else peak
            time.sleep(0.02)
    return f"status {child.returncode}" if child.returncode else peak


def growth(toy, texts):
    """Whether the second program takes much more memory than the first."""
    peaks = [peak_of(toy, text) for text in texts]
    problems = [peak for peak in peaks if isinstance(peak, str)]
    return problems[0] if problems else None if peaks[1] - peaks[0] < 30000 else f"{peaks} KiB"


def memory_of_many_inputs(toy):
    """Statements and redefinitions leave nothing behind: the largest resident size after 4,000 and after 16,000 inputs
    (a statement took 4.4 KiB before)."""
    lines = [
        [
            f"var a = {i} + 1;",
            f"def f(x) {{ return x + {i % 7}; }}",
            "var b = [1, 2, 3] * a;",
            "b[1] = 7;",
            "var c = f(b);",
        ][i % 5]
        for i in range(16000)
    ]
    return growth(toy, ["\n".join(lines[:count]) + "\nprint(c);\n" for count in (4000, 16000)])


def memory_of_transforms(toy):
    """What transforms keep for the lengths that they have met has a bound: 16 MiB for each long one stayed before."""
    text = """for n in [1048576, 983040, 917504, 884736, 819200, 786432, 737280, 720896, 655360, 589824][:{count}] {{
  var x = zeros(i64(n), dtype=c128); print(fft(x)[0], ifft(x)[0]);
}}
"""
    return growth(toy, [text.format(count=count) for count in (4, 10)])


def memory_of_views(toy):
    """What a loop makes as a tensor of two axes and lets go as one of one axis is used again: 260 bytes a turn were
    kept for tensors of one axis, which nobody asked for."""
    text = """def f(x: f64[N, D], turns: i64) -> f64 {
      var s = 0.0;
      for t in range(turns) { s += sum(cumsum(x[t % 20])) + sum(sort(x[t % 20])); }
      return s;
    }
    print(f(rand(20, 9), TURNS));
    """
    return growth(toy, [text.replace("TURNS", turns) for turns in ("50000", "500000")])


def fused_chain(toy):
    """A chain of elementwise operations is one loop and allocates its result only."""
    program = """def f(a: c64[N], b: c64[N], c: c64[N], d: c64[N]) { return (a*b + c) * conj(d) - 2i*a; }
def main() { var n = 100000; var a = randn(n, dtype=c64); var b = randn(n, dtype=c64); var c = randn(n, dtype=c64); var d = randn(n, dtype=c64);
  var r = a; for i in range(RUNS) { r = f(a, b, c, d); } print(r[0]); }"""
    stats = []
    for runs in ("1", "11"):
        with tempfile.TemporaryDirectory() as folder:
            script, out = pathlib.Path(folder, "a.toy"), pathlib.Path(folder, "s.json")
            script.write_text(program.replace("RUNS", runs))
            done = run([toy, f"--stats={out}", str(script)])
            if done.returncode:
                return done.stderr
            stats.append(json.loads(out.read_text()))
    loops, allocations = (stats[1][k] - stats[0][k] for k in ("loops", "allocations"))
    return same("loops of 10 calls", loops, 10) or same("allocations of 10 calls", allocations, 10)


def updates_in_place(toy):
    """`x[…] = v` at the top level copies only when another variable holds the same values; a failed update changes
    nothing."""
    with tempfile.TemporaryDirectory() as folder:
        stats = os.path.join(folder, "s.json")
        text = "var x = zeros(1000000);\nx[5] = 1.0;\nx[6] += 2;\nx[7:9] = 3;\nx[-1] = x[5] + x[6];\nvar y = x;\ny[5] = 7;\nprint(x[5], y[5], x[6], x[-1], sum(x));\n"
        path = os.path.join(folder, "p.toy")
        pathlib.Path(path).write_text(text, encoding="utf-8")
        done = run([toy, f"--stats={stats}", path])
        problem = same("output", done.stdout, "1.0 7.0 2.0 3.0 12.0\n") or same(
            "copies", json.load(open(stats))["copies"], 1
        )
        if problem:
            return problem
    failed = run([toy, "-e", "var x = [1, 2, 3]; x[0] = 5; print(x); x[1:] = [1, 2, 3];"])
    return same("status", failed.returncode, 1) or same("output", failed.stdout, "[5.0, 2.0, 3.0]\n")


def results_over_operands(toy):
    """A transform along a second axis writes over what that along the first one gave, and positions over the values
    that nobody else reads: the peak of all values is that of one operand and one result. What some rows at a time take
    beside a result is a part of it."""
    program = """def f(x: f64[N, M]) { return TEXT; }
var x = rand(SIZES); var y = f(x);
"""
    mib = 1 << 20
    for text, sizes, *limits in (
        ("rfft2(x)", "512, 510", 5, 5),
        ("argsort(x[:, ::2])", "512, 1024", 7, 7),
        ("vander(flatten(x), 4)", "512, 256", 7, 7),
        ("attention(x, x, x, causal = true)", "2048, 32", 8, 2.5),
    ):
        with tempfile.TemporaryDirectory() as folder:
            path, stats = pathlib.Path(folder, "p.toy"), pathlib.Path(folder, "s.json")
            path.write_text(program.replace("TEXT", text).replace("SIZES", sizes))
            for flag, limit in zip(("--jit=never", "--jit=always"), limits):
                done = run([toy, f"--stats={stats}", flag, str(path)])
                peak = json.loads(stats.read_text())["peak_bytes"] / mib
                if done.returncode or peak > limit:
                    return f"{text} {flag}: {peak:.1f} MiB {done.stderr}"
    return None


def functions_in_lanes(toy):
    """Loops over elementary functions call their vectors' versions; code that does not pay for optimization has
    none."""
    for f, dtype in (("exp", "c64"), ("log", "c128"), ("tanh", "f32"), ("sin", "f64")):
        text = f"def f(z: {dtype}[N]) {{ return {f}(z); }} f(zeros(3, dtype={dtype}));"
        done = run([toy, "-O2", "--emit=llvm", "-e", text])
        if done.returncode or not re.search(
            rf"call [^\n]*<\d+ x (double|float)>[^\n]* @toy(\.{f}\.{dtype}\.|_rt_(?:lanes|pairs)_)\d", done.stdout
        ):
            return f"{f} of {dtype} is not called in lanes\n{done.stdout}{done.stderr}"
    return None


def large_results(toy):
    """Results beyond the caches, and results in the memory of an operand that dies: never one that is read elsewhere,
    or that somebody else holds."""
    program = """
def flat(x: f64[N]) { return x * 2 + 1; }
def rows(x: f64[N, M], y: f64[M]) { return x * y - 1; }
def turn(x: f32[N, 2], w: c64[N]) { return view_as_real(view_as_complex(x) * w); }
def again(x: f64[N]) { var y = x; for i in range(5) { y = y * 0.5 + 1; } return y; }
def mirrored(x: f64[N]) { var y = x + 1; y = y + flip(y); y = y - y[::-1] * 2; return y; }
def transposed(x: f64[N, N]) { var y = x * 2; y = y + y.T; return y; }
def shared(x: f64[N]) { var y = x + 1; var z = y; y = y * 3; return stack([y, z]); }
def pairs(x: c128[N]) { var y = x * 2; for i in range(3) { y = y * conj(y) - y; } return y; }
var x = load("x.npy"); var a = load("a.npy"); var p = load("p.npy"); var w = load("w.npy"); var s = load("s.npy");
save("0.npy", flat(x)); save("1.npy", rows(a, a[0])); save("2.npy", turn(p, w)); save("3.npy", again(x)); save("4.npy", mirrored(x));
save("5.npy", transposed(s)); save("6.npy", shared(x)); save("7.npy", pairs(x[:1000] + 1i)); save("8.npy", x); save("9.npy", rows(a[1:4, 1:], a[0, 1:]));
"""
    rng = np.random.default_rng(5)
    x, a, s = rng.standard_normal(3000001), rng.standard_normal((1500, 1501)), rng.standard_normal((300, 300))
    p, w = rng.standard_normal((2500001, 2)).astype(np.float32), (rng.standard_normal(2500001) + 1j).astype(
        np.complex64
    )
    y, z, half = x + 1, (x[:1000] + 1j) * 2, x
    y = y + y[::-1]
    for _ in range(3):
        z = z * np.conj(z) - z
    for _ in range(5):
        half = half * 0.5 + 1
    turned = p.view(np.complex64)[:, 0] * w
    want = [
        x * 2 + 1,
        a * a[0] - 1,
        turned.view(np.float32).reshape(-1, 2),
        half,
        y - y[::-1] * 2,
        s * 2 + (s * 2).T,
        np.stack([(x + 1) * 3, x + 1]),
        z,
        x,
        a[1:4, 1:] * a[0, 1:] - 1,
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, value in {"x": x, "a": a, "p": p, "w": w, "s": s}.items():
            np.save(os.path.join(folder, name + ".npy"), value)
        pathlib.Path(folder, "p.toy").write_text(program, encoding="utf-8")
        for flags in (["-O2"], ["-O2", "--threads=1"], ["-O0", "--jit=always"], ["--unpack"]):
            done = run([toy, *flags, "p.toy"], cwd=folder)
            if done.returncode:
                return done.stderr
            for i, value in enumerate(want):
                if not np.allclose(
                    np.load(os.path.join(folder, f"{i}.npy")),
                    value,
                    rtol=1e-6 if i == 2 else 1e-12,
                    atol=1e-5 if i == 2 else 1e-12,
                ):
                    return f"{flags}: result {i} is wrong"
    return None


def layout_conversions(toy):
    """A native product of parts: they are put together in the loops before it, taken apart in those after it, and
    counted."""
    text = (
        "def f(a: f64[40, 40], b: f64[40, 40], c: f64[40, 40], d: f64[40, 40]) { var x = a * 2 + b; var re = x@c - b@d; var im = x@d + b@c; return (re + 1, im * im); }\n"
        "def main() { var a = rand(40, 40); var (p, q) = f(a, a / 2, a / 3, a / 4); print(sum(p) + sum(q) > 0); }\n"
    )
    for strategy, repacks, kernel in (("native", 3, "gemm_c128"), ("four-real", 0, "planar_gemm_f64_four-real")):
        with tempfile.TemporaryDirectory() as folder:
            stats, path = os.path.join(folder, "s.json"), os.path.join(folder, "p.toy")
            pathlib.Path(path).write_text(text, encoding="utf-8")
            done = run([toy, "-O2", f"--complex-matmul={strategy}", f"--stats={stats}", path])
            found = json.load(open(stats)) if done.returncode == 0 else {}
            if found.get("repacks") != repacks or found.get("kernels") != {kernel: 1}:
                return f"{strategy}: {found}{done.stderr}"
    return None


def products_agree(toy):
    """Products of every dtype, rank, transposition and conjugation, against NumPy."""
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        for dtype in (np.float32, np.float64, np.complex64, np.complex128):

            def make(*shape):
                x = rng.standard_normal(shape)
                return (
                    (x + 1j * rng.standard_normal(shape)).astype(dtype)
                    if np.issubdtype(dtype, np.complexfloating)
                    else x.astype(dtype)
                )

            for a, b in (
                (make(5, 7), make(7, 3)),
                (make(7), make(7, 3)),
                (make(5, 7), make(7)),
                (make(7), make(7)),
                (make(4, 5, 7), make(7, 3)),
                (make(4, 1, 5, 7), make(2, 7, 3)),
                (make(64, 64), make(64, 64)),
                (make(5, 0), make(0, 3)),
            ):
                np.save(f"{folder}/a.npy", a)
                np.save(f"{folder}/b.npy", b)
                np.save(f"{folder}/t.npy", np.swapaxes(b, -1, -2) if b.ndim > 1 else b)
                np.save(f"{folder}/h.npy", np.conj(np.swapaxes(a, -1, -2)) if a.ndim > 1 else np.conj(a))
                texts = ("a @ b", "a @ t.T", "h' @ b", "h' @ t.T")
                program = "".join(f'var {v} = load("{v}.npy"); ' for v in "abth")
                for i, text in enumerate(texts):
                    program += f'def f{i}(a, b, t, h) {{ return {text}; }} save("{i}.npy", f{i}(a, b, t, h));'
                done = run([toy, "--jit=always", "-e", program], cwd=folder)
                if done.returncode:
                    return done.stderr
                for i, text in enumerate(texts):
                    want, got = a @ b, np.load(f"{folder}/{i}.npy")
                    eps = np.finfo(dtype).eps
                    bound = 8 * eps * (a.shape[-1] + 1) * (np.abs(a) @ np.abs(b)).max(initial=0)
                    if got.shape != want.shape or got.dtype != want.dtype or np.abs(got - want).max(initial=0) > bound:
                        return f"{text} of {a.shape} {b.shape} {dtype}: {np.abs(got - want).max()} > {bound}"
    return None


def all_cases():
    markers = {
        code_cache: ["host"],
        memory_of_many_inputs: ["release", "long"],
        memory_of_transforms: ["release", "host"],
        memory_of_views: ["release", "host"],
        layout_conversions: ["host"],
        updates_in_place: ["host"],
        fused_chain: ["host"],
    }
    for case in (
        code_cache,
        memory_of_many_inputs,
        memory_of_transforms,
        memory_of_views,
        large_results,
        results_over_operands,
        functions_in_lanes,
        updates_in_place,
        fused_chain,
        layout_conversions,
        products_agree,
    ):
        yield case.__name__.replace("_", " "), case, *markers.get(case, ())
