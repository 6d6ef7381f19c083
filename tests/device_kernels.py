# SPDX-License-Identifier: Apache-2.0
"""Kernels whose form depends on sizes: positions by warps, wide accesses for sizes that are not known, wide copies,
transposes by tiles, sums of partial sums; all of them as PTX for older devices, too. The host's bits, and launches."""
import os
import pathlib
import re
import subprocess
import tempfile

from device import EVERYWHERE, GRAPHS, run, same_bits
from device_ropes import turned as turned_by_ropes

POSITIONS = (
    "def f(x: {d}[N, M]) {{ return (argmax(x, axis=1), argmin(x, axis=1), argmax(x, axis=0), argmax(x), argmin(x));"
    " }}\nvar x = {d}(reshape({v}, [{n}, {m}])); print(f(x));{more}\n"
)
VALUES = {
    "f32": "sin(arange({c}) * 0.7)",
    "f64": "where(arange({c}) % 5000 == 4999, nan, sin(arange({c}) * 0.7))",
    "i32": "arange({c}) * 37 % 11",
    "u8": "arange({c}) * 37 % 200",
    "bool": "arange({c}) % 97 > 90",
    "f16": "arange({c}) * 0 - inf",
    "bf16": "round(sin(arange({c}) * 0.7), 1)",
}


def positions(toy, number=0):
    """Ties and NaN are the first ones' whatever warps find them; operands may be anything."""
    for i, (dtype, value) in list(enumerate(VALUES.items()))[number::2]:
        for n, m in ((3, 5), (2, 33), (3, 200), (1, 20000), (2, 2100)):
            more = "" if dtype == "bool" else f" print(argmax(x + x[:, ::-1], axis=1), argmax(x * x[:1], axis=1));"
            text = POSITIONS.format(d=dtype, n=n, m=m, v=value.format(c=n * m), more=more)
            if problem := same_bits(toy, text, ["--cuda-graphs=off"], seed=i):
                return problem
        columns = POSITIONS.format(d=dtype, n=300, m=7, v=value.format(c=2100), more=" print(argmin(x, axis=0));")
        columns += f"var y = reshape(x, [3, 100, 7]); print(argmax(y, axis=1), argmin(y[:, ::-1], axis=0));"
        if problem := same_bits(toy, columns, ["--cuda-graphs=off"], seed=i):
            return problem
    text = (
        "def f(x: f64[N, M], y: f64[M, N]) { return argmax(x + y.T, axis=1); } for m in i64([3, 2500, 7]) { var x ="
        " reshape(sin(arange(2 * m) * 0.3), [2, m]); print(f(x, x.T * 2)); }"
    )
    return same_bits(toy, text)


def launches_of_positions(toy):
    """A row or a column that is long is the work of many warps or threads, if there are few of them."""
    if os.environ.get("TOY_REAL_DEVICE"):  # which does not say what was launched
        return None
    counts, wanted = {}, {
        ("1, 128256", 1): [1002, 1],
        ("1, 2000", 1): [1],
        ("600, 3000", 1): [1800, 600],
        ("5000, 3000", 1): [625],
    }
    wanted |= {("20000, 16", 0): [157, 16], ("64, 16", 0): [1], ("300, 131072", 0): [1024]}
    for shape, axis in wanted:
        text = f"def f(x: f32[N, M]) {{ return argmax(x, axis={axis}); }} var a = f32(ones([{shape}])); var y = f(a);"
        with tempfile.TemporaryDirectory() as folder:
            counts[shape, axis] = [blocks for kernel, blocks in launched(toy, text, folder)][1:]
    return None if counts == wanted else f"{counts}"


DECLARED = [
    "x * 2 + b",
    "(x.T * b[:, newaxis]).T + x",
    "(x + b) * x[::-1]",
    "softmax(x + b, 1)",
    "x[:, ::-1] + x",
    "cat(x, x + b)",
    "x + x.shape[1]",
]


