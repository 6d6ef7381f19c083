# SPDX-License-Identifier: Apache-2.0
"""Errors that programs catch: every kind of error in every place, in all settings. A failed block leaves variables and
random numbers as they were; what is wrong whatever the data are is not caught."""
import json
import pathlib
import re
import subprocess
import tempfile

from programs import in_turn, run_parts

CONFIGURATIONS = [
    "--jit=never",
    "--jit=always",
    "--jit=auto",
    "--jit=always -O0",
    "--jit=always -O3",
    "--jit=always --unpack",
    "--jit=always --dynamic=on",
]

DEFINITIONS = """
extern def absent(x: f64[N]) -> f64[N] from "libtoy_no_such.so";
def last_of(x, i) { return x[i]; }
def checked(v) { assert v > 0, "not " + str(v); return v; }
def product(a, b) { return sum(a @ b); }
def deep(n) { if n == 0 { fail("ground"); } if n < 0 { return 0; } return deep(n - 1); }
def pick(z, i) { return z[i] * 1i; }
def pairs(x: f64[2]) { return x; }
def beside(x: f64[N], y: f64[N]) { return x + y; }
var three = 3;
var xs = [1, 2, 3];
var zs = [1i, 2];
var ms = [[1, 2], [3, 4]];
"""

# statement that fails, code
KINDS = {
    "index": ("last_of(xs, three);", "R0101"),
    "known index": ("xs[7];", "R0101"),
    "complex index": ("pick(zs, 5);", "R0101"),
    "store": ("var copy = xs; copy[three] = 1;", "R0101"),
    "check": ("checked(-2.5);", "R0104"),
    "sizes": ("product(ms, xs);", "R0105"),
    "sizes here": ("ms @ xs;", "R0105"),
    "subscripts": ('einsum("ij,j", ms, xs);', "R0105"),
    "subscript twice": ('einsum("ii", ms[:1]);', "R0105"),
    "channels": ("conv1d(ms, ones(1, 3, 1));", "R0132"),
    "reach": ("conv1d(reshape(xs, [1, 3]), ones(1, 1, 5));", "R0132"),
    "parts of a sum": ("split(xs, [three - 1, 0]);", "R0105"),
    "row": ("append(ms, xs);", "R0105"),
    "value of the library": ("quantile(xs, three);", "R0132"),
    "broadcast": ("xs + zeros(three + 1);", "R0105"),
    "reshape": ("reshape(xs, [2, 2]);", "R0105"),
    "reshape to rows": ("reshape(xs, [2, -1]);", "R0105"),
    "squeeze": ("squeeze(xs, 0);", "R0105"),
    "expand": ("expand(xs, 4, 7);", "R0105"),
    "store of a row": ("var copy = ms; copy[0] = xs;", "R0105"),
    "store at positions": ("var copy = xs; copy[i64([0, 1])] = xs;", "R0105"),
    "part": ("var copy = zs; copy.imag = xs;", "R0105"),
    "declared size": ("pairs(xs);", "R0105"),
    "declared sizes": ("beside(ms[0], xs);", "R0105"),
    "points": ("interp(1.0, xs, ms[0]);", "R0132"),
    "not square": ("expm(ms[:1]);", "R0132"),
    "stacked": ("stack(xs, ms[0]);", "R0105"),
    "empty": ("max(xs[3:]);", "R0110"),
    "negative size": ("zeros(-three);", "R0106"),
    "division": ("three // (three - 3);", "R0102"),
    "singular": ("inv(ms * 0);", "R0116"),
    "text": ('i64("12x");', "R0109"),
    "file": ('var w: f64[_] = load("missing.npy");', "I0101"),
    "fail": ('fail("on purpose");', "R0128"),
    "nested": ("deep(three);", "R0128"),
    "depth": ("deep(20000);", "R0107"),
    "extern": ("absent(xs);", "I0110"),
    "memory": ("zeros(1000000, 1000000, 100);", "R0108"),
}

# `@` is the statement; `kept` has to be 1 and [1, 2] at the end
PLACES = {
    "top": "var kept = 1; var also = [1, 2]; try { kept = 2; also[0] = 9; rand(3); @ kept = 3; } "
    "catch e { print(e.code); } print(kept, also);",
    "function": "def f(c) { var kept = 1; var also = [1, 2]; var code = ''; "
    "try { kept = 2 + c; also[0] = 9; rand(3); @ kept = 3; } catch e { code = e.code; } "
    "print(code); print(kept, also); } f(1);",
    "loop": "var kept = 0; var also = [1, 2]; for i in range(2) { "
    "try { if i == 1 { kept += 5; also[1] = 7; @ } kept += 1; } catch e { print(e.code); } } print(kept, also);",
    "nested": "def g() { var kept = 1; var also = [1, 2]; "
    "try { kept = 2; try { kept = 3; also[1] = 5; @ } catch e { print(e.code); also[0] = 4; fail('outer'); } } "
    "catch { kept = kept; } print(kept, also); } g();",
    "lambda": "var also = [1, 2]; var f = kept => { try { kept += 1; @ } catch e { print(e.code); } return kept; }; "
    "print(f(1), also);",
    "return": "def h(kept) { while true { try { if kept > 1 { return 1; } kept += 1; @ return 2; } "
    "catch e { print(e.code); return kept; } } } print(h(1), [1, 2]);",
}


