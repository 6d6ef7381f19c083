# SPDX-License-Identifier: Apache-2.0
"""How often and how much: bytes that move, launches, graphs, what runs beside what, and where; registers and blocks of
kernels by the tools of CUDA."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from device import EVERYWHERE, GRAPHS, PREFERRED_SPILLS, ROOT, close, on_host, run, same_bits, tool_of_cuda

BIG = 'var x = load("{data}");'  # f64[1000, 100], 800000 bytes
N = 800000
TRANSFERS = [
    ("print(shape(x));", 0, 0),
    ("var y = x * 2; print(shape(y));", N, 0),
    ("var y = x * 2;", N, 0),
    ("var y = x * 2; var z = y + x; var w = z * z - y;", N, 0),
    ("var y = x * 2; print(y);", N, 6 * 6 * 8),
    ("var y = sum(x * x); print(y);", N, 8),
    ("var y = sum(x, axis=0); print(y);", N, 800),
    ("var y = sum(x, axis=1); print(y[:5]);", N, 40),
    ("var y = x @ x.T; print(y[0, 0]);", N, 8),
    ("var y = exp(x); print(max(y));", N, 8),
    ("var y = x * 2; print(y[3, 4]);", N, 8),
    ("var y = x; y = y * 2; y = y * 2; y = y * 2; print(y[0, :3]);", N, 24),
    ("var y = reshape(x * 2, [100, 1000]); print(sum(y));", N, 8),
    ("var y = (x * 2).T; print(sum(y));", N, 8),
    ("var y = f32(x); print(sum(y));", N, 4),
    ("var y = complex(x, x * 2); print(sum(abs(y)));", N, 8),
    ("var y = x > 0; print(all(y), any(y));", N, 2),
    ("var y = softmax(x, axis=1); print(sum(y));", N, 8),
    ("def f(a: f64[N, M]) { return a * 2 + 1; } var y = f(x); var z = f(y); print(z[0, 0]);", N, 8),
    ("def f(a: f64[N, M]) { return a * 2 + 1; } for i in range(5) { x = f(x); } print(x[0, 0]);", N, 8),
    ('var y = x * 2; save("out.npy", y);', N, N),
    ('var y = x * 2; print(sum(y)); save("out.npy", y); print(sum(y));', N, N + 16),
    ("var y = zeros([1000, 100]) + 1; print(sum(y));", 0, 8),
    ("var y = ones([200, 200]) * 3; var z = y @ y; print(z[0, 0]);", 0, 8),
    ("var y = x[:10]; print(sum(y * y));", N, 8),
    ("var a = x * 1; var b = a; var c = b; print(sum(a + b + c));", N, 8),
    ("var y = argmax(x, axis=1); print(y[:4]);", N, 32),
    ("var y = mean(x, axis=1); var z = x - reshape(y, [1000, 1]); print(sum(z * z));", N, 8),
    ("var y = x * 2; y = x * 3; print(sum(y));", N, 8),
    ("var y = cat(x, x); print(sum(y));", N, 8),
    ("var y = (x + 1i) * (x - 1i); print(sum(y).real);", N, 16),
    ("var y = where(x > 0, x, -x); print(sum(y));", N, 8),
    ("var y = x * 2; y[3, 4] = 7; y[::2, 5:] = -1; print(sum(y));", N, 8),
    ("var y = x * 2; y[10:20] = x[:10] + 1; y[:, 3] = 2 * y[:, 4]; print(sum(y));", N, 8),
    ("var y = x * 2; var z = y; y[0] = z[1] * 3; print(sum(y), sum(z));", N, 16),
    ("def f(a: f64[N, M], n) { for i in range(n) { a[i] = a[i] + a[i + 1]; } return a; } print(sum(f(x, 7)));", N, 8),
]


def transfers(toy):
    import numpy as np

    problems = []
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", np.random.default_rng(1).normal(size=(1000, 100)))
        path = pathlib.Path(folder, "program.toy")
        for text, there, back in TRANSFERS:
            path.write_text(BIG.replace("{data}", f"{folder}/x.npy") + "\n" + text)
            done = run(toy, [*EVERYWHERE, str(path)])
            got = (done.stats.get("bytes_to_device", 0), done.stats.get("bytes_to_host", 0))
            if problem := done.problem():
                problems.append(f"{text}: {problem}")
            elif got != (there, back):
                problems.append(f"{text}\n  moved {got} bytes, needed {(there, back)}")
            elif not close(done.stdout, on_host(toy, [str(path)]), 1e-10):
                problems.append(f"{text}\n  {done.stdout}\n  {on_host(toy, [str(path)])}")
    return "\n".join(problems) or None


STEADY = """def f(x: f64[N, N], w: f64[N, N]) {
  var y = tanh(x @ w + 1);
  var z = y * y - x;
  var s = sum(z, axis=1);
  return z / reshape(s, [x.shape[0], 1]) + y @ w;
}
var x = ones([16, 16]) * 0.1; var w = ones([16, 16]) * 0.2;
"""


def steady(toy):
    """One graph launch a call, and nothing allocated once it is warm."""
    calls = {}
    for n in (4, 12):
        text = STEADY + "".join(f"var y{i % 2} = f(x, w);\n" for i in range(n)) + "print(sum(y0), sum(y1));"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "program.toy")
            path.write_text(text)
            done = run(toy, [*EVERYWHERE, "-i", str(path)], stdin="")
        if problem := done.problem():
            return problem
        calls[n] = done.stats
    grown = {
        key: calls[12][key] - calls[4][key]
        for key in (
            "graph_launches",
            "launches",
            "products",
            "allocations",
            "graphs",
            "bytes_to_device",
            "bytes_to_host",
        )
    }
    want = {
        "graph_launches": 8,
        "launches": 0,
        "products": 0,
        "allocations": 0,
        "graphs": 0,
        "bytes_to_device": 0,
        "bytes_to_host": 0,
    }
    if grown != want:
        return f"eight more calls cost {grown}, not {want}"
    return None


def graphs(toy, modes=GRAPHS):
    """Earlier results keep their values, and sizes, operands and branches may change under a graph."""
    for mode in modes:  # a result is not overwritten by later calls, whatever the sizes
        text = (
            STEADY
            + "var first = f(x, w); var before = sum(first); for i in range(6) { x = x + 0.01; w = w * 1.01; var y ="
            " f(x, w); } print(sum(first) == before, f(ones([3, 3]), ones([3, 3])));"
        )
        if problem := same_bits(toy, text.replace("@", "*"), [f"--cuda-graphs={mode}"]):
            return problem
        # Whole numbers, so that products are exact: sizes change under the same graph, and one value is updated on the
        # host in between.
        text = """def g(x: f64[N, M], y: f64[M, K]) { var z = x @ y; return (z + 1) @ (y.T * 2) - x; }