def declared_sizes(toy):
    """Sizes that no signature gives, multiples of what a thread reads at once and others."""
    for i, dtype in enumerate(("f32", "f64", "bf16", "c64")):
        forms = [form for form in DECLARED if not (dtype == "c64" and "softmax" in form)]
        text = "".join(
            f"def f{j}(x: {dtype}[N, M], b: {dtype}[M]) {{ return {form}; }}\n" for j, form in enumerate(forms)
        )
        text += (
            "for m in i64([1, 3, 4, 8, 33, 64]) {{ var x = {d}(reshape(sin(arange(5 * m) * 0.7), [5, m])); var b = x[0]"
            " * {d}(3); {calls} }}\n".format(d=dtype, calls=" ".join(f"print(f{j}(x, b));" for j in range(len(forms))))
        )
        if problem := same_bits(toy, text, [f"--cuda-graphs={('off', 'full')[i % 2]}"], seed=i):
            return problem
    text = (
        "def f(x: f32[N, M], y: f32[N, M], b: f32[M]) { return x * y + b; } var a = f32(ones([64, 64])); f(a, a, a[0]);"
    )
    ptx = subprocess.run([toy, "--emit=ptx", "-"], input=text, capture_output=True, text=True, timeout=120).stdout
    kernels = [
        re.findall(r"(?:ld|st)\.global\S*", kernel) for kernel in ptx.split(".entry") if kernel.count(".ptr") == 4
    ]
    wide = [all(".v4.b32" in access for access in kernel) for kernel in kernels]
    return None if sorted(wide) == [False, True] else f"{kernels}"


COPIES = """def at(n: i64) { return reshape(sin(arange(n * n)), [n, n]); }
var x = at(64); var y = x * 1; y[2:40] = x[1:39]; y[:, 4:20] = x[:, 20:36]; y[:, 3:19] = x[:, 20:36];
y[1:64:2, 8:] = x[:32, 8:]; print(sum(y, 1), sum(y, 0));
var z = f16(x); z[1:5, 2:62] = f16(x)[3:7, 4:64]; z[7:9] = f16(x)[1]; z[11, 1:] = z[12, 1:]; print(z);
var w = bool(x > 0); w[3:5, 16:48] = w[1:3, :32]; w[9, 1:17] = w[8, 3:19]; print(w[:10], sum(i64(w)));
y[2:40:2, 8:10] = x[1:20, 4:6]; y[5] = y[0, 2:4][0]; print(sum(y, 0), sum(y, 1)); # rows of one access
var c = c128(x); c[1, :10] = c[0, 3:13]; print(c[:2]);
"""
SUMS = (
    "var x = sin(arange(60000) * 0.1); print(sum(x), prod(cos(x) * 1.2), max(x), sum(f32(x)), mean(x * 1i), all(x < 2),"
    " any(x > 2)); for n in i64([8192, 8193, 262144, 270337]) { print(sum(arange(n) * 0.1), prod(1 + arange(n) *"
    " 1e-9i)); }"
)


TRANSPOSES = """def f(x: {d}[N, M], b: {d}[M, N]) {{ return (x.T * {d}(2) + b, x.T); }}
def g(x: {d}[K, N, M], y: {d}[N, M]) {{ return (x.transpose(2, 0, 1) + y.T[:, newaxis],
    x.transpose(1, 2, 0) * {d}(2)); }}
def h(x: {d}[40, 72]) {{ return (x + x[::-1]).T; }}
for i in range(6) {{
  var n = i64([1, 33, 64, 5, 100, 31])[i]; var m = i64([1, 65, 96, 70, 5, 33])[i];
  var x = {d}(reshape(sin(arange(3 * n * m) * 0.7) * 50, [3, n, m]));
  print(f(x[0], x[1].T), g(x, x[2]));
}}
print(h({d}(reshape(sin(arange(2880) * 0.7) * 50, [40, 72]))));
"""
CONVOLUTED = (
    "def f(x: c64[N, M], y: f64[N, M]) { return conj(x).T * (y.T + 1) + c64(x.T).real; } var x = reshape(arange(4800) *"
    " 1i, [60, 80]); print(f(c64(x), x.imag));"
)


def transposes(toy, number=0):
    """Through memory that the threads of a block share, which rows and columns of tiles read without conflicts."""
    for i, dtype in list(enumerate(("f32", "f64", "c128", "c64", "u8", "bf16")))[number::2]:
        for text in (TRANSPOSES.format(d=dtype), *([CONVOLUTED] if i == 0 else [])):
            if problem := same_bits(toy, text, ["--cuda-graphs=off"], seed=i):
                return problem
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "program.toy")
                path.write_text(text)
                report = run(toy, [*EVERYWHERE, str(path)]).report
            if report and "bank conflicts: 0\n" not in report:  # a real device does not say
                return f"{dtype}: {report}"
    return None


