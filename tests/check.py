# SPDX-License-Identifier: Apache-2.0
"""`toy --check`: what it finds, that it runs nothing, and that it takes nothing for an error that is none."""
import json
import pathlib
import re
import struct
import subprocess
import tempfile

from generator.random_programs import Generator
from programs import count, run_parts

HERE = pathlib.Path(__file__).resolve().parent

# A program, and the codes of what is said about it with their places, in the order of the text.
ROWS = [
    ("print(1); print(undefind);", "N0101 1:17"),
    ("print(1)\nprint(2);", "P0103 1:8"),
    ("var a = ones(2) @ ones(3); print(a + 1); print(ones(2) + ones(3));", "T0301 1:17, T0304 1:56"),
    ("var a = nothing; var b = a + 1; print(b.foo, a @ b); b += c;", "N0101 1:9"),
    ("var a = 1; a = nothing; print(a.foo);", "N0101 1:16"),
    ('for i in range(3) { var t = i + "a"; print(t); print(x); }', "T0209 1:31, N0101 1:54"),
    ("if 1 < 2 { print(x); } else { print(y); } print(z);", "N0101 1:18, N0101 1:49"),
    # functions that are called, that are not, and that two statements call
    ("def f(x) { return x @ ones(3); }\nprint(f(ones(2))); print(f(ones(2, 2)));", "T0301 1:21"),
    ("def f(x) { var y = x + no; var z = no2; return y + z; }", "N0101 1:24, N0101 1:36"),
    (
        "def f(x, y) { return x * y; }\ndef g(x) { return f(x) + f(x, x, x) + f(x, z = 1); }",
        "T0101 2:19, T0102 2:34, N0108 2:44",
    ),
    ("def g(x) { return sqrt() + median(x, 1, true, 4) + sin(x, 1); }", "T0101 1:19, T0102 1:47, T0102 1:59"),
    ("struct P { var a; } def g(x) { return P(1, 2); }", "T0343 1:39"),
    ("def g(x) { return nofunction(x); }", "N0102 1:19"),
    ("def g(x: f64[N], y: f64[M]) { return x + y; }", "T0336 1:40"),
    ("def g(x: f64[N]) -> f64[K] { return x[1:]; }", ""),
    ("def f() { return later; } var later = 3; print(f());", ""),
    ("def even(n) { if n == 0 { return true; } return odd(n - 1); } def odd(n) { return not even(n - 1); }", ""),
    ("def f(x) { total = x; } var total = 0; f(1); print(total);", "N0109 1:12"),
    ("def f(x) { var g = y => y + x + no; return g(1); }", "N0101 1:33"),
    ("var x = [1, 2]; print(x.f(3), x.sum());", "N0102 1:25"),
    # what only running tells
    ('check(false, "no"); print([1, 2][i64(rand() * 9)], 1 // 0);', ""),
    ("var k = 0; while k < 1 { k += 1; } print(sum(ones(2, 3), k)); print(ones(k) @ ones(2));", ""),
    ("var t = (1, 2.5); for x in t { print(x); } for (i, x) in enumerate(t) { print(i + x); }", ""),
    ('for s in progress(range(2), "x") { print(s); } for (a, b) in zip([1, 2], [3, 4]) { print(a + b); }', ""),
    ("def along(x, axis) { return sum(x, axis); } var a = 1; print(along(ones(2, 3), a), along(ones(2, 3), 0));", ""),
    # files
    ('var x = load("none.npy"); print(x.foo, x @ x); print(y);', "N0101 1:54"),
    ('var x = load("huge.npy"); print(x @ ones(3)); print(x.sum().foo);', "T0301 1:35, N0106 1:61"),
    ('var m = load("two.npz"); print(m.w @ m.w, m.u);', "T0301 1:36"),
    ('print(load("two.npz", "w") @ ones(2), load("two.npz", "q") @ 1);', "T0301 1:28"),
    ('var m = load("two.safetensors"); print(m.w @ m.w);', "T0301 1:44"),
    ('var m: f32[_, 4] = load("none.npy"); print(m @ ones(3));', "T0301 1:46"),
    ('save("made.npy", ones(2)); write("x"); seed(3); print(clock());', ""),
    # warnings
    ("def f(x) { var y = 3; var _z = 4; var w = 5; w = 6; w += x; return x; }", "N0121 1:16, N0121 1:39"),
    ("def f(x) { var y = [1, 2]; y[0] = x; var (q, r) = qr(eye(2)); return q; }", "N0121 1:16"),
    ("def f(x) { var y = 1; { var y = 2; print(y); } return y; }", ""),
    ("def f(x) { var h = 2; return y => y * h; } print(f(1)(2));", ""),
    ("var x = 3; print(1);", "N0121 1:5"),
    ("var x = 3; def f() { return 1; }", ""),
    ("def f(x) { return x; print(x); print(x); }", "N0122 1:22"),
    ("def f(x) { if x > 0 { return 1; } else { return 2; } print(x); }", "N0122 1:54"),
    ("def f(x) { while true { if x > 1 { break; } x += 1; } return x; }", ""),
    ("def f(x) { while true { x += 1; continue; x += 2; } return x; }", "N0122 1:43, N0122 1:53"),
    (
        "var x = 1; x + 1; sqrt(x); x == 2; [x]; rand(); print(x); sin; x => x;",
        "N0123 1:12, N0123 1:19, N0123 1:28, N0123 1:36, N0123 1:59, N0123 1:64",
    ),
    ("def f(x) { print(x); return x; } f(1); map(f, [1]);", ""),
    ("var xs = [3, 1]; xs.sort(); def own(x) { return x; } xs.own();", "N0123 1:18"),
    ("def sum(x) { return 3; } def f(x) { var g = y => y; def h(y) { return y; } return g(x) + h(x); }", "N0120 1:5"),
    ("def g(x) { return x; } def f(x) { def g(y) { return 2 * y; } return g(x); } print(f(g(1)));", "N0120 1:39"),
    ("def f() { return 1; } def f() { return 2; } print(f());", "N0112 1:27"),
]