for n in i64([3, 5, 3, 7, 5]) {
  var x = reshape(arange(n * 4) * 1.0, [n, 4]); var y = reshape(arange(4 * (n + 1)) * 1.0, [4, n + 1]);
  print(g(x, y)); x[0, 0] = 100; print(g(x, y), sum(g(2 * x, y) @ ones([4, 1])), g(x, y) @ conj(y));
  var big = reshape(arange(100 * n * 7) % 11 * 1.0, [100 * n, 7]);
  print(sum(big * 2 + 1, axis=0), sum(where(big > 3, big, 0)), max(big, axis=1)[:9]);
}"""
        if problem := same_bits(toy, text, [f"--cuda-graphs={mode}"]):
            return problem
        # Rows of several blocks of 8192, which are summed in the host's order.
        text = (
            "var long = sin(reshape(arange(60000) * 0.1, [3, 20000])); print(sum(long, axis=1), sum(long),"
            " sum(f32(long), axis=1), max(long), mean(long * 1i));"
        )
        if problem := same_bits(toy, text, [f"--cuda-graphs={mode}"]):
            return problem
        # The same kernels in the same order, but one reads now the one and now the other.
        text = """def g(x: f64[N, M], k) { var p = x * 2; var q = x * 3; var t = p; if k > 0 { t = q; }
        var r = reshape(sum(t, axis=1), [N, 1]); var u = sum(p, axis=1) - sum(q, axis=1);
        return r + reshape(u, [N, 1]); }