DIVISIONS = """def f(x: i64[N, M, L], y: i64[L]) { return x[::-1] * 3 + y; }
for i in range(14) {
  var n = i64([2, 1, 3, 2, 1, 2, 5, 2, 1, 3, 2, 2, 1, 7])[i];
  var m = i64([1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 64, 65, 127])[i];
  var l = i64([1, 1, 2, 3, 641, 5, 8, 127, 128, 129, 255, 256, 257, 10])[i];
  var x = reshape(arange(n * m * l), [n, m, l]);
  print(sum(f(x, x[0, 0]) == x[::-1] * 3 + x[0, 0]), n * m * l);
  x[::2, :, l // 2:] = x[:1, :, :1] * 0 - 1; print(sum(x));
}
"""


def divisions(toy):
    """Indices by multiplication, along axes of any size; a kernel divides by no size."""
    if problem := same_bits(toy, DIVISIONS, ["--cuda-graphs=off"]):
        return problem
    text = "def f(x: f32[N, M, L], y: f32[L]) { return x[::-1] * 3 + y; } var a = f32(ones([2, 3, 4])); f(a, a[0, 0]);"
    ptx = subprocess.run([toy, "--emit=ptx", "-"], input=text, capture_output=True, text=True, timeout=120).stdout
    body = next(kernel for kernel in ptx.split(".entry") if kernel.count(".ptr") == 3)
    return None if "mul.hi.u64" in body and not re.search(r"\b(div|rem)\.", body) else body


COLUMNS = (
    "def f(x: {d}[N, M]) {{ return ({names}); }}\nfor n in i64([{rows}]) {{ for m in i64([1, 5, {m}])"
    " {{ var x = {d}(reshape(sin(arange(n * m) * 0.7) * 3, [n, m])); x[n // 2, m // 2] = {odd}; print(f(x)); }} }}\n"
)
MIDDLE = (
    "var y = {d}(reshape(sin(arange(31500) * 0.3), [90, 70, 5])); print(sum(y, 0), sum(y * y, 1), prod(y, [0, 1]));\n"
    "def known(x: {d}[40, M]) {{ return (sum(x, 0), prod(x, 0)); }} print(known(y[0:40, :, 0]));\n"
)


def columns(toy, number=0):
    """A thread reads several elements of its column at once, the last ones too, and combines them in order; columns of
    more than a run or a block are the work of several threads, as many as they are."""
    for i, (dtype, names, odd) in enumerate(
        (
            ("f32", "sum(x, 0), prod(x, 0), max(x, 0), sum(exp(x) / (x * x + f32(1)), 0)", "nan"),
            ("c128", "sum(x, 0), prod(x * 0.5, 0), sum(sqrt(x), 0)", "-2i"),
            ("i32", "sum(x, 0), min(x, 0), any(x > 2, 0), all(x == x, 0)", "-7"),
            ("bf16", "sum(x, 0), prod(x, 0), mean(x, 0)", "1"),
        )
    ):
        odd = odd if dtype == "c128" else f"{dtype}({odd})"
        lengths = (("1, 2, 7, 8, 9, 16, 31, 65", 300), ("64, 127, 128, 8191, 8192, 8193, 8257, 16500", 3))
        for rows, m in lengths[(i + number) % 2 :: 2]:
            text = COLUMNS.format(d=dtype, names=names, odd=odd, rows=rows, m=m) + MIDDLE.format(d=dtype)
            if problem := same_bits(toy, text, ["--cuda-graphs=off"], seed=i):
                return problem
    # So many columns have a thread each, whatever their length.
    text = (
        "def f(x: f32[N], y: f32[M, 1]) { return sum(x * y, 0); } var y = f(f32(arange(131072)) * f32(0.1),"
        " reshape(f32(sin(arange(66))), [66, 1])); print(y[:3], y[-3:], sum(y), sum(f64(y)));"
    )
    if problem := same_bits(toy, text):
        return problem
    if os.environ.get("TOY_REAL_DEVICE"):  # which does not say what was launched
        return None
    counts, wanted = {}, {"20000, 16": [157, 2, 1], "8192, 16": [64, 1], "64, 16": [1], "300, 131072": [1024]}
    for shape in wanted:
        text = f"def f(x: f32[N, M]) {{ return sum(x, axis=0); }} var a = f32(ones([{shape}])); var y = f(a);"
        with tempfile.TemporaryDirectory() as folder:
            counts[shape] = [blocks for kernel, blocks in launched(toy, text, folder)][1:]
    return None if counts == wanted else f"{counts}"