def program(statement, place):
    return DEFINITIONS + "seed(5);\n" + PLACES[place].replace("'", '"').replace("@", statement) + "\nprint(rand(1));\n"


def grid(place, number, every_way=False):
    """Evaluated, compiled, and in one of the other ways; in all of them at night."""

    def run(toy):
        first, second, *others = CONFIGURATIONS
        ways = [[first, *in_turn([second, *others], number + i, 1)] for i in range(len(KINDS))]
        parts = [(program(s, place), CONFIGURATIONS if every_way else w) for (s, _), w in zip(KINDS.values(), ways)]
        parts.append(("seed(5); print(rand(1));", CONFIGURATIONS[:1]))
        *rows, [random] = run_parts(toy, parts)
        wrong = []
        for (kind, (_, code)), (_, configurations), results in zip(KINDS.items(), parts, rows):
            want = f"{code}\n1 [1.0, 2.0]\n{random.stdout}"
            for configuration, done in zip(configurations, results):
                if done.status or done.stdout != want:
                    wrong.append(f"{kind} {configuration}: {done.status} {done.stdout!r} {done.stderr}")
        return "\n".join(wrong) or None

    return run


PLACE = """var three = 3;
def loud(i) { fail("loud"); }
try { loud(1); } catch e { print(e.place); }
def binned(x) { try { return sum(histogram(x, -1)[0]); } catch e { print(e.place); return 0; } }
try { [1, 2][three]; } catch e { print(e.place); }
binned([1, 2]);
"""


def places(toy):
    """The innermost place in the user's own text, not one of the library."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "p.toy").write_text(PLACE)
        for flags in (["--jit=never"], ["--jit=always"], ["--jit=auto"]):
            done = subprocess.run([toy, *flags, "p.toy"], capture_output=True, text=True, cwd=folder)
            if done.stdout != "p.toy:2:15\np.toy:5:14\np.toy:4:34\n":
                return str(done)
    return None


CHAIN = """def inner(x, i) { var s = 0.0; for k in range(3) { s += x[i + k]; } return s; }
def outer(x, i) { return inner(x, i) + 1; }
def late(x, j) { return x[j] + sum(x); }
def all(x) { var n = 0; for i in range(9) { try { outer(x, i); } catch { n += 1; } } return late(x, n); }
all(ones(4));
"""


def chains(toy):
    """The calls of an error that was caught are not among those of the next one."""
    for done in run_parts(toy, [(CHAIN, ["--jit=never", "--jit=always", "--jit=always -O0", "--jit=auto"])])[0]:
        notes = re.findall(r"parts.toy:(\d+:\d+)", done.stderr)
        if done.status != 1 or [n.partition(":")[2] for n in notes] != ["27", "93", "1"]:
            return str(done)
    return None


NOT_CAUGHT = {
    "try 1 @ 2 else 0;": "T0302",
    "try ones(2) @ ones(3) else 0;": "T0301",
    "try ones(3)[:, 0] else 0;": "T0311",
    "def f(x: f64[N], y: f64[N]) { return x + y; } try f(ones(2), ones(3)) else 0;": "T0345",
    "def f(x: f64[2]) { return x; } try f(ones(3)) else 0;": "T0345",
    "var x = zeros(2); try { x[:] = [1, 2, 3]; } catch { }": "T0321",
    "try interp(1.0, ones(2, 2), [1, 2]) else 0;": "T0104",
    "try expand(ones(2, 2), [2]) else 0;": "T0310",
    "try undefined else 0;": "N0101",
    "try sum(1, 2, 3, 4) else 0;": "T0102",
    'try [1, 2] else "text";': "T0328",
    "def f(x: f64[N], y: f64[M]) { try { return x + y; } catch { return x; } }": "T0336",
    'var v = 1; try { v = "a"; } catch { v = 2; }': "T0328",
    'try { fail(3); } catch { print("caught"); }': "T0104",
}


def not_caught(toy):
    results = run_parts(toy, [(text, ["--jit=never", "--jit=always"]) for text in NOT_CAUGHT])
    return (
        "\n".join(
            f"{text}: {done}"
            for (text, code), row in zip(NOT_CAUGHT.items(), results)
            for done in row
            if f"error[{code}]" not in done.stderr or done.stdout
        )
        or None
    )


def ends(toy):
    """`exit`, and what ends a program although a `try` is around it."""
    wrong = []
    for text, status, out in (
        ("try { print(1); exit(7); } catch { print(2); } print(3);", 7, "1\n"),
        ("def f() { for i in range(3) { if i == 1 { exit(4); } print(i); } } f();", 4, "0\n"),
        ("exit();", 0, ""),
        ('try { fail("x"); } catch e { fail("again " + e.text); }', 1, ""),
    ):
        for flags in (["--jit=never"], ["--jit=always"]):
            for arguments in (["-e", text], ["-"]):
                done = subprocess.run([toy, *flags, *arguments], input=text, capture_output=True, text=True)
                if done.returncode != status or done.stdout != out:
                    wrong.append(f"{text} {flags} {arguments[0]}: {done}")
    return "\n".join(wrong) or None


MEMORY = """
def made(n) { var a = rand(n); var b = a * 2 + 1; fail(str(sum(b) > 0)); return b; }
def kept(n) { var x = zeros(n); for i in range(3000) { try { x = made(n); x[0] = 1; } catch e { x[1] = i; } }
  return x; }