var x = reshape(arange(12) * 1.0, [3, 4]);
for i in range(8) { print(g(x, i % 2)); }"""
        for seed in range(4):
            if problem := same_bits(toy, text, [f"--cuda-graphs={mode}"], seed):
                return problem
    return None


def only_what_runs(toy):
    """Of the forms of a kernel for sizes that are not known the driver compiles the one that runs."""
    text = "def f(x: f32[N, M]) { return softmax(x, axis = 1); } var a = f32(ones([16, 700])); print(f(a));"
    made = subprocess.run([toy, "--emit=ptx", "-e", text], capture_output=True, text=True).stdout.count(".entry")
    with tempfile.TemporaryDirectory() as folder:
        run(toy, [*EVERYWHERE, "--no-cache", "-e", text], TOY_FAKE_IDLE=folder)
        loaded = [path.read_text().count(".entry") for path in pathlib.Path(folder).glob("*.ptx")]
    return None if made > 8 and loaded == [1, 1] else f"of {made} kernels {loaded} are loaded"


def overlap(toy):
    """Independent chains of small operations run next to each other, on streams and in graphs; big ones and dependent
    ones do not. In virtual time."""
    chains = "".join(
        f"var y{i} = x * {i + 2}.0; for i in range(12) {{ y{i} = reshape(sum(y{i}, axis=1), [N, 1]) * x; }} "
        for i in range(4)
    )
    one = "var y0 = x; for i in range(48) { y0 = reshape(sum(y0, axis=1), [N, 1]) * x; } "
    for mode in ("off", "full"):
        for body, n, low, high in (
            (f"{chains} return y0 + y1 + y2 + y3;", 8, 0, 0.5),
            (f"{one} return y0;", 8, 0.8, 1.01),
            (f"{chains} return y0 + y1 + y2 + y3;", 128, 0.8 if mode == "off" else 0, 1.01),
        ):
            done = run(
                toy,
                [
                    *EVERYWHERE,
                    f"--cuda-graphs={mode}",
                    "-e",
                    f"def f(x: f64[N, M]) {{ {body} }} var x = ones([{n}, {n}]) * 0.01; print(sum(f(x)));",
                ],
            )
            if problem := done.problem():
                return problem
            took, row = (float(re.search(rf"virtual us{k}: (\d+)", done.report).group(1)) for k in ("", " in a row"))
            if not low <= took / row <= high:
                return f"{mode}, {n}: {took} us of {row} in a row\n{body}"
    return None


def placement(toy):
    """--device=auto: small work and single passes over the host's data stay there, products and long regions go to the
    device."""
    rows = [
        ("var y = ones([100]) * 2; print(sum(y));", False),
        ('var x = load("x.npy"); print(sum(x + 1));', False),
        ("var x = ones([900, 900]); for i in range(40) { x = x * 0.5 + 1; } print(x[0, 0]);", True),
    ]
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", np.ones((1000, 300)))
        for text, wanted in rows:
            done = run(toy, ["--device=auto", "--jit=always", "-e", text.replace("x.npy", f"{folder}/x.npy")])
            if problem := done.problem():
                return problem
            if bool(done.stats.get("launches", 0)) != wanted:
                return f"{text}: {done.stats}"
    return None


MARKERS = ("device", "host")


def clock(toy):
    """What was asked for before the clock is read has been done by then, and every run of :bench ends with a wait."""
    rounds = 5
    text = f"var x = ones([100]); var s = clock(); for i in range({rounds}) {{ x = x * 2 + 1; s = clock() - s; }}"
    done = run(toy, [*EVERYWHERE, "-e", text])
    if problem := done.problem():
        return problem
    if done.stats["sequences"] < rounds or done.stats["waits"] < rounds:
        return f"{done.stats}"
    text = "def f(x) { return x * 2 + 1; }\nvar x = ones([100]);\n:bench var y = f(x);\n"
    done = run(toy, [*EVERYWHERE, "-"], stdin=text)
    if problem := done.problem():
        return problem
    return None if 3 < done.stats["sequences"] <= done.stats["waits"] else f":bench: {done.stats}"


MANY_GRAPHS = """def times(x: f64[N], n) { for i in range(n) { x = x * 1.5; } return sum(x); }
var x = ones([4]);
var found = 0;
for round in range(2) { for n in range(2, 70) { if times(x, n) > 1e300 { found = 1; } } }
"""


def new_graphs(toy):
    """Sequences that come back have graphs, however often others came before them."""
    launches = {}
    for rounds in (0, 6):
        text = (
            MANY_GRAPHS
            + f"for i in range({rounds}) {{ for n in range(80, 82) {{ if times(x, n) > 1e300 {{ found = 1; }} }} }}"
            " print(found);"
        )
        done = run(toy, [*EVERYWHERE, "--cuda-graphs=auto", "-e", text])
        if problem := done.problem():
            return problem
        launches[rounds] = done.stats["graph_launches"]
    grown = launches[6] - launches[0]
    return None if grown >= 10 else f"{grown} launches of graphs, 12 - 2 were needed"


STAGED = """var x = load("x.npy"); var y = x * 2; save("y.npy", y); y[3] = 7; save("z.npy", y);
var a = x[:8200]; var b = a * a; print(sum(b), sum(a), sum(x * y));
"""


def staged(toy):
    """Large copies go through pinned memory, in pieces that wait for each other; the same without any, and where the
    device reads the host's memory late."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        x = np.random.default_rng(3).normal(size=1_700_003)  # more than three pieces
        np.save(f"{folder}/x.npy", x)
        path = pathlib.Path(folder, "program.toy")
        path.write_text(
            STAGED.replace('"x.npy"', f'"{folder}/x.npy"')
            .replace('("', f'("{folder}/')
            .replace(f"{folder}/{folder}", folder)
        )
        for environment in ({}, {"TOY_FAKE_FAIL": "cuMemHostAlloc:1:2"}, {"TOY_FAKE_PAGEABLE": "1"}):
            for seed in range(1 if environment else 3):
                done = run(toy, [*EVERYWHERE, str(path)], seed, **environment)
                if problem := done.problem():
                    return f"{environment}: {problem}"
                changed = 2 * x
                changed[3] = 7
                for name, want in (("y", 2 * x), ("z", changed)):
                    if not np.array_equal(np.load(f"{folder}/{name}.npy"), want):
                        return f"{environment}: {name} is not what it was"
                want = [np.sum(x[:8200] ** 2), np.sum(x[:8200]), np.sum(x * changed)]
                if not np.allclose([float(v) for v in done.stdout.split()], want, rtol=1e-12):
                    return f"{environment}: {done.stdout} not {want}"
                if "cuMemHostAlloc: 1\n" not in done.report or int(
                    re.search(r"cuMemcpyDtoHAsync: (\d+)", done.report)[1]
                ) < (8 if not environment else 2):
                    return f"{environment}: {done.report}"
    return None