LONG_ROWS = (
    "def f(x: {d}[N, M]) {{ return (sum(x, 1), prod(x * {d}(1.001), 1, keepdims=true), {more}); }}\n"
    "for n in i64([1, 2, 5]) {{ for m in i64([600, 2049, 8191, 8192, 8193, 30000]) {{"
    " print(f({d}(reshape(sin(arange(n * m) * 0.7), [n, m])))); }} }}\n"
)

# Of 160, 320 and 615 blocks of elements a thread block has 4, 16 and all 32 lanes.
KNOWN_LONG_ROWS = (
    "def f{n}(x: f32[{m}], y: f32[{n}, 1]) {{ return sum(x * y, 1); }}"
    " print(f{n}(f32(arange({m})) * f32(0.1), reshape(f32(sin(arange({n}))), [{n}, 1])));\n"
)
LONG_COMPLEX_ROWS = (
    "def f(x: c128[N, M]) { return sum(x, 1); } print(f(c128(reshape(arange(132 * 8200), [132, 8200]))));"
)


# Rows that were folded are read again, in their own place or in another one.
STAGED = """def f(x: {d}[N, M]) {{ return (softmax(x, 1), x / sum(x, 1, keepdims = true) + x[::-1],
    x - max(x, 1, keepdims = true) + x[:, ::-1] * sum(x[:, ::-1] * exp(x), 1, keepdims = true)); }}
for m in i64([600, 2052, 5001]) {{ print(f({d}(reshape(sin(arange(3 * m) * 0.7), [3, m])))); }}
"""


def blocks_of_rows(toy):
    """Of a few long rows each block of 8,192 elements is a block of threads, or several that share its lanes, whose
    results are combined in order; of rows that are one each is a block of threads, and many are a warp each, unless
    they are long and read again."""
    for dtype in ("f32", "f64"):
        if problem := same_bits(toy, STAGED.format(d=dtype), ["--cuda-graphs=off"]):
            return problem
    for dtype, more in (("f32", "max(x, 1), sum(x + x[:, ::-1], 1)"), ("c128", "sum(x * 1i, 1)")):
        if problem := same_bits(toy, LONG_ROWS.format(d=dtype, more=more), ["--cuda-graphs=off"]):
            return problem
    text = "".join(KNOWN_LONG_ROWS.format(n=n, m=m) for n, m in ((5, 20000), (132, 8200), (264, 8200)))
    if problem := same_bits(toy, text, ["--cuda-graphs=off"]) or same_bits(toy, LONG_COMPLEX_ROWS):
        return problem
    if os.environ.get("TOY_REAL_DEVICE"):  # which does not say what was launched
        return None
    text = "def f(x: f32[N, 4096]) { return softmax(x, axis=1); } f(f32(ones([3, 4096])));"
    ptx = subprocess.run([toy, "--emit=ptx", "-e", text], capture_output=True, text=True).stdout
    if "ld.shared.v4.b32" not in ptx:
        return "exponentials are computed twice"
    sums = {
        "32, 128256": [1024, 32],
        "8, 128256": [1024, 8],
        "32, 8192": [32],
        "600, 9000": [1200, 600],
        "32, 300": [32],
        "5000, 9000": [625],
    }
    rows = {"32, 300": [32], "5000, 1000": [625], "5000, 4096": [5000], "5000, 8200": [625]}
    for form, wanted in (("sum(x, axis=1)", sums), ("softmax(x, axis=1)", rows)):
        for shape in wanted:
            text = f"def f(x: f32[N, M]) {{ return {form}; }} var a = f32(ones([{shape}])); var y = f(a);"
            with tempfile.TemporaryDirectory() as folder:
                blocks = [number for kernel, number in launched(toy, text, folder)][1:]
            if blocks != wanted[shape]:
                return f"{form} of {shape}: {blocks}"
    return None


