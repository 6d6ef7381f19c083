# SPDX-License-Identifier: Apache-2.0
"""Tests that are more than one program: the command line, printed values read back, NumPy's files, large inputs, the
prompt, a real model."""
import json
import os
import pathlib
import re
import random
import struct
import subprocess
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = ROOT / "examples/llama/stories260K"


def run(command, **kwargs):
    kwargs.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, errors="replace", **kwargs
    )


def same(what, got, want):
    return None if got == want else f"{what}: expected {want!r}, got {got!r}"


def first(*problems):
    return next((p for p in problems if p), None)


def command_line(toy):
    def status(args, want, stdout_to=None):
        done = (
            run([toy, *args])
            if stdout_to is None
            else subprocess.run(
                [toy, *args],
                stdin=subprocess.DEVNULL,
                stdout=open(stdout_to, "w"),
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
            )
        )
        return same(f"exit status of {args}", done.returncode, want) or (
            None if want == 0 or done.stderr else f"{args}: no message"
        )

    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "a.toy")
        script.write_text("print(len(args), args[0], args[1]);")
        stats = pathlib.Path(folder, "stats.json")
        keys = {
            "version",
            "device",
            "threads",
            "compiles",
            "cache_hits",
            "guards",
            "recognized",
            "missed",
            "kernels",
            "loops",
            "repacks",
            "copies",
            "allocations",
            "peak_bytes",
            "kernel_code",
            "phase_ms",
            "cuda",
        }
        return first(
            status(["--help"], 0),
            status(["--version"], 0),
            status(["--explain", "T0301"], 0),
            status(["--explain", "Z9"], 2),
            status(["--no-such-option"], 2),
            status(["--emit=nothing", "-e", "1"], 2),
            status(["-e", "1 +"], 1),
            status(["-e", "assert false"], 1),
            status(["no-such-file.toy"], 1),
            status(["-e", "1 // 0"], 1),
            status(["--device=cuda", "-e", "1"], 1),
            status(["--threads=x"], 2),
            same("arguments", run([toy, str(script), "x", "-y"]).stdout, "2 x -y\n"),
            same("echo", run([toy, "-e", "var x = 2; x * 3"]).stdout, "6\n"),
            same("stdin", run([toy, "-"], stdin=None, input="print(1);\n1+2\n").stdout, "1\n3\n"),
            same("stats", run([toy, f"--stats={stats}", "-e", "def f(x) { return x + 1; } f([1, 2])"]).returncode, 0),
            same("keys of --stats", set(json.loads(stats.read_text())), keys),
            status(["--precision=full", "-e", "print(ones(100000));"], 1, stdout_to="/dev/full"),
        )


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


DTYPES = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
    "i64": np.int64,
    "i32": np.int32,
    "u8": np.uint8,
    "bool": np.bool_,
}


def random_values(dtype, n, seed):
    """All bit patterns are as likely, but NaN has one form; signed zeros and infinities are there."""
    rng = np.random.default_rng(seed)
    raw = rng.integers(0, 256, n * np.dtype(dtype).itemsize, dtype=np.uint8)
    if dtype == np.bool_:
        return (raw & 1).astype(np.bool_)
    x = raw.view(dtype).copy()
    if np.issubdtype(dtype, np.inexact):
        parts = x.view(x.real.dtype)
        parts[np.isnan(parts)] = np.nan
        parts[:5] = [0.0, -0.0, np.inf, -np.inf, np.nan][: len(parts)]
    return x


def print_and_read_back(name, count):
    def check(toy):
        with tempfile.TemporaryDirectory() as folder:
            x = random_values(DTYPES[name], count, 1)
            np.save(f"{folder}/x.npy", x)
            text = run([toy, "--precision=full", "-e", f'print(load("{folder}/x.npy"));'])
            if text.returncode:
                return text.stderr
            script = pathlib.Path(folder, "back.toy")
            script.write_text(f'save("{folder}/y.npy", {name}({text.stdout.strip()}));\n')
            done = run([toy, str(script)])
            if done.returncode:
                return done.stderr[:2000]
            y = np.load(f"{folder}/y.npy")
            return same("dtype", y.dtype, x.dtype) or same(
                "bits", bool(np.array_equal(x.view(np.uint8), y.view(np.uint8))), True
            )

    return check


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


