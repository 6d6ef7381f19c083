# SPDX-License-Identifier: Apache-2.0
"""Tests that are more than one program: the command line, printed values read back, NumPy's files, the prompt."""
import json
import pathlib
import subprocess
import tempfile

import numpy as np

import terminal
from programs import first, run, same

ROOT = pathlib.Path(__file__).resolve().parent.parent


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
            "collectives",
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
            status(["-e", "exit"], 0),
            same("a word with -e", run([toy, "-e", "1\nquit()\n2"]).stdout, "1\n"),
            same("help with -e", ":undo" in run([toy, "-e", "help;"]).stdout, True),
            same("a name of the user's", run([toy, "-e", "var quit = 3;\nquit"]).stdout, "3\n"),
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
    """A terminal that does not move its cursor: echo with header, several lines, an error that changes nothing, Ctrl-C,
    Ctrl-D."""
    s = terminal.Session(toy, TERM="dumb", NO_COLOR="1")
    try:
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
            if answer not in (got := s.line(line)):
                return f"{line}: {got}"
        s.line("def f(x) {", "...> ")
        s.line("  return x + 1; }")
        problems = [same("a block", s.line("f(41)"), "i64\n42")]
        s.send("1 + ")
        s.until("echo", lambda: s.screen.rows[-1].endswith("1 + "))
        s.send("\x03")
        s.wait()
        s.start("while true { }", 0.5)
        s.interrupt()
        problems.append(same("interrupted", "R0114" in s.text(), True))
        problems.append(same("goes on", s.line("x[0]"), "f64\n1.0"))
        s.send("\x04")
        return first(*problems, same("exit status", s.status(), 0))
    except (EOFError, TimeoutError) as error:
        return f"{error}"
    finally:
        s.close()


#: a struct as the result of a C function
RECORD = """struct Parts { var re: f32[M, N]; var count: i64; }
extern def parts(z: c64[N, M]) -> Parts from "libmine.so";
var p = parts(c64([[1, 2i, 3], [4i, 5, 6]]));
print(str(p)[:5], p.count, p.re.shape, sum(p.re));"""


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
            done = run([toy, *flags, "-e", RECORD], cwd=folder)
            if done.returncode or done.stdout != "Parts 2 (3, 2) 15.0\n":
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
        all_bf16_read_back,
        extern_functions,
        command_line,
        npy_files,
        hostile_sources,
        session_keeps_state,
        prompt,
    ]
    # Sanitizers end a program at the fault that a fence of an extern function makes.
    markers = {
        extern_functions: ["release"],
        command_line: ["host"],
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