PLACES = """def f(x: f64[N, N]) { return (x @ x, x * 2, (x + 1) @ x); }
var x = ones([16, 16]) * 0.1; var (a, b, c) = f(x);
"""


def places(toy):
    """Results of a graph are where they were before, in whatever order their memory came back: nothing is captured
    again."""
    orders = ["a = x; b = x; c = x;", "c = x; a = x; b = x;", "b = x; c = x; a = x;"]
    text = (
        PLACES + "".join(f"{orders[i % 3]}\n(a, b, c) = f(x);\n" for i in range(12)) + "print(sum(a), sum(b), sum(c));"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "program.toy")
        path.write_text(text)
        done = run(toy, [*EVERYWHERE, "--cuda-graphs=full", "-i", str(path)], stdin="")
    if problem := done.problem():
        return problem
    captures = int(re.search(r"cuStreamBeginCapture: (\d+)", done.report)[1])
    return None if captures <= 4 and done.stats["graph_launches"] >= 12 else f"{captures} captures\n{done.stats}"


def returning_sizes(toy):
    """Products of sizes that come back are captured a few times for each, not each time."""
    text = (
        "def f(x: f64[N, M]) { return (x @ x.T) * 2 + 1; }\nfor i in range(24) { var x = ones([i64([8, 16, 24])[i % 3],"
        " 4]); print(sum(f(x))); }"
    )
    done = run(toy, [*EVERYWHERE, "--cuda-graphs=full", "-e", text])
    if problem := done.problem():
        return problem
    captures = int(re.search(r"cuStreamBeginCapture: (\d+)", done.report)[1])
    return None if captures <= 9 and done.stats["graph_launches"] >= 20 else f"{captures} captures\n{done.stats}"