def memory_of_many_inputs(toy):
    """Statements and redefinitions leave nothing behind: the largest resident size after 4,000 and after 16,000 inputs
    (a statement took 4.4 KiB before)."""
    peaks = []
    for count in (4000, 16000):
        lines = [
            [
                f"var a = {i} + 1;",
                f"def f(x) {{ return x + {i % 7}; }}",
                "var b = [1, 2, 3] * a;",
                "b[1] = 7;",
                "var c = f(b);",
            ][i % 5]
            for i in range(count)
        ]
        with tempfile.TemporaryFile("w+") as text:
            text.write("\n".join(lines) + "\nprint(c);\n")
            text.seek(0)
            child = subprocess.Popen([toy, "-"], stdin=text, stdout=subprocess.DEVNULL)
            peak = 0
            while child.poll() is None:
                found = re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{child.pid}/status").read_text())
                peak = int(found.group(1)) if found else peak
                time.sleep(0.02)
        if child.returncode:
            return f"status {child.returncode}"
        peaks.append(peak)
    return None if peaks[1] - peaks[0] < 30000 else f"{peaks} KiB"


def all_bf16_read_back(toy):
    """Every bf16, printed in full and read, as text and as a file."""
    bits = np.arange(1 << 16, dtype=np.uint32) << 16
    x = bits.view(np.float32)
    x = np.where(np.isnan(x), np.float32(np.nan), x)
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", x)
        text = run([toy, "--precision=full", "-e", f'print(bf16(load("{folder}/x.npy")));'])
        script = pathlib.Path(folder, "back.toy")
        script.write_text(
            f'var y = bf16({text.stdout.strip()}); save("{folder}/y.npy", f32(y));\nsave("{folder}/z.safetensors", y); save("{folder}/z.npy", f32(load("{folder}/z.safetensors", "arr_0")));\nvar h = f16([0.1, 65504, 6e-8]); save("{folder}/h.safetensors", h); print(load("{folder}/h.safetensors", "arr_0") == h, load("{folder}/h.safetensors", "arr_0").dtype);\n'
        )
        done = run([toy, str(script)])
        if done.returncode or done.stdout != "[true, true, true] f16\n":
            return done.stdout + done.stderr[:2000]
        return same(
            "bits",
            [bool(np.array_equal(np.load(f"{folder}/{name}.npy").view(np.uint32), x.view(np.uint32))) for name in "yz"],
            [True, True],
        )


def npy_files(toy):
    """NumPy reads what is saved, and what NumPy saves is read: versions, orders, byte orders; broken files are
    errors."""
    with tempfile.TemporaryDirectory() as folder:
        for name, dtype in DTYPES.items():
            for shape in ((), (3,), (2, 3), (0, 4), (2, 3, 4)):
                x = np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape).astype(dtype)
                for order in "CF":
                    np.save(f"{folder}/x.npy", np.asarray(x, order=order))
                    done = run([toy, "-e", f'save("{folder}/y.npy", load("{folder}/x.npy"));'])
                    if done.returncode:
                        return done.stderr
                    y = np.load(f"{folder}/y.npy")
                    if y.dtype != x.dtype or y.shape != x.shape or not np.array_equal(x, y):
                        return f"{name} {shape} {order}: {y}"
        np.save(f"{folder}/big.npy", np.arange(3, dtype=">f8"))
        if run([toy, "-e", f'load("{folder}/big.npy")']).stdout != "[0.0, 1.0, 2.0]\n":
            return "big-endian files are swapped"
        good = pathlib.Path(folder, "big.npy").read_bytes()
        broken = {
            "truncated": good[:-1],
            "magic": b"x" + good[1:],
            "header": good[:20],
            "empty": b"",
            "huge": good.replace(b"(3,)", b"(3000000000000,)").ljust(200),
        }
        for kind, data in broken.items():
            path = pathlib.Path(folder, "broken.npy")
            path.write_bytes(data)
            done = run([toy, "-e", f'load("{path}")'])
            if done.returncode != 1 or "broken.npy" not in done.stderr:
                return f"{kind}: {done.returncode} {done.stderr}"
    return None


