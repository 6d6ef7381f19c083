# SPDX-License-Identifier: Apache-2.0
"""What collectives give, bit for bit, beside the balanced tree in NumPy, for each dtype, number of ranks, schedule and
way of running; the examples."""
import json
import pathlib
import tempfile

import numpy as np

from ranks_jobs import MARKS, MPICH, OPEN, both, job

NUMPY = {
    "bool": np.bool_,
    "u8": np.uint8,
    "i32": np.int32,
    "i64": np.int64,
    "bf16": np.float32,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
}


def product(a, b):
    """Of complex numbers the four-product form."""
    if not np.iscomplexobj(a):
        return a * b
    out = np.empty_like(a)
    out.real = a.real * b.real - a.imag * b.imag
    out.imag = a.real * b.imag + a.imag * b.real
    return out


def to_bf16(x):
    """f32 rounded to bf16, ties to even."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    return (((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint32) << 16).view(np.float32)


COMBINE = {
    "sum": lambda a, b: a + b,
    "mean": lambda a, b: a + b,
    "prod": product,
    "min": np.minimum,
    "max": np.maximum,
    "any": np.logical_or,
    "all": np.logical_and,
}


def operations(dtype):
    if dtype == "bool":
        return ["any", "all"]
    return ["sum", "prod", "mean"] + ([] if dtype[0] == "c" else ["min", "max"])


def tree(parts, op, dtype):
    """Neighbours first, then pairs of pairs; bf16 and f16 in f32, rounded once."""
    count = len(parts)
    if dtype in ("bf16", "f16"):
        parts = [p.astype(np.float32) for p in parts]
    if op == "mean" and parts[0].dtype.kind in "iu":
        parts = [p.astype(np.float64) for p in parts]
    while len(parts) > 1:
        parts = [COMBINE[op](*parts[i : i + 2]) if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
    out = parts[0]
    if op == "mean":
        reals = out.view(out.real.dtype) if np.iscomplexobj(out) else out
        out = (reals / reals.dtype.type(count)).view(out.dtype)
    return out.astype(np.float16) if dtype == "f16" else to_bf16(out) if dtype == "bf16" else out


def values(rng, dtype, size):
    if dtype == "bool":
        return rng.random(size) < 0.5
    if dtype in ("u8", "i32", "i64"):
        least, most = np.iinfo(NUMPY[dtype]).min, np.iinfo(NUMPY[dtype]).max
        return rng.integers(least, most, size, NUMPY[dtype])
    x = rng.standard_normal(size) * 10 ** rng.integers(-3, 4, size).astype(float)
    if dtype[0] == "c":
        x = x + 1j * rng.standard_normal(size)
    x = x.astype(NUMPY[dtype])
    return to_bf16(x) if dtype == "bf16" else x


def sums_program(dtypes, sizes):
    """Inputs and results of a rank are in files of its own; results pass through functions, so that they are compiled
    where that is asked for."""
    lines = ["var here = str(rank());", "def wide(x) { return f32(x); }"]
    for dtype in dtypes:
        for op in operations(dtype):
            lines.append(f'def {op}_{dtype}(x) {{ return all_reduce(x, op = "{op}"); }}')
        for size in sizes:
            x = f'load("in" + here + ".npz", "{dtype}_{size}")'
            lines.append(
                f"var x = {'bf16(' + x + ')' if dtype == 'bf16' else x};".replace("var x", f"var x_{dtype}_{size}")
            )
            name = f"x_{dtype}_{size}"
            results = [f"{op}_{dtype}({name})" for op in operations(dtype)]
            if dtype == "bf16":
                results = [f"wide({r})" for r in results]
            lines.append(f'save("out" + here + "_{dtype}_{size}.npz", ({", ".join(results)}, rank()));')
    return "\n".join(lines)


def sums(toy, launcher, ranks, flags, schedule="", sizes=(0, 1, 28, 29, 1009), dtypes=tuple(NUMPY), **more):
    rng = np.random.default_rng(ranks)
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        given = [{f"{d}_{n}": values(rng, d, n) for d in dtypes for n in sizes} for _ in range(ranks)]
        for r, arrays in enumerate(given):
            np.savez(f"{folder}/in{r}.npz", **arrays)
        pathlib.Path(folder, "sums.toy").write_text(sums_program(dtypes, sizes))
        more |= {"TOY_RANKS_SCHEDULE": schedule} if schedule else {}
        status, out, err, _ = job(toy, launcher, ranks, [*flags, "sums.toy"], folder, **more)
        if status:
            return f"status {status}\n{out}{err}"
        for dtype in dtypes:
            for size in sizes:
                parts = [arrays[f"{dtype}_{size}"] for arrays in given]
                want = [tree(parts, op, dtype) for op in operations(dtype)]
                for r in range(ranks):
                    found = np.load(f"{folder}/out{r}_{dtype}_{size}.npz")
                    for i, (op, w) in enumerate(zip(operations(dtype), want)):
                        got = found[f"arr_{i}"]
                        if got.dtype != w.dtype or got.tobytes() != w.tobytes():
                            return f"{op} of {dtype}[{size}] on rank {r} of {ranks}: {got[:4]} {w[:4]}"


MOVES = """
var r = rank(); var p = ranks();
def spread(x) { return (all_gather(x[:r + 1]), all_gather(x[:, :r + 2], axis = 1), shift(x, 1), shift(x, -2)); }
def parts(x) { return (reduce_scatter(x), reduce_scatter(x, axis = 1, op = "prod"), shard(x, axis = 1)); }
def whole(x: c64[N, M]) -> c64[N, M] { return unshard(shard(x, axis = 1) * 2, axis = 1) / 2; }
def swapped(x) { return (all_to_all(x), all_to_all(x, axis = 1)); }
def passed(x) {
  send(x, (r + 1) % p); send(x[0], (r + 1) % p, tag = 3);
  return (recv(x[0], (r + p - 1) % p, tag = 3), recv(x, (r + p - 1) % p));
}
var x = load("in" + str(r) + ".npy");
var a = spread(x); var b = parts(x); var c = swapped(x); var d = passed(x);
var e = (broadcast(x[:r + 1], from = p - 1), broadcast(x[0, 0], from = p - 1), unshard(shard(x)), whole(x));
var found = (a[0], a[1], a[2], a[3], b[0], b[1], b[2], c[0], c[1], d[0], d[1], e[0], e[1], e[2], e[3]);
save("out" + str(r) + ".npz", found);
"""


def shard_of(x, axis, p, r):
    n = x.shape[axis]
    begin = [k * (n // p) + min(k, n % p) for k in (r, r + 1)]
    return np.take(x, np.arange(*begin), axis)


def moved(xs, r):
    """What MOVES gives rank r."""
    p = len(xs)
    total = [tree(xs, op, "c64") for op in ("sum", "prod")]
    swapped = [np.concatenate([np.split(x, p, axis)[r] for x in xs], axis) for axis in (0, 1)]
    before, own = xs[(r - 1) % p], xs[r]
    return [
        np.concatenate([x[: k + 1] for k, x in enumerate(xs)]),
        np.concatenate([x[:, : k + 2] for k, x in enumerate(xs)], 1),
        before,
        xs[(r + 2) % p],
        shard_of(total[0], 0, p, r),
        shard_of(total[1], 1, p, r),
        shard_of(own, 1, p, r),
        *swapped,
        before[0],
        before,
        xs[p - 1][:p],
        xs[p - 1][0, 0],
        own if p == 1 else np.concatenate([shard_of(x, 0, p, k) for k, x in enumerate(xs)]),
        np.concatenate([shard_of(x, 1, p, k) for k, x in enumerate(xs)], 1),
    ]


def moves(toy, launcher, ranks, flags, columns=3, **more):
    rng = np.random.default_rng(ranks + 10)
    with tempfile.TemporaryDirectory() as folder:
        xs = [values(rng, "c64", 4 * ranks * columns * ranks).reshape(4 * ranks, -1) for _ in range(ranks)]
        for r, x in enumerate(xs):
            np.save(f"{folder}/in{r}.npy", x)
        pathlib.Path(folder, "moves.toy").write_text(MOVES)
        status, out, err, _ = job(toy, launcher, ranks, [*flags, "moves.toy"], folder, **more)
        if status:
            return f"status {status}\n{out}{err}"
        for r in range(ranks):
            found = np.load(f"{folder}/out{r}.npz")
            for i, want in enumerate(moved(xs, r)):
                got = found[f"arr_{i}"]
                if got.shape != np.shape(want) or got.tobytes() != np.asarray(want).tobytes():
                    return f"result {i} on rank {r} of {ranks}: {got.shape} {np.shape(want)}"


SENDS_FIRST = """
var r = rank(); var p = ranks();
def ring(x) {
  for by in range(p) { send(x + by, (r + by) % p, tag = by % 2); }
  barrier();
  var total = x * 0;
  for by in range(p) { total = total * 3 + recv(x, (r + p - by) % p, tag = by % 2); }
  return total;
}
def expected(x) {
  var total = x * 0;
  for by in range(p) { total = total * 3 + (x - r + (r + p - by) % p + by); }
  return total;
}
for n in [1, 500, 16384, 300000] {
  var x = arange(n) + r;
  if not all_reduce(all(ring(x) == expected(x)), op = "all") { print("differs", n); }
}
var y = arange(40000) + r; var first = y;
send(y, (r + 1) % p); y[0] = -1; y = y * 2; send(y[:7], (r + 1) % p);
var came = recv(y, (r + p - 1) % p);
if came[0] != (r + p - 1) % p or recv(y[:7], (r + p - 1) % p)[0] != -2 { print("changed on its way"); }
def stored(x) { for i in range(3) { x[30000] = i; send(x, (r + 1) % p); x[9] = i; } return x; }
y = stored(zeros(40000));
for i in range(3) { if recv(y, (r + p - 1) % p)[30000] != i { print("changed by a loop"); } }
if all_reduce(1) == p { print("done"); }
"""


def sends_first(toy, launcher, ranks, flags):
    """Every rank sends before one receives, in any size; what is changed then arrives as it was."""
    status, out, err, _ = job(toy, launcher, ranks, [*flags, "--collective-timeout=60", "-e", SENDS_FIRST])
    return None if (status, out) == (0, "done\n") else f"{status} {out}{err}"


PIPELINE = """
var x = ones(500000); var total = 0.0;
if rank() == 0 { for i in range(30) { send(x + i, 1); } }
if env("BEFORE", "") == "all" { barrier(); }
if rank() == 1 { for i in range(30) { total += recv(x, 0)[i]; } }
if all_reduce(total) == 30 * 31 / 2 { print("done"); }
"""


def bounded(toy, launcher):
    """What is on its way has a bound: of 30 values of 4 MB, 20 MB at once; all of them where there is room and the
    other rank comes later."""
    with tempfile.TemporaryDirectory() as folder:
        peaks = []
        for most, before in (("20000000", ""), ("1000000000", "all")):
            flags, more = ["--jit=never", "--stats=s.json"], {"TOY_RANKS_ON_THEIR_WAY": most, "BEFORE": before}
            done = job(toy, launcher, 2, [*flags, "-e", PIPELINE], folder, **more)
            if done[:2] != (0, "done\n"):
                return done
            peaks.append(json.loads(pathlib.Path(folder, "s.json").read_text())["peak_bytes"])
        return None if peaks[0] < 48e6 and peaks[1] > 120e6 else f"bytes: {peaks}"


BEHIND = """
var x = ones(125000); var first = ones(200000); var turns = 60; var total = 0.0;
if rank() == 0 { send(first, 1, tag = 9); for i in range(turns) { send(x + i, 1); recv(1, 1); } }
if rank() == 1 {
  for i in range(turns) { total += recv(x, 0)[i]; send(1, 0); }
  total += sum(recv(first, 0, tag = 9));
}
if all_reduce(total) == turns * (turns + 1) / 2 + 200000 { print("done"); }
"""


def behind(toy, launcher):
    """Copies of what is delivered are forgotten, also behind one that waits for another tag: of 60 values of 1 MB not
    half are there at once."""
    with tempfile.TemporaryDirectory() as folder:
        flags = ["--jit=never", "--collective-timeout=60", "--stats=s.json"]
        done = job(toy, launcher, 2, [*flags, "-e", BEHIND], folder)
        if done[:2] != (0, "done\n"):
            return done
        peak = json.loads(pathlib.Path(folder, "s.json").read_text())["peak_bytes"]
        return None if peak < 30e6 else f"bytes: {peak}"


def hands_over(toy, launcher):
    """A rank that sleeps goes on with what it has sent."""
    text = "if rank() == 0 { send(ones(900000), 1); sleep(4); } var t = clock(); var s = 0.0;"
    text += "if rank() == 1 { s = sum(recv(ones(900000), 0)); t = clock() - t; } print(all_gather(t)[1] < 3);"
    status, out, err, _ = job(toy, launcher, 2, ["-e", text])
    return None if (status, out) == (0, "true\n") else f"{status} {out}{err}"


EXAMPLES = {"fft2": "true\n", "kmeans": "true\n", "heat": "true\n", "llama": None}


def example(toy, name, launcher, ranks, flags=()):
    """The transform is fft2, and the heat that of one rank, bit for bit; the model tells the published story."""
    root = pathlib.Path(__file__).resolve().parent.parent
    want = EXAMPLES[name] or (root / "examples/llama/stories260K/expected-greedy-200.txt").read_text()
    status, out, err, _ = job(toy, launcher, ranks, [*flags, f"examples/ranks/{name}.toy"], root)
    return None if (status, out) == (0, want) else f"{status} {out}{err}"


def all_cases():
    openmpi, mpich = both(OPEN), both(MPICH)
    marks = MARKS
    yield "ranks: sums on 2, evaluated", lambda toy: sums(toy, OPEN, 2, ["--jit=never"]), openmpi, *marks
    yield "ranks: sums on 3, compiled", lambda toy: sums(
        toy, MPICH, 3, ["--jit=always"], "", (1, 29, 1009), ("bool", "i32", "f16", "f32", "c128")
    ), mpich, *marks
    yield "ranks: sums on 4, by halving", lambda toy: sums(
        toy, OPEN, 4, ["--unpack"], "halving", (0, 1, 29, 1009), ("u8", "bf16", "f64", "c64")
    ), openmpi, *marks
    yield "ranks: sums on 4, with openings", lambda toy: sums(
        toy, MPICH, 4, ["--jit=always"], "", (1, 28, 29, 1009), ("i32", "f16", "f64", "c64")
    ), mpich, *marks
    yield "ranks: sums on 4, with openings of MPI", lambda toy: sums(
        toy, OPEN, 4, [], "", (0, 1, 29, 1009), ("bool", "bf16", "f32", "c128"), TOY_RANKS_MAILBOXES="0"
    ), openmpi, *marks
    yield "ranks: sums on 5", lambda toy: sums(
        toy, OPEN, 5, [], "", (1, 28, 1009), ("i64", "f16", "f32", "c64")
    ), openmpi, *marks
    for ranks, schedule in ((r, s) for r in range(1, 6) for s in ("doubling", "halving", "gather", "parts")):
        for launcher, flag in ((OPEN, "--jit=always"), (MPICH, "--dynamic=on")):
            name = f"ranks: all sums on {ranks} by {schedule}, {launcher}"
            sizes = (0, 1, 28, 29, 1009, 1000000)
            run = lambda toy, m=launcher, r=ranks, f=flag, s=schedule, n=sizes: sums(toy, m, r, [f], s, n)
            yield name, run, both(launcher), "nightly", *marks
    yield "ranks: moves on 2, compiled", lambda toy: moves(toy, OPEN, 2, ["--jit=always"]), openmpi, *marks
    yield "ranks: moves on 3, evaluated", lambda toy: moves(toy, MPICH, 3, ["--jit=never"]), mpich, *marks
    for ranks in (1, 2, 3, 4, 5):
        for flag in ("--jit=always", "--unpack", "--dynamic=on"):
            run = lambda toy, r=ranks, f=flag: moves(toy, OPEN, r, [f], 1000)
            yield f"ranks: moves on {ranks}, {flag}", run, openmpi, "nightly", *marks
    for ranks, launcher, flag in ((2, OPEN, "--jit=never"), (3, MPICH, "--jit=always"), (5, OPEN, "--jit=always")):
        run = lambda toy, m=launcher, r=ranks, f=flag: sends_first(toy, m, r, [f])
        yield f"ranks: sends first on {ranks}", run, both(launcher), *marks
    for launcher in (OPEN, MPICH):
        first, second = ([], ["nightly"]) if launcher == OPEN else (["nightly"], [])
        run = lambda toy, m=launcher: bounded(toy, m)
        yield f"ranks: bounded sends, {launcher}", run, both(launcher), *first, *marks
        run = lambda toy, m=launcher: behind(toy, m)
        yield f"ranks: sends behind another, {launcher}", run, both(launcher), *second, *marks
        run = lambda toy, m=launcher: hands_over(toy, m)
        yield f"ranks: sent in sleep, {launcher}", run, both(launcher), *second, *marks
    for name in EXAMPLES:
        for ranks, launcher in ((1, OPEN), (2, OPEN if name == "llama" else MPICH), (4, OPEN)):
            run = lambda toy, e=name, m=launcher, r=ranks: example(toy, e, m, r)
            yield f"ranks: example {name} on {ranks}", run, both(launcher), *marks
            for flag in ("--jit=always", "--unpack", "--dynamic=on", "--check-replicated"):
                run = lambda toy, e=name, m=launcher, r=ranks, f=flag: example(toy, e, m, r, [f])
                yield f"ranks: example {name} on {ranks}, {flag}", run, both(launcher), "nightly", *marks