PLANS = """var total = 0.0;
for round in range(2) { for n in range(2, 72) { var x = fft(arange(n) * 1.0); total = total + sum(abs(x * 2)); } }
print(total);"""
# The graph of f has a plan and the work area: others make that larger, then push the plan out.
KEPT = """def f(x: f64[N]) { return sum(abs(fft(x) * 2)); } def g(x: f64[N]) { return sum(abs(fft(x)) + 1); }
print(sum((ones([300, 300]) * 2) @ ones([300, 1])));
var x = arange(10) * 1.0; print(f(x)); print(f(x)); print(g(arange(3000) * 1.0)); var k = arange(20) * 1.0; print(sum(k)); print(f(x)); print(k);
for n in range(11, 81) { if g(arange(n) * 1.0) < 0 { print(n); } }
print(f(x)); print(f(x));"""


def plans(toy):
    """Plans of many sizes make room for each other, while graphs that have them run and come back."""
    for mode in ("off", "full"):
        for text in (PLANS, KEPT):
            if problem := same_bits(toy, text, [f"--cuda-graphs={mode}"], tolerance=1e-12):
                return problem
        done = run(toy, [*EVERYWHERE, f"--cuda-graphs={mode}", "-e", PLANS])
        if "plans destroyed" not in done.report:
            return f"no plan was destroyed\n{done.report}"
    return None


FEW_ROWS = [  # the dtype, bytes of the widest that is folded, and what is computed
    ("f32", 4, "softmax(x, 1) + rmsnorm(x, 2)"),
    ("f64", 8, "layernorm(x, 3, 0.5) * max(x, 1, true)"),
    ("bf16", 4, "rmsnorm(x, 2)"),
    ("c64", 8, "x / (sum(abs(x), -1, true) + 1) - mean(x, -1, true)"),
    ("c128", 16, "x / sum(x * x, -1, true)"),
]


