# SPDX-License-Identifier: Apache-2.0
"""Whole error messages, evaluated and compiled: text, place, labels, notes and help are those of
data/error_messages.txt. Where a help line proposes code, the program with that code in it is here as well, and runs.
`golden_errors.py TOY --write` writes the file anew, to be read before it is committed."""
import os
import pathlib
import re
import sys
import tempfile

from language_errors import MISUSES
from programs import run

GOLDEN = pathlib.Path(__file__).resolve().parent / "data/error_messages.txt"

# program: None, or the program that follows the help line
CASES = {
    "var a = [[1, 2, 3], [4, 5, 6]]; var c = a @ a;": "var a = [[1, 2, 3], [4, 5, 6]]; var c = a @ a.T;",
    "var a = ones(2, 3); var b = ones(4, 5); a @ b;": None,
    "[1, 2] + [1, 2, 3];": None,
    "let x = 3;": "var x = 3;",
    "fn f(x) { return x; }": "def f(x) { return x; }",
    "print 3;": "print(3);",
    "var a = 1; while a = 2 { }": None,
    "(svd(eye(2))).1;": None,
    'assert(1 == 2, "two");': None,
    "np.dot([1, 2], [3, 4]);": None,
    "var sinus = 3; sinu(1);": "var sinus = 3; sin(1);",
    "true ? 1 : 2;": None,
    "ones(2, 3) * ones(3, 2);": None,
    "var alpha = 1; alhpa + 1;": "var alpha = 1; alpha + 1;",
    "zeross(3);": "zeros(3);",
    "var z = 1+2i; z < 2;": "var z = 1+2i; abs(z) < 2; real(z) < 2;",
    "var z = [1i, 2]; max(z);": "var z = [1i, 2]; max(abs(z)); max(real(z));",
    "floor(2.5i);": "floor(abs(2.5i)); floor(real(2.5i));",
    "f64(1+2i);": None,
    "var x: f32[3] = [1i, 2, 3];": None,
    "sum([1, 2], axis=1);": None,
    "sum([1, 2], axes=0);": "sum([1, 2], axis=0);",
    "zeros(2, dtpye=f32);": "zeros(2, dtype=f32);",
    "[1, 2, 3][3];": None,
    "ones(2, 2)[0, 0, 0];": None,
    "[1, 2, 3][1.5];": None,
    "def f(n: i64) -> i64 { } f(0);": None,
    "def f(x: f64[N]) -> f64[N] { if N > 1 { return; } return x; } f([1]);": None,
    "var m = [true, false]; [1, 2, 3][m];": None,
    "reshape(arange(6), [4, 2]);": None,
    "reshape(arange(6), [4, -1]);": None,
    "permute(ones(2, 3), [0, 0]);": None,
    "expand([1, 2], [3]);": None,
    "squeeze([1, 2], 0);": None,
    "cat([1, 2], ones(2, 2));": None,
    "view_as_complex([1, 2, 3]);": None,
    "view_as_complex(arange(2));": None,
    "view_as_real([1, 2]);": None,
    "inv(ones(2, 3));": None,
    "inv([[1, 2], [2, 4]]);": None,
    "cholesky([[1, 2], [2, 1]]);": None,
    "solve(eye(3), [1, 2]);": None,
    'einsum("ij,jk", eye(2));': None,
    "fft(2.0);": None,
    "rfft([1i]);": None,
    "if [1, 2] > 0 { print(1); }": None,
    "if 1 { print(1); }": None,
    "u8(300);": None,
    "1e999;": None,
    "[[1, 2], [3]];": None,
    "7 // 0;": None,
    "i64(2) ** -1;": None,
    'i64("12x");': None,
    '"a" + 1;': '"a" + str(1);',
    '"abc"[5];': None,
    "try 1 @ 2 else 0;": None,
    "def f(x) { return x @ x; } try { f(1); } catch { }": None,
    "def f(a) { return a; } f();": None,
    "where([true]);": None,
    "def f(x) { return x @ x; } def g(y) { return f(y) + 1; } g(ones(2, 3));": "def f(x) { return x @ x.T; } def g(y) { return f(y) + 1; } g(ones(2, 3));",
    "def f(x: c64[N], y: c64[N]) { return x + y; } f(c64([1, 2]), c64([1, 2, 3]));": None,
    "def f(x: f64[N, M]) { return x @ x; } f(eye(2));": "def f(x: f64[N, M]) where M == N { return x @ x; } f(eye(2));",
    "def f(x: f64[N], y: f64[2*M]) { return x + y; }": "def f(x: f64[N], y: f64[2*M]) where N == 2*M { return x + y; }",
    "@dynamic(x, 0) def f(x) { return view_as_complex(x); } f([1, 2]);": None,
    "@dynamic(y, 0) def f(x) { return x; } f([1, 2]);": None,
    "def f(n: i64) { return f(n - 1); } f(3);": None,
    "def f(n: i64) -> i64 { return f(n + 1); } f(0);": None,
    "def f(x) { if x > 0 { return x; } } f(1);": None,
    "def f(a, b) { return a; } f(1);": None,
    "def f(a) { return a; } f(1, 2);": None,
    "def f(a) { return a; } f(a = 1, a = 2);": None,
    "def f() { y = 1; } var y = 0; f();": None,
    "x = 1;": "var x = 1;",
    "var x = 1; var x = [1, 2]; x.shpae;": "var x = 1; var x = [1, 2]; x.shape;",
    "var t = (1, 2); t + 1;": None,
    "var (a, b) = (1, 2, 3);": None,
    "struct P { var x; var y; } P p = {1};": None,
    "var c = sin; c + 1;": None,
    'assert sum([1, 2]) == 4, "sums";': None,
    "def f(x) { assert x > 0; return sqrt(x); } f(-1);": None,
    'load("no-such-file.npy");': None,
    'load("/");': None,
    'save("x.unknown", [1]);': None,
    "var x = 'text';": None,
    "var x = [1, 2;": None,
    "var x = 1 +;": None,
    "var = 5;": None,
    "def f(x { return x; }": None,
    "for x in 5 { }": None,
    "a < b < c;": None,
    "zeros(-1);": None,
    "arange(0, 10, 0);": None,
    "[1, 2][::0];": None,
    "full([2], 1i, dtype=f64);": None,
    "var s = 0; for i in range(3) { s = [1, 2]; }": None,
    "return 1;": None,
    "break;": None,
    "print(undefined_function(1));": None,
    "conv1d(ones(1, 2, 3), ones(1, 3, 1));": None,
    "if 1 > 2 { print(1); } elif (2 > 1) { print(2); }": None,
    "else { print(1); }": None,
    "def f(x): return x;": None,
    "for (i = 0; i < 3; i += 1) {}": None,
    "var x = 1; x++;": "var x = 1; x += 1;",
}
CASES.update(MISUSES)