def array(folder, name, shape, kind="<f8"):
    """A file of the format .npy whose elements, zeros, take no space on the disk."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    size = int(kind[2:])
    for n in shape:
        size *= n
    with open(folder / name, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        out.truncate(out.tell() + size)


def safetensors(folder, name):
    header = b'{"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"b":{"dtype":"F32","shape":[1],"data_offsets":[24,28]}}'
    (folder / name).write_bytes(struct.pack("<Q", len(header)) + header + bytes(28))


def said(stderr, before=0):
    """Codes with the places of the text, `N0101 1:9, …`, which stands behind a number of lines."""
    found = re.findall(r"^(?:error|warning)\[(\w+)\].*\n +--> .*?:(\d+):(\d+)$", stderr, re.M)
    return ", ".join(f"{code} {int(line) - before}:{column}" for code, line, column in found)


def rows(toy):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        array(folder, "huge.npy", (1 << 34, 4))
        array(folder, "w.npy", (2, 3))
        array(folder, "b.npy", (3,))
        safetensors(folder, "two.safetensors")
        subprocess.run(
            [toy, "-e", 'struct S { var w; var b; } save("two.npz", S(load("w.npy"), load("b.npy")));'],
            cwd=folder,
            check=True,
        )
        before = sorted(path.name for path in folder.iterdir())
        problems, line = [], 1
        for (text, want), [got] in zip(ROWS, run_parts(toy, [(text, ["--check"]) for text, _ in ROWS], cwd=folder)):
            shown = said(got.stderr, line)  # a line of configuration stands before the text, one of dashes behind it
            line += text.count("\n") + 3
            status = 1 if re.search(r"^error", got.stderr, re.M) else 0
            if shown != want or got.status != status or got.stdout:
                problems.append(f"{text}\n  said {shown!r}, not {want!r}, status {got.status}, printed {got.stdout!r}")
        if sorted(path.name for path in folder.iterdir()) != before:
            problems.append("a file was written")
        return "\n".join(problems) or None


def programs_without_errors(toy):
    """Examples and tests that run are right, and so are random programs."""
    files = [*sorted(HERE.glob("e2e/*.toy")), *sorted(HERE.glob("../examples/*.toy"))]
    texts = [
        part
        for path in files
        for part in path.read_text().split("\n# -----")
        if "import" not in part and "# CONFIG" not in part
    ]
    texts += [Generator(seed, seed % 2 == 0).program() for seed in range(60)]
    for text, [got] in zip(texts, run_parts(toy, [(text, ["--check"]) for text in texts])):
        if got.status or got.stdout or "error" in got.stderr:
            return f"{got}\n{text}"
    wrong = [text.replace("def main() {", "def main() {\n  print(not_there);", 1) for text in texts[-60:]]
    for text, [got] in zip(wrong, run_parts(toy, [(text, ["--check"]) for text in wrong])):
        if got.status != 1 or not re.fullmatch(r"N0101 \d+:9", said(got.stderr.split("warning")[0])):
            return f"{got}\n{text}"
    return None


def errors_of_tests(toy):
    """What a program of tests/errors is told before it runs is told by --check; what running tells is not."""
    files = [path for path in sorted(HERE.glob("errors/*.toy")) if "# CONFIG" not in path.read_text()]
    parts = [part for path in files for part in path.read_text().split("\n# -----")]
    problems, compared = [], 0
    for text, [got] in zip(parts, run_parts(toy, [(text, ["--check"]) for text in parts])):
        want = [code for code in re.findall(r"# error: (\w+) ", text)]
        first = re.match(r"error\[(\w+)\]", re.sub(r"(?s)^warning.*?(?=^error|\Z)", "", got.stderr, flags=re.M) or "")
        found = first[1] if first else None
        early = [code for code in want if code[0] in "LPNT"]
        compared += 1
        if (early and found != early[0]) or (want and not early and found) or got.stdout:
            problems.append(f"wanted {want}, said {found}\n{text}")
    return "\n".join(problems) or (None if compared > 100 else f"{compared} programs")


def command_line(toy):
    """Imported files, standard input, JSON, and no program at all."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "part.toy").write_text("def half(x) { return x / 2; }\nvar unit = 3;\nprint(1);\n")
        (folder / "wrong.toy").write_text("def f(x) { return x; }\nprint(f(1) + nothing);\n")
        (folder / "main.toy").write_text('import "part.toy";\nprint(half(unit), half(1, 2));\n')
        (folder / "other.toy").write_text('import "wrong.toy";\nprint(also);\n')

        def run(*arguments, stdin=""):
            count(1)
            return subprocess.run([toy, *arguments], cwd=folder, input=stdin, capture_output=True, text=True)

        main, other = run("--check", "main.toy"), run("--check", "other.toy")
        piped, text = run("--check", "-", stdin="print(2); print(no);"), run("--check", "-e", "print(no)")
        shown = run("--check", "--diagnostics=json", "-e", "print(no); var x = 1;")
        found = [json.loads(line)["code"] for line in shown.stderr.splitlines()]
        fixed = run("--check", "--diagnostics=json", "-e", "print(True)\nprint(1)")
        fixes = [fix for line in fixed.stderr.splitlines() for fix in json.loads(line)["fixes"]]
        near = run("--check", "-e", "def f(factor) { return factr; }")
        for what, good in [
            ("what may be meant", "did you mean `factor`?" in near.stderr),
            ("an import", (main.returncode, main.stdout, said(main.stderr)) == (1, "", "T0102 2:27")),
            (
                "an error in an import",
                said(other.stderr) == "N0101 2:7, N0101 2:14" and "wrong.toy:2:14" in other.stderr,
            ),
            ("standard input", (piped.returncode, piped.stdout, said(piped.stderr)) == (1, "", "N0101 1:17")),
            ("a text", (text.returncode, said(text.stderr)) == (1, "N0101 1:7")),
            ("JSON", found == ["N0101", "N0121"]),
            ("fixes", [(fix["at"]["line"], fix["at"]["column"], fix["text"]) for fix in fixes] == [(1, 12, ";")]),
            ("a missing file", "I0101" in run("--check", "none.toy").stderr),
        ]:
            if not good:
                return f"{what}: {main}\n{other}\n{piped}\n{text}\n{shown}\n{fixed}"
    return None


def all_cases():
    yield "check: what is found", rows, "host"
    yield "check: programs without errors", programs_without_errors, "host"
    yield "check: programs with errors", errors_of_tests, "host"
    yield "check: command line", command_line, "host"