def hostile_sources(toy):
    """Deep nesting, NUL, bad UTF-8, long lines and large literals: a clear error or the result, in time that grows with
    the size."""

    def feed(data, want, part=""):
        with tempfile.NamedTemporaryFile(suffix=".toy") as file:
            file.write(data)
            file.flush()
            done = run([toy, file.name])
            if done.returncode != want or part not in done.stderr:
                return f"{data[:20]!r}…: status {done.returncode}, {done.stderr[:300]}"
            return None

    return first(
        feed(b"(" * 2000, 1, "1000"),
        feed(b"-" * 100000 + b"1;", 1, "1000"),
        feed(b"[" * 100000, 1, "1000"),
        feed(b"if true {" * 1500, 1, "1000"),
        feed(b"var x = 1;\0", 1, "NUL"),
        feed(b'var x = "\xff\xfe";', 1, "UTF-8"),
        feed(b"var x = 1" + b" + 1" * 200000 + b";", 0),
        feed(b"var x = [" + b"1.5, " * 1000000 + b'2]; assert sum(x) == 1500002, "sum";', 0),
        feed(b"#" + b"x" * (64 << 20), 0),
        feed(b"var x = [" + b" " * (16 << 20) + b"1];", 0),
        feed(b"x" * (1 << 20) + b";", 1, "unknown name"),
        feed(b"\xef\xbb\xbfprint(1);", 0),
        feed(b"}" * 100, 1),
        feed(b"def", 1),
        feed(b"", 0),
        feed(b"var a<2>= [1, 2]; assert a[0] == 1;", 0),
    )


def session_keeps_state(toy):
    """Errors change nothing, redefinition is followed by callers, `ans` is the last echo."""
    done = run(
        [toy, "-"],
        stdin=None,
        input="""var x = [1, 2];
def f(x) { return g(x) + 1; }
def g(x) { return x * 2; }
f(x)
def g(x) { return x * 3; }
f(x)
ans + 1
x[0] = 5;
x""",
    )
    return same("session", done.stdout, "[3.0, 5.0]\n[4.0, 7.0]\n[5.0, 8.0]\n[5.0, 2.0]\n") or same(
        "errors", done.stderr, ""
    )


def prompt(toy):
    """A pseudo-terminal: prompt, echo with header, several lines, an error that changes nothing, Ctrl-C, Ctrl-D."""
    try:
        import pexpect
    except ImportError:
        return "skipped: pexpect is missing"
    with tempfile.TemporaryDirectory() as state:
        child = pexpect.spawn(
            toy,
            env={**os.environ, "TERM": "dumb", "XDG_STATE_HOME": state, "NO_COLOR": "1"},
            encoding="utf-8",
            timeout=20,
        )
        try:
            child.expect_exact("toy> ")
            for line, answer in (
                ("1 + 1", "2"),
                ("var x = [1, 2, 3];", ""),
                ("x * 2", "[2.0, 4.0, 6.0]"),
                ("x[7] = 1", "T0324"),
                ("x", "[1.0, 2.0, 3.0]"),
                (":vars", "x: f64[3]"),
                (":explain (x*3 - x*2, x*2 + x*3)", "mul: re = a*c - b*d"),
                (":explain print", "no hidden complex"),
                (":explain def g(x: f64[N]) -> f64[M*K] { return x; }", "T0358"),
                ("?sqrt", "square root"),
            ):
                child.sendline(line)
                if answer:
                    child.expect_exact(answer)
                child.expect_exact("toy> ")
            child.sendline("def f(x) {")
            child.expect_exact("...> ")
            child.sendline("  return x + 1; }")
            child.expect_exact("toy> ")
            child.sendline("f(41)")
            child.expect_exact("42")
            child.expect_exact("toy> ")
            child.send("1 + ")
            child.expect_exact("1 + ")
            child.sendintr()
            child.expect_exact("toy> ")
            child.sendline("while true { }")
            time.sleep(1)
            child.sendintr()
            child.expect_exact("interrupted")
            child.expect_exact("toy> ")
            child.sendline("x[0]")
            child.expect_exact("1.0")
            child.expect_exact("toy> ")
            child.sendeof()
            child.expect(pexpect.EOF)
        except pexpect.ExceptionPexpect as error:
            return f"{error}"
        child.close()
        return same("exit status", child.exitstatus, 0)