print(kept(1000)[1]);
var y = [1, 2];
for i in range(3000) { try { var a = rand(1000); y = cat(y, a); y[i + 5000]; } catch e { y[0] = i; } }
print(y, try made(3) else y);
"""


def memory(toy):
    """What failed blocks made is freed: 6,000 of 8 kB within 1 MB."""
    want = "2999.0\n[2999.0,    2.0] [2999.0,    2.0]\n"
    for flags in ("--jit=never", "--jit=always", "--jit=auto", "--jit=always --unpack"):
        [[done]] = run_parts(toy, [(MEMORY, [flags + " --memory-limit=1000000"])])
        if done.stdout != want or done.status:
            return f"{flags}: {done}"
    return None


REFERENCES = """
var words = list("a", "b");
def bad(x, w, i) { var both = list(x, x); var z = list(w, w); if i >= 0 { fail(z[1][0] + words[1]); } return both[i]; }
def kept(n) {
  var x = zeros(n); var w = list("c");
  for i in range(200) {
    try { try { bad(x, w, i); } catch e { bad(x, w, 2 * i); } } catch e { x[0] += len(e.text); }
    w[0] = "d"; x[1] = i;
  }
  return x;
}
print(kept(10)[:2]);
"""


def references(toy):
    """A block that failed holds nothing any more: what it held is changed in place."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "references.toy")
        path.write_text(REFERENCES)
        for flags in (["--jit=always"], ["--jit=always", "-O0"], ["--jit=always", "--unpack"]):
            stats = pathlib.Path(folder, "stats.json")
            done = subprocess.run([toy, *flags, f"--stats={stats}", path], capture_output=True, text=True)
            copies = json.loads(stats.read_text())["copies"]
            if done.stdout != "[400.0, 199.0]\n" or copies > 3:
                return f"{flags}: {copies} copies, {done}"
    return None


LIVE = """
def caught(n) { var t = 0; for i in range(n) { try { inner(i); } catch e { t += len(e.text); } } return t; }
def inner(i) { if i >= 0 { fail("odd"); } }
def made(n) { var xs = list(); for i in range(n) { xs = append(xs, f"{i}"); } return xs; }
def seconds(n) { var best = inf; for k in range(7) { var b = clock(); caught(n); best = minimum(best, clock() - b); }
  return best; }
caught(10);
var few = seconds(200);
var xs = made(100000); var ts = map(x => zeros(3), xs);
print(seconds(200) / few);
"""


def live(toy):
    """A block costs what it does, however many values are alive: with 200,000 not more than a few times as much as
    with none."""
    [row] = run_parts(toy, [(LIVE, ["--jit=always", "--jit=auto"])])
    slow = [done for done in row if done.status or float(done.stdout) > 5]
    return str(slow) if slow else None


def reads(toy):
    """Lines of standard input, and a file that is there."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "sum.toy")
        path.write_text(
            'var total = 0.0; while true { var line = read_line(); if line == "" { break; } '
            "total += try f64(line) else 100; }\nprint(total); print(sum(try load(args[0]) else zeros(2, 1)));\n"
        )
        pathlib.Path(folder, "x.csv").write_text("1,2\n3,4\n")
        done = subprocess.run(
            [toy, str(path), "x.csv"], input="1\n2.5\nx\n4", capture_output=True, text=True, cwd=folder
        )
    return None if done.stdout == "107.5\n10.0\n" else str(done)


def all_cases():
    for number, place in enumerate(PLACES):
        yield f"every error in: {place}", grid(place, number), "long"
        yield f"every error in: {place}, every way", grid(place, number, True), "nightly"
    yield "places of caught errors", places
    yield "calls of errors after caught ones", chains
    yield "errors that are not caught", not_caught
    yield "ends of programs in try", ends
    yield "memory of failed blocks", memory
    yield "references of failed blocks", references
    yield "failed blocks among many values", live
    yield "lines of standard input", reads