def launched(toy, text, folder):
    """Names of kernels and their blocks; nothing is computed."""
    report = run(toy, [*EVERYWHERE, "--cuda-graphs=off", "-e", text], TOY_FAKE_IDLE=folder).report
    found = (line.split()[2:] for line in report.splitlines() if line.startswith("launched: "))
    return [(kernel, int(blocks)) for kernel, blocks in found]


TURNED = {
    "c64": "def f(x: c64[K, N, M]) { return fft(x, axis=1); }",
    "c128": "def f(x: c128[K, N, M]) { return ifft(x * 2i, axis=1); }",
    "f32": "def f(x: f32[K, N, M]) { return rfft(x, axis=1); }",
    "bf16": "def f(x: bf16[K, N, M]) { return f32(x.transpose(2, 1, 0)) @ f32(x[:, :, 0]); }",
}
OVER_SIZES = """
for i in range(5) {
  var k = i64([2, 3, 40, 9, 16])[i]; var n = i64([33, 64, 8, 3, 64])[i]; var m = i64([40, 9, 65, 8, 16])[i];
  var x = DTYPE(reshape(arange(k * n * m) % 7, [k, n, m])); # of 16 x 64 x 16 a whole block of memory
  print(x[0, 0]); print(f(x));
}
"""
CONJUGATED = (
    "var x = c128(reshape(arange(1000) % 7 * 1i, [25, 40])); print(conj(x) @ (x.T + 1), conj(x[3:, :9]) @ x[:9]);"
)


def turned(toy):
    """Copies for libraries go through tiles where the elements that are neighbours are others afterwards."""
    for i, (dtype, function) in enumerate([*TURNED.items(), ("c128", "")]):
        text = function + OVER_SIZES.replace("DTYPE", dtype) if function else CONJUGATED
        if problem := same_bits(toy, text, ["--cuda-graphs=" + GRAPHS[i % 4]], seed=i, tolerance=1e-4):
            return problem
        with tempfile.TemporaryDirectory() as folder:
            kernels = launched(toy, text, folder)
            path = pathlib.Path(folder, "program.toy")
            path.write_text(text)
            report = run(toy, [*EVERYWHERE, str(path)]).report
        size = {"c64": 8, "c128": 16, "f32": 4, "bf16": 2}[dtype]
        turns = [blocks for kernel, blocks in kernels if kernel == f"turn_{size}"]
        tiles = [48, 3, 64] if dtype == "bf16" else turns  # along the axis of neighbours
        if report and (not turns or turns != tiles or "bank conflicts: 0\n" not in report):
            return f"{dtype}: {kernels}\n{report}"
    return None


ROUNDED = (
    "var x = cat([1 + f32(arange(64)) * f32(2.0 ** -9), f32([3.39e38, 3.4e38, inf, nan, 1e-40, 0])]); def f(x: f32[N]) {"
    " return (f32(bf16(x)), f32(bf16(-x)), f32(bf16(f64(x) * 1.0000001))); } print(f(x), f(x * f32(1e-38)));"
)


def rounding(toy):
    """To bf16 by an instruction where the device has it."""
    played = [] if os.environ.get("TOY_REAL_DEVICE") else [("75", False), ("80", True), ("90", True)]
    for capability, has in played:
        done = run(toy, [*EVERYWHERE, "--emit=ptx", "-e", ROUNDED], TOY_FAKE_CAPABILITY=capability)
        if done.status or ("cvt.rn.bf16.f32" in done.stdout) != has:
            return f"{capability}: {done.stderr}{done.stdout}"
    return same_bits(toy, ROUNDED)


HALVES = """def f(a: {d}[N, M], b: {d}[M, K]) {{ return a @ b; }}
def g(a: {d}[N, M], b: {d}[M, K]) {{ var p = f32(a) @ f32(b); return (p, {d}(p)); }}
def h(a: {d}[N, M], b: {d}[M, K]) {{ return {other}(f32(a) @ f32(b)); }}
var a = {d}(reshape(arange(300) % 7, [15, 20])); var b = {d}(reshape(arange(340) % 11, [20, 17])); {calls}"""