def few_rows(toy):
    """A few rows of 512 elements and more, up to 32 KB of shared memory, are a block's work each, with the host's bits;
    many, and those of other sizes, are a warp's."""
    lead = "def of(n: i64) { return reshape(sin(arange(3 * n) * 0.7), [3, n]); }\n"
    for i, (dtype, width, body) in enumerate(FEW_ROWS):
        turn, most = " * (1 - 0.3i)" if dtype[0] == "c" else "", min(8192, (32 << 10) // width)
        text = lead + "".join(
            f"def f{m}(x: {dtype}[3, {m}]) {{ return {body}; }} print(f{m}({dtype}(of({m}){turn})));\n"
            for m in (512, most)
        )
        text += f"def f(x: {dtype}[N, M]) {{ return {body}; }} for m in i64([511, 700, {most}, {most + 1}]) {{"
        if problem := same_bits(toy, f"{text} print(f({dtype}(of(m){turn}))); }}", [f"--cuda-graphs={GRAPHS[i % 4]}"]):
            return problem
    wanted = {"300, 511": 0, "300, 512": 1, "4095, 8192": 1, "4096, 512": 0, "300, 8193": 1, "N, M": 1, "N, 100": 0}
    for shape, uses in wanted.items():
        sizes = shape.replace("N", "300").replace("M", "700")
        text = f"def f(x: f32[{shape}]) {{ return softmax(x, 1); }} var a = f32(ones([{sizes}])); f(a);"
        ptx = subprocess.run([toy, "--emit=ptx", "-"], input=text, capture_output=True, text=True, timeout=120).stdout
        if ".entry" not in ptx or (".shared" in ptx) != uses:
            return f"{shape}: {ptx}"


MULTIPROCESSORS = 132
MANY_BLOCKS = ["sum, f64[2^26]", "sum of the leading axis, f32[2^20, 16]", "argmax of the leading axis, f32[2^20, 16]"]
MANY_BLOCKS += ["argmax, f32[2^26]", "argmax, f32[1, 128256]", "softmax, f32[32, 128256]"]


def counts(toy):
    """The table of bench/results: no kernel of it spills, and long rows and sums have blocks for the whole device."""
    ptxas = tool_of_cuda("ptxas")
    if not ptxas:
        return "skipped: ptxas is not installed"
    done = subprocess.run(
        ["/usr/bin/python3", ROOT / "bench/cuda_counts.py", toy, ptxas], capture_output=True, text=True
    )
    rows = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in done.stdout.splitlines()[2:]]
    kernels = [row for row in rows if row[1] != "a library's"]
    if done.returncode or len(kernels) < 20:
        return done.stdout + done.stderr
    if spilled := [row for row in kernels if row[4:6] != ["0", "0"]]:
        return f"{spilled}"
    blocks = {row[0]: int(row[1].split()[0].replace(",", "")) for row in kernels if row[0]}
    few = [name for name in MANY_BLOCKS if blocks[name] < 4 * MULTIPROCESSORS]
    return f"{few} of {blocks}" if few else None


HALF_RESIDENT = (
    "chain",
    "tanh",
    "erf",
    "log",
    "softmax",
    "rmsnorm",
    "layernorm",
    "rope",
    "sums",
    "greatest",
    "transpose",
)


def registers(toy):
    """The other table: no kernel of any dtype stores a register for any sizes, but for a few that ptxas prefers to.
    Half of a device's threads are resident in folds, rows, rotations and chains, of 16 bytes an element a quarter."""
    ptxas = tool_of_cuda("ptxas")
    if not ptxas:
        return "skipped: ptxas is not installed"
    sys.path.insert(0, str(ROOT / "bench"))
    import cuda_registers

    problems = []
    for name, dtype, used, spilled, local in cuda_registers.rows(os.path.abspath(toy), ptxas):
        least = 0.5 if name.startswith(HALF_RESIDENT) and dtype != "c128" else 0.25
        if max(spilled, local) > PREFERRED_SPILLS or cuda_registers.resident(max(used)) < least:
            problems.append(f"{name}, {dtype}: registers {used}, {spilled} bytes spilled, {local} in local memory")
    return "\n".join(problems) or None


def all_cases():
    return [
        ("device: transfers", transfers, "long"),
        ("device: steady calls", steady),
        ("device: graphs", graphs, "long"),
        ("device: clock", clock),
        ("device: new graphs", new_graphs),
        ("device: returning sizes", returning_sizes),
        ("device: plans", plans),
        ("device: few rows", few_rows),
        ("device: staged", staged),
        ("device: places", places),
        ("device: overlap", overlap),
        ("device: only what runs is compiled", only_what_runs),
        ("device: placement", placement, "release", "long"),
        ("device: counts", counts, "nightly"),
        ("device: registers", registers, "nightly"),
    ]