def message(toy, program, mode):
    with tempfile.TemporaryDirectory() as folder:
        done = run([os.path.abspath(toy), f"--jit={mode}", "--color=never", "-e", program], cwd=folder)
    return done.returncode, done.stderr.rstrip("\n")


def golden():
    parts = re.split(r"^=== (.*)\n", GOLDEN.read_text(), flags=re.M)[1:]
    return {program: text.rstrip("\n") for program, text in zip(parts[::2], parts[1::2])}


def check(toy, programs):
    want, problems = golden(), []
    for program in programs:
        for mode in ("never", "always"):
            status, text = message(toy, program, mode)
            if status != 1 or text != want.get(program):
                problems.append(f"{program} ({mode}): status {status}\n{text}\nexpected\n{want.get(program)}")
        fixed, helps = CASES[program], re.findall(r"^help: (.*)", want.get(program, ""), re.M)
        proposals = [
            p
            for h in helps
            for p in re.findall(r"`([^`]+)`", h)
            if "…" not in p
            if "did you mean" in h or "would be" in h or "ordered" in h
        ]
        if proposals and fixed is None:
            problems.append(f"{program}: the help proposes {proposals}, and no program follows it")
        if fixed is not None:
            if not helps:
                problems.append(f"{program}: no help")
            for proposal in proposals:
                if proposal.rstrip(";").lstrip(".") not in fixed:
                    problems.append(f"{fixed} does not follow {proposal!r}")
            status, text = message(toy, fixed, "never")
            if status:
                problems.append(f"{fixed}: {text}")
    return "\n".join(problems) or None


def all_cases():
    programs = list(CASES)
    for start in range(0, len(programs), 16):
        yield f"error messages {start} to {start + len(programs[start:start + 16]) - 1}", lambda toy, p=programs[
            start : start + 16
        ]: check(toy, p)


if __name__ == "__main__" and "--write" in sys.argv:
    GOLDEN.write_text("".join(f"=== {program}\n{message(sys.argv[1], program, 'never')[1]}\n" for program in CASES))