def halves(toy):
    """Products of halves that are read as such are rounded by the library; those that are read as f32, too, or as other
    halves, are not."""
    for dtype, other in (("bf16", "f16"), ("f16", "bf16")):
        stats = []
        for call in ("f", "g", "h"):
            text = HALVES.format(d=dtype, other=other, calls=f"var y = {call}(a, b);")
            done = run(toy, [*EVERYWHERE, "--cuda-graphs=off", "-e", text])
            if problem := done.problem():
                return problem
            stats.append((done.stats["launches"], done.stats["products"]))
        (kernels, _), *others = stats
        if others != [(kernels + 1, 1)] * 2 or stats[0][1] != 1:
            return f"{dtype}: launches and products {stats}"
        shown = (
            f"print(f(a, b), g(a, b), h(a, b), f(a[:, :0], b[:0]), f(a * {dtype}(0.5), b), a[0] @ b, a[0] @ b[:, 0]);"
        )
        text = HALVES.format(d=dtype, other=other, calls=shown)
        for flags in ([], ["--fast-math"], ["--device=auto"], ["--cuda-graphs=full"]):
            if problem := same_bits(toy, text, flags):
                return problem
        if problem := same_bits(toy, text, TOY_FAKE_FAIL="cublasGemmStridedBatchedEx:all:15"):  # by the host
            return problem
    return None


def copies(toy):
    return same_bits(toy, COPIES, ["--cuda-graphs=off"]) or same_bits(toy, COPIES, ["--cuda-graphs=full"])


def partial_sums(toy):
    """Of more blocks than a block of threads combines at once, too: 512 of c128."""
    return same_bits(toy, SUMS + " print(sum(arange(4200000) * 0.1i));", ["--cuda-graphs=off"])


ROTATED = turned_by_ropes("interleaved", "bf16", 2, 5, 3, 8) + "var (a, b) = both(q, k, w); print(a); print(b);"


def older(toy, capabilities=("75",)):
    """PTX 6.3 and 7.0, for devices before those that the other cases play."""
    for capability in capabilities:
        os.environ["TOY_FAKE_CAPABILITY"] = capability
        try:
            for text in (
                COPIES,
                SUMS,
                DIVISIONS,
                ROTATED,
                TRANSPOSES.format(d="f32"),
                POSITIONS.format(d="f64", n=2, m=2100, v=VALUES["f64"].format(c=4200), more=""),
            ):
                if problem := same_bits(toy, text, ["--cuda-graphs=off"]):
                    return f"{capability}: {problem}"
        finally:
            del os.environ["TOY_FAKE_CAPABILITY"]
    return None


WRITES = """def f(x: f64[N, M], v: f64[M], n) {
  var y = x; var kept = x * 1;
  for i in range(n) {
    var before = sum(y, axis = 1);
    y[i] = y[i + 1] * 2 + v;
    y[-1] = v * i;
    if i == 2 { kept = y; }
    y[:, i] = before;
    y[::2, -1] = y[1::2, 0];
  }
  return (y, kept, x);
}
var x = reshape(sin(arange(80) * 0.7), [8, 10]) * 2; var v = cos(arange(10)) + 1;
for k in range(3) { var (a, b, c) = f(x, v, 5); x = a; x[k, k] = -1; print(a, sum(b), sum(c), sum(x)); }
var z = x * 1; var w = z; z[0] = 5; w[1] = z[0] + 1; z = w; z[2, 3:] = 7; print(z, w, x); z[3:5, 2:4] = x[1:3, :2];
print(sum(z), sum(w));
var v = x * 2; print(sum(v)); v[v > 1] = 0; v[[1, 3]] = v[[2, 0]] * 0.5; print(sum(v), v * 3); # stored by the host
"""


def writes(toy):
    for i, mode in enumerate(GRAPHS):
        if problem := same_bits(toy, WRITES, [f"--cuda-graphs={mode}"], seed=i):
            return problem
    return None


MARKERS = ("device", "host")


def all_cases():
    checks = (
        positions,
        launches_of_positions,
        declared_sizes,
        transposes,
        divisions,
        copies,
        partial_sums,
        columns,
        blocks_of_rows,
        turned,
        rounding,
        halves,
        writes,
        older,
    )
    for check in checks:
        yield f"device: {check.__name__.replace('_', ' ')}", check
    yield "device: positions of other types", lambda toy: positions(toy, 1), "nightly"
    yield "device: columns of other lengths", lambda toy: columns(toy, 1), "nightly"
    yield "device: older, capability 8.0", lambda toy: older(toy, ("80",)), "nightly"
    yield "device: transposes of other types", lambda toy: transposes(toy, 1), "nightly"