def real_model(toy):
    """Layer 0 of a published Llama: embedding, RMSNorm, projections and RoPE agree with reference queries and keys."""
    for flags in (["--jit=never"], [], ["--jit=always"]):
        done = run([toy, *flags, str(ROOT / "tests/model/layer0.toy"), str(MODEL)])
        if done.returncode or done.stdout != "true true\n":
            return f"{flags}: {done.stdout}{done.stderr}"
    return None


def llama(toy):
    """The whole model, in the language: its greedy tokens are as published; sampling is repeatable; a prompt is
    continued; files that are no model are errors."""
    program, files = str(ROOT / "examples/llama/llama.toy"), [str(MODEL / "stories260K.bin"), str(MODEL / "tok512.bin")]
    want = (MODEL / "expected-greedy-200.txt").read_text()
    alone = run([toy, program], cwd=ROOT)
    if alone.returncode or not alone.stdout.startswith(want[:-1]):
        return f"without a checkpoint: {alone.stdout}{alone.stderr}"
    for flags in (["--unpack"], ["--threads=1"], ["--no-recognize"]):
        done = run([toy, *flags, program, *files, "80"])
        if done.returncode or len(done.stdout) < 80 or not want.startswith(done.stdout[:-1]):
            return f"{flags}: {done.stdout}{done.stderr}"
    again = [run([toy, program, *files, "40", "0.9", seed, "Once upon a"]).stdout for seed in ("7", "7", "8")]
    if again[0] != again[1] or again[0] == again[2] or not again[0].startswith("Once upon a"):
        return f"{again}"
    failed = run([toy, program, files[1], files[1]])
    return same("status of a wrong file", failed.returncode, 1)


def random_llama(toy):
    """A random model of any size runs."""
    done = run([toy, str(ROOT / "examples/llama/random.toy"), "32", "2", "4", "2", "50", "8"])
    return None if done.returncode == 0 and done.stdout.endswith("tokens a second\n") else done.stdout + done.stderr


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
                for text in ("a @ b", "a @ t.T", "h' @ b", "h' @ t.T"):
                    program = (
                        "".join(f'var {v} = load("{folder}/{v}.npy"); ' for v in "abth")
                        + f'def f(a, b, t, h) {{ return {text}; }} save("{folder}/r.npy", f(a, b, t, h));'
                    )
                    done = run([toy, "--jit=always", "-e", program])
                    if done.returncode:
                        return done.stderr
                    want, got = a @ b, np.load(f"{folder}/r.npy")
                    eps = np.finfo(dtype).eps
                    bound = 8 * eps * (a.shape[-1] + 1) * (np.abs(a) @ np.abs(b)).max(initial=0)
                    if got.shape != want.shape or got.dtype != want.dtype or np.abs(got - want).max(initial=0) > bound:
                        return f"{text} of {a.shape} {b.shape} {dtype}: {np.abs(got - want).max()} > {bound}"
    return None


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


def functions_in_lanes(toy):
    """Loops over elementary functions call their vectors' versions; code that does not pay for optimization has
    none."""
    for f, dtype in (("exp", "c64"), ("log", "c128"), ("tanh", "f32"), ("sin", "f64")):
        text = f"def f(z: {dtype}[N]) {{ return {f}(z); }} f(zeros(3, dtype={dtype}));"
        done = run([toy, "-O2", "--emit=llvm", "-e", text])
        if done.returncode or not re.search(
            rf"call [^\n]*<\d+ x (double|float)>[^\n]* @toy(\.{f}\.{dtype}\.|_rt_lanes_)\d", done.stdout
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


def extern_functions(toy):
    """The example library, evaluated, compiled and unpacked; errors of the library, of its absence, and of writes out
    of bounds."""
    with tempfile.TemporaryDirectory() as folder:
        built = run(
            [
                "cc",
                "-shared",
                "-fPIC",
                f"-I{ROOT}/runtime",
                "-o",
                f"{folder}/libmine.so",
                f"{ROOT}/examples/extern/mine.c",
            ]
        )
        if built.returncode:
            return built.stderr
        want = "[3.0+0.0i, 0.0+6.0i] [3.0+2.0i]\n[[1.0, 4.0],\n [0.0, 5.0],\n [3.0, 0.0]] 2\n3.0\n"
        for flags in (["--jit=never"], [], ["--jit=always", "-O2"], ["--jit=always", "--unpack"], ["--check-bounds"]):
            done = run([toy, *flags, str(ROOT / "examples/extern/mine.toy")], cwd=folder)
            if done.returncode or done.stdout != want:
                return f"{flags}: {done.stdout}{done.stderr}"
        declare = 'extern def {0} from "libmine.so"; '
        rows = [
            ("positive(x: f64[N]) -> f64[N]", "positive([1, -2])", [], "R0120"),
            ("missing(x: f64[N]) -> f64[N]", "missing([1])", [], "I0110"),
            ("positive(x: f64[N]) -> f64[M]", "positive([1])", [], "T0353"),
            ("positive(x) -> f64[3]", "positive([1])", [], "T0353"),
            ("too_long(x: f64[N]) -> f64[N]", "too_long([1])", ["--check-bounds"], "R0121"),
            ("into_argument(x: f64[N]) -> f64[N]", "into_argument([1])", ["--check-bounds"], "R0121"),
            ("positive(x: f64[N, 2]) -> f64[N]", "positive([1, 2])", [], "T0"),
        ]
        for signature, call, flags, code in rows:
            done = run([toy, *flags, "-e", declare.format(signature) + call + ";"], cwd=folder)
            if done.returncode != 1 or f"error[{code}" not in done.stderr:
                return f"{signature}: {code}\n{done.stdout}{done.stderr}"
        done = run([toy, "-e", 'extern def f(x: f64) -> f64 from "libnone.so"; f(1.0);'], cwd=folder)
        return None if done.returncode == 1 and "error[I0110]" in done.stderr else done.stderr


def all_cases():
    cases = [
        code_cache,
        memory_of_many_inputs,
        all_bf16_read_back,
        extern_functions,
        layout_conversions,
        large_results,
        functions_in_lanes,
        command_line,
        updates_in_place,
        fused_chain,
        npy_files,
        hostile_sources,
        session_keeps_state,
        prompt,
        real_model,
        llama,
        random_llama,
        products_agree,
    ]
    # Sanitizers end a program at the fault that a fence of an extern function makes.
    markers = {
        code_cache: ["host"],
        extern_functions: ["release"],
        memory_of_many_inputs: ["release", "long"],
        layout_conversions: ["host"],
        command_line: ["host"],
        updates_in_place: ["host"],
        fused_chain: ["host"],
        prompt: ["host"],
    }
    named = [(c.__name__.replace("_", " "), c, *markers.get(c, ())) for c in cases]
    return named + [
        (
            f"printed {name} read back",
            print_and_read_back(name, 1000000 if name in ("f32", "f64", "c64", "c128") else 100000),
        )
        for name in DTYPES
    ]
