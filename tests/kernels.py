# SPDX-License-Identifier: Apache-2.0
"""Emitted kernels beside the reference evaluator, bit for bit: every optimisation level and number of threads, sizes
around the widths of vectors, blocks and tiles, special values. Values are compared with NumPy's where it has them."""
import os
import pathlib
import subprocess
import tempfile

import numpy as np

from programs import is_sanitized, run_parts

MODES = [
    ["--jit=always", "-O0", "--threads=1"],
    ["--jit=always", "-O3", "--threads=1"],
    ["--jit=always", "-O3", "--threads=2"],
    ["--jit=always", "-O2", "--threads=1", "--no-fuse"],
    ["--jit=always", "-O3", "--threads=2", "--dynamic=on"],
]
ON_DEVICE = os.environ.get("TOY_TEST_DEVICE") == "fake"
SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    np.inf,
    -np.inf,
    np.nan,
    5e-324,
    -5e-324,
    1e-310,
    2.0**512,
]
SPECIAL += [-(2.0**512), 1.7976931348623157e308, 1e-160, -1e-160, 1e160, 7.25, -7.25, 1e16, 2.0**52, 2.0**53 + 2]


def results(toy, flags, inputs, expressions):
    """What each expression of a function of the inputs gives."""
    with tempfile.TemporaryDirectory() as folder:
        names, lines = ", ".join(inputs), []
        for name, value in inputs.items():
            np.save(f"{folder}/{name}.npy", value)
            lines.append(f'var {name} = load("{name}.npy");')
        for i, expression in enumerate(expressions):
            lines += [f"def f{i}({names}) {{ return {expression}; }}", f'save("out{i}.npy", f{i}({names}));']
        pathlib.Path(folder, "p.toy").write_text("\n".join(lines) + "\n")
        done = subprocess.run([toy, *flags, "p.toy"], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f"{flags}: {done.stderr[:2000]}")
        return [np.load(f"{folder}/out{i}.npy") for i in range(len(expressions))]


def chosen(modes, number, count):
    """So many of the modes, in turn by a test's number; all of them if the number is None."""
    return modes if number is None else [modes[(number * count + i) % len(modes)] for i in range(count)]


def bits(x):
    """Of values whose NaN are all the same."""
    parts = np.ascontiguousarray(x).view(x.real.dtype)
    return (
        np.where(np.isnan(parts), np.nan, parts).astype(parts.dtype).tobytes()
        if parts.dtype.kind == "f"
        else x.tobytes()
    )


def same(got, want):
    """The same bits; on a device extraordinary arguments have others (tests/device.py compares ordinary ones')."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    if bits(got) == bits(want) or not ON_DEVICE or got.dtype.kind not in "fc":
        return bits(got) == bits(want)
    g, w = (np.ascontiguousarray(x).view(x.real.dtype) for x in (got, want))
    with np.errstate(all="ignore"):
        near = (g != 0) & (w != 0) & (np.abs(g - w) <= 4 * np.spacing(np.maximum(np.abs(g), np.abs(w))))
    return bool(np.all((g == w) & (np.signbit(g) == np.signbit(w)) | np.isnan(g) & np.isnan(w) | near))


def differences(toy, inputs, expressions, peers=None, modes=MODES):
    """Expressions whose bits are not the evaluator's in one of the modes; or not the peers' values, if there are
    some."""
    want, problems = results(toy, ["--jit=never"], inputs, expressions), []
    for flags in modes:
        for expression, w, g in zip(expressions, want, results(toy, flags, inputs, expressions)):
            if not same(g, w):
                at = np.flatnonzero(~((w == g) | ((w != w) & (g != g))))[:3] if w.shape == g.shape else []
                problems.append(f"{expression} {flags}: {[(int(i), w.flat[i], g.flat[i]) for i in at]}")
    for expression, w, peer in zip(expressions, want, peers or []):
        if peer is not None and not (w.shape == peer.shape and np.array_equal(w, peer, equal_nan=w.dtype.kind in "fc")):
            problems.append(f"{expression}: not NumPy's")
    return "\n".join(problems[:20]) or None


def powers(toy, dtype, number):
    """Constant and computed exponents; squares, reciprocals and roots are rounded once."""
    rng = np.random.default_rng(3)
    with np.errstate(all="ignore"):
        x = np.concatenate([SPECIAL, rng.standard_normal(101), np.exp(rng.uniform(-200, 200, 50))]).astype(dtype)
    exponents = [0, 1, 2, 3, 4, 5, 7, 16, 63, 64, 65, -1, -2, -3, 0.5, -0.5, 1.5]
    expressions = [f"x ** {n}" for n in exponents] + ["x ** y", "y ** x", "(x + y) ** 2 - x", "sum(x ** 3)"]
    expressions += [f"pow(x, p{i})" for i in range(len(exponents))]
    inputs = {"x": x, "y": rng.permutation(x), **{f"p{i}": np.asarray(n, dtype) for i, n in enumerate(exponents)}}
    with np.errstate(all="ignore"):
        y, peers = inputs["y"], [None] * len(expressions)
        for n, peer in [
            (0, np.ones_like(x)),
            (1, x),
            (2, x * x),
            (-1, 1 / x),
            (0.5, np.where(x == -np.inf, np.inf, np.sqrt(x + 0))),
        ]:
            peers[exponents.index(n)] = peers[len(exponents) + 4 + exponents.index(n)] = peer.astype(dtype)
    return differences(toy, inputs, expressions, peers, chosen(MODES, number, 2))


def integer_powers(toy, _, number):
    expressions = (
        [f"x ** {n}" for n in (0, 1, 2, 3, 5, 31, 64, 65, 1000)] + [f"i32(x) ** {n}" for n in (2, 7)] + ["u8(x) ** 3"]
    )
    x = np.array([0, 1, -1, 2, -3, 7, 2**31, -(2**63), 2**63 - 1, 12345])
    return differences(toy, {"x": x}, expressions, modes=chosen(MODES, number, 2))


def cast(x, dtype):
    """To a dtype of NumPy; floats that have no integer are 0."""
    with np.errstate(all="ignore"):
        return (
            np.nan_to_num(x, nan=0, posinf=9, neginf=-9).astype(dtype)
            if dtype in ("?", "u1", "i4", "i8")
            else x.astype(dtype)
        )


def reductions(toy, dtype, shape, number):
    """All reductions over the last axis, leading axes and everything; NaN, infinities and zeros of both signs, also in
    rows of nothing else."""
    rng = np.random.default_rng(sum(shape))
    x = rng.standard_normal(shape)
    special = rng.choice([0.0, -0.0, np.nan, np.inf, -np.inf, 3.0], shape)
    x = np.where(rng.random(shape) < 0.5 * rng.random((shape[0],) + (1,) * (len(shape) - 1)), special, x)
    x[0], x[-1] = -0.0, np.where(rng.random(shape[1:]) < 0.5, 0.0, -0.0)
    if shape[0] > 2:
        x[1] = -np.inf
    x = cast(x if dtype[0] != "u" else abs(x * 50), dtype)
    if dtype[0] == "c":
        x = x + x[::-1] * x.dtype.type(1j)
    names = "sum prod" if dtype[0] == "c" else "sum prod any all" if dtype == "?" else "sum prod max min argmax argmin"
    axes = [*range(len(shape)), (0, 1)] if len(shape) < 3 else [0, 1, 2, (0, 2), (1, 2), (0, 1, 2)]
    expressions, peers = [], []
    for name in names.split():
        for axis in axes:
            if isinstance(axis, tuple) and name.startswith("arg"):
                continue
            operand = "x" if name != "prod" or dtype[0] not in "fc" else "0.5 * x"
            expressions.append(f"{name}({operand}, axis={axis})")
            peer = None
            if name in ("max", "min", "argmax", "argmin", "any", "all"):
                peer = getattr(np, name)(x, axis=axis)
            peers.append(peer)
    expressions += ["sum(x * x + x, axis=-1)"] + (
        ["max(x + x, axis=-1)", "max(transpose(x), axis=0)"] if "max" in names else []
    )
    with np.errstate(all="ignore"):
        return differences(toy, {"x": x}, expressions, peers, chosen(MODES[::2], number, 1))


SHAPES = [
    (5, 1),
    (17, 2),
    (16, 3),
    (40, 3),
    (3, 7),
    (33, 8),
    (18, 15),
    (16, 16),
    (9, 17),
    (20, 31),
    (6, 32),
    (7, 33),
    (3, 64),
    (4, 100),
    (2, 8200),
]
SHAPES += [(5, 6, 1), (3, 4, 5), (2, 3, 35), (9, 2, 3), (300, 7), (65, 1000)]
# Of each dtype every day: what stands for registers, tiles and what is left, in turn.
WHOLE, REST = [(16, 16), (4, 100)], [(7, 33), (2, 3, 35)]
DAILY = {
    "f4": [*WHOLE, *REST, (5, 1), (17, 2), (3, 7), (33, 8), (9, 17), (3, 64), (9, 2, 3), (65, 1000)],
    "f8": WHOLE,
    "c8": [*REST, (3, 4, 5)],
    "c16": [*WHOLE, (5, 6, 1)],
    "i4": REST,
    "i8": WHOLE,
    "u1": REST,
    "?": WHOLE,
}


def permutations(toy, dtype, number):
    """Axes in other orders: sizes around tiles and blocks of registers, sizes 0 and 1, alone and inside of groups."""
    rng, problems = np.random.default_rng(5), []
    orders = {
        2: [(1, 0)],
        3: [(2, 1, 0), (0, 2, 1), (1, 2, 0), (2, 0, 1), (1, 0, 2)],
        4: [(0, 3, 1, 2), (0, 2, 3, 1), (3, 1, 2, 0), (0, 2, 1, 3)],
    }
    shapes = [
        (16, 16),
        (33, 65),
        (64, 64),
        (129, 70),
        (300, 9),
        (7, 400),
        (1, 300),
        (0, 9),
        (17, 33, 40),
        (2, 130, 31),
        (70, 3, 66),
        (3, 20, 7, 35),
        (2, 1, 48, 50),
    ]
    for i, shape in enumerate(shapes):
        x = rng.standard_normal(shape)
        x = cast(x * 50 if dtype[0] != "u" else abs(x * 50), dtype)
        x = x * x.dtype.type(1 + 2j) if dtype[0] == "c" else x
        expressions, peers = [], []
        for order in orders[len(shape)]:
            text = ", ".join(map(str, order))
            y = x.transpose(order)
            expressions += [
                f"transpose(x, {text})",
                f"transpose(x, {text}) + transpose(2 * x, {text}) * {'u8' if dtype == 'u1' else 'f32' if dtype == 'f4' else 'f64'}(arange({y.shape[-1]}))",
            ]
            peers += [y, None]
        if shape[0] == shape[-1]:
            expressions.append(
                "x + transpose(x) - 2 * transpose(transpose(x) + x)" if dtype != "u1" else "x + transpose(x)"
            )
            peers.append(None)
        modes = chosen(MODES[::2], number if number is None else number + i, 1)
        problems.append(differences(toy, {"x": x}, expressions, peers, modes))
    return "\n".join(filter(None, problems)) or None


def joins(toy, dtype, number):
    """Along every axis: of inputs, of what is computed, of equal and different sizes (0 and 1 too), few and many,
    inside of groups."""
    rng = np.random.default_rng(6)
    make = lambda *shape: cast(rng.standard_normal(shape) * 50 + 60, dtype)
    inputs = {
        "a": make(7),
        "b": make(100),
        "e": make(0),
        "m": make(5, 33),
        "n": make(5, 1),
        "p": make(9, 33),
        "c": make(3, 4, 20),
        "large": make(300000),
    }
    a, b, e, m, n, p, c, large = inputs.values()
    rows = [
        ("cat([a, b, e, a])", np.concatenate([a, b, e, a])),
        ("cat([a * a, b, a + a])", np.concatenate([a * a, b, a + a])),
        ("cat([a, b]) + cat([a, b])", 2 * np.concatenate([a, b])),
        ("cat([a, b]) + cat([b, a])", np.concatenate([a, b]) + np.concatenate([b, a])),
        ("cat([m, p])", np.concatenate([m, p])),
        ("cat([m, p * p]) * cat([m, p])", np.concatenate([m, p * p]) * np.concatenate([m, p])),
        ("cat([m, n, m], axis=1)", np.concatenate([m, n, m], 1)),
        ("cat([m, n + n, m], axis=1)", np.concatenate([m, n + n, m], 1)),
        ("cat([n, n], axis=1)", np.concatenate([n, n], 1)),
        ("stack([m, m, m])", np.stack([m, m, m])),
        ("stack([m, m + m], axis=1)", np.stack([m, m + m], 1)),
        ("stack([m, m], axis=-1)", np.stack([m, m], -1)),
        ("cat([c, c], axis=1)", np.concatenate([c, c], 1)),
        ("cat([c, c * c, c], axis=0)", np.concatenate([c, c * c, c], 0)),
        ("transpose(cat([m, m]))", np.concatenate([m, m]).T),
        (f"cat([{', '.join(['a', 'b'] * 9)}])", np.concatenate([a, b] * 9)),
        (f"stack([{', '.join(['n + n', 'n'] * 6)}], axis=-1)", np.stack([n + n, n] * 6, -1)),
        (f"cat([{', '.join(['c'] * 11)}], axis=2)", np.concatenate([c] * 11, 2)),
        ("cat([large, a, large, large])", np.concatenate([large, a, large, large])),
    ]
    return differences(toy, inputs, [r[0] for r in rows], [r[1] for r in rows], chosen(MODES[::2], number, 2))


def every_single(toy):
    """The unit test of functions of f32 takes a sample every day; all of them take ten minutes."""
    tests = pathlib.Path(toy).resolve().with_name("unit-tests")
    command = [tests, "--gtest_filter=ElementFunctions.SinglePrecision"]
    done = subprocess.run(command, env=dict(os.environ, TOY_EVERY_F32="1"), capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode else None


FUNCTIONS = "exp exp2 expm1 log log1p log2 log10 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh erf"


def functions(toy, dtype, number):
    """Element functions in loops of all lengths: whole registers, what is left, and arguments that no lane takes among
    others."""
    rng = np.random.default_rng(8)
    with np.errstate(all="ignore"):
        special = np.asarray(SPECIAL, dtype)
    x = (rng.standard_normal(1000) * np.exp2(rng.integers(-6, 7, 1000))).astype(dtype)
    x[::37] = rng.choice(special, len(x[::37]))
    inputs = {f"x{n}": x[:n] for n in (1, 2, 7, 16, 33, 1000)}
    expressions = [f"{f}({name})" for f in FUNCTIONS.split() for name in ("x33", "x1000")]
    expressions += [f"{f}({name})" for f in ("exp", "log", "sin", "tanh") for name in ("x1", "x2", "x7", "x16")]
    expressions += [
        "atan2(x1000, x1000 * x1000 - 1)",
        "x1000 ** 1.7",
        "abs(x1000) ** x1000",
        "softmax(x1000)",
        "tanh(exp(sin(x1000)))",
    ]
    return differences(toy, inputs, expressions, modes=chosen(MODES[:3], number, 2))


def divisions(toy, dtype, number):
    """`//` and `%` by all kinds of divisors in loops, as the evaluator computes them one by one, and for integers as
    NumPy does."""
    rng = np.random.default_rng(9)
    if dtype[0] == "f":
        with np.errstate(all="ignore"):
            edges = np.asarray(SPECIAL + [0.1, 0.3, 1e15, 4503599627370495.5, -1e15, 3e-300], dtype)
        more = (rng.standard_normal(400) * np.exp2(rng.integers(-20, 40, 400))).astype(dtype)
        some = np.array([0.7, -3, 1e-3], dtype)
    else:
        info = np.iinfo(dtype)
        edges = np.array(
            [info.min, info.max, info.min + 1, info.max - 1, 0, 1, 2, 3, 7] + ([-1, -2, -7] if info.min else [255]),
            dtype,
        )
        edges = np.concatenate(
            [edges, *([np.array([2**51, 2**52 - 1, 2**52, 2**53 + 1, -(2**52)])] if dtype == "i8" else [])]
        ).astype(dtype)
        more = rng.integers(info.min, info.max, 400, dtype, endpoint=True)
        more[::3] //= np.array(100, dtype)
        some = np.array([7, 100, 3] if not info.min else [7, -7, -1], dtype)
    x, y = (v.ravel() for v in np.meshgrid(np.concatenate([edges, more[:50]]), np.concatenate([edges, more[50:60]])))
    x, y = np.concatenate([x, more]), np.concatenate([y, rng.permutation(more)])
    if dtype[0] != "f":
        x, y = x[y != 0], y[y != 0]
    name = {"u1": "u8", "i4": "i32", "i8": "i64", "f4": "f32", "f8": "f64"}[dtype]
    expressions, peers = ["x // y", "x % y", "sum(x % y)"], [None] * 3
    if dtype[0] != "f":
        with np.errstate(all="ignore"):
            peers = [x // y, x % y, None]
    for n in some:
        expressions += [f"x // {name}({n!r})", f"x % {name}({n!r})"]
    expressions = [
        e.replace("np.float32", "")
        .replace("np.float64", "")
        .replace("np.int32", "")
        .replace("np.int64", "")
        .replace("np.uint8", "")
        for e in expressions
    ]
    return differences(toy, {"x": x, "y": y}, expressions, peers, modes=chosen(MODES[:3], number, 1))


def division_by_zero(toy):
    """The error of one element among many, wherever it stands, also in sums, joins and results that take an operand's
    place."""
    programs = []
    for at in (0, 5, 99999):
        for expression in (
            "x // y",
            "x % y",
            "sum(x % y)",
            "cat([x, x // y])",
            "sum(reshape(x // y, [100, 1000]), 0)",
            "x + x // y * y",
        ):
            programs.append(
                f"def f(x, y) {{ return {expression}; }}\nvar y = ones(100000, dtype=i64); y[{at}] = 0;\nprint(f(arange(100000), y)[0]);"
            )
    modes = ["--jit=never", "--jit=always -O0", "--jit=always -O3", "--jit=always -O3 --threads=2"]
    problems = []
    for program, runs in zip(programs, run_parts(toy, [(p.replace("[0]);", ");"), modes) for p in programs])):
        if (
            any(
                (run.status, run.stdout, run.stderr) != (runs[0].status, runs[0].stdout, runs[0].stderr) for run in runs
            )
            or "R0102" not in runs[0].stderr
        ):
            problems.append(f"{program}: {[run.stderr for run in runs]}")
    return "\n".join(problems[:5]) or None


def tiny_rows(toy):
    """Rows of 1 to 9 elements of all dtypes, with special values, and reductions of everything beside one element."""
    rng, inputs, expressions, peers = np.random.default_rng(12), {}, [], []
    for dtype in ("f4", "f8", "c8", "c16", "i8", "?"):
        for n in (1, 3, 4, 7):
            special = rng.choice([0.0, -0.0, np.nan, np.inf, -np.inf, 3.0, -2.0, 1.5], (2, 37, n))
            x = np.where(rng.random((2, 37, n)) < 0.3, special, rng.standard_normal((2, 37, n)))
            x = cast(x if dtype[0] in "fc" else abs(np.nan_to_num(x, posinf=9, neginf=7) * 9), dtype)
            if dtype[0] == "c":
                with np.errstate(invalid="ignore"):
                    x = x + x[:, ::-1] * x.dtype.type(1j)
            name = f"x{len(inputs)}"
            inputs[name] = x
            for f in ("sum", "prod") if dtype[0] == "c" else ("sum", "prod", "max", "min", "any", "all"):
                expressions.append(f"{f}({name}, axis=-1)" if n != 3 else f"{f}({name}[:, ::2], axis=2)")
                plain = f in ("max", "min", "any", "all")
                peers.append(getattr(np, f)(x if n != 3 else x[:, ::2], axis=-1) if plain else None)
    inputs["m"] = rng.standard_normal((50, 333))
    for e in ("sum(abs2(m - mean(m, keepdims=true)))", "var(m)", "m * sum(m, keepdims=true)", "max(m - m[:1, :1])"):
        expressions.append(e)
        peers.append(None)
    return differences(toy, inputs, expressions, peers, modes=MODES[1:2])


def integer_products(toy):
    """Sizes around the registers and rows that go together; transposed operands; products that wrap."""
    rng, inputs, expressions, peers = np.random.default_rng(13), {}, [], []
    for dtype, numpy in (("u8", np.uint8), ("i32", np.int32), ("i64", np.int64)):
        info = np.iinfo(numpy)
        for m, k, n in (
            (1, 3, 16),
            (4, 0, 40),
            (5, 7, 31),
            (9, 33, 128),
            (3, 1, 257),
            (64, 64, 64),
            (2, 5, 7),
            (29, 257, 65),
        ):
            a, b = (rng.integers(info.min, info.max, s, numpy, endpoint=True) for s in ((m, k), (k, n)))
            name = f"{dtype}_{m}_{n}"
            inputs |= {f"a{name}": a, f"b{name}": b, f"c{name}": np.ascontiguousarray(b.T)}
            expressions += [
                f"a{name} @ b{name}",
                f"a{name} @ transpose(c{name})",
                f"transpose(b{name}) @ transpose(a{name})",
            ]
            with np.errstate(all="ignore"):
                peers += [a @ b, a @ b, b.T @ a.T]
    a, b = rng.integers(-(2**40), 2**40, (2, 3, 6, 5)), rng.integers(-(2**40), 2**40, (3, 5, 35))
    inputs |= {"a": a, "b": b}
    return differences(toy, inputs, expressions + ["a @ b"], peers + [a @ b], modes=MODES[1:3])


def moved_words(toy, _, number):
    """c64 that is only moved, with every bit: signs of zeros, NaN, infinities."""
    rng = np.random.default_rng(14)
    parts = rng.choice([0.0, -0.0, np.nan, np.inf, -1.5, 7.25], (40, 9, 70)).astype("f4")
    x = parts.view("c8")
    z = np.complex64(complex(-0.0, 2.5))
    rows = [
        ("permute(x, 2, 0, 1)", x.transpose(2, 0, 1)),
        ("permute(x, 1, 2, 0)", x.transpose(1, 2, 0)),
        ("transpose(x[:, 0, :3])", x[:, 0, :3].T),
        ("pad(x, 2, z)", np.pad(x, 2, constant_values=z)),
        ("cat([x[::2], flip(x, axis=0)])", np.concatenate([x[::2], x[::-1]])),
        ("repeat(x, 3, axis=-1)", np.repeat(x, 3, -1)),
        ("roll(x, 5, axis=1)", np.roll(x, 5, 1)),
        ("expand(x[:, :1], 40, 9, 35)", np.broadcast_to(x[:, :1], x.shape)),
        ("diag(x[:, 3])", np.diagonal(x[:, 3])),
        ("full([4, 5], z)", np.full((4, 5), z)),
    ]
    return differences(
        toy, {"x": x, "z": z}, [r[0] for r in rows], [np.asarray(r[1]) for r in rows], chosen(MODES[::2], number, 2)
    )


# A name, the test, its dtypes, and how many of them are for every day.
BY_DTYPE = [
    ("divisions of", divisions, ("u1", "i4", "i8", "f4", "f8"), 5),
    ("functions on lanes of", functions, ("f4", "f8"), 2),
    ("joins of", joins, ("f4", "f8", "c8", "i4"), 1),
    ("permutations of", permutations, ("f4", "c16", "f8", "c8", "u1", "i4"), 2),
    ("powers on", powers, ("f4", "f8"), 2),
    ("powers of", integer_powers, ("i8",), 1),
    ("moves of", moved_words, ("c8",), 1),
]


def all_cases():
    """Every day in some of the modes, in turn; at night in all."""
    yield "rows of a few elements", tiny_rows
    yield "products of integers", integer_products
    yield "division by zero in loops", division_by_zero
    yield "functions of every f32", every_single, "nightly", "release", "long"
    for name, test, dtypes, daily in BY_DTYPE:
        for i, dtype in enumerate(dtypes):
            if i < daily:
                yield f"{name} {dtype}", lambda toy, t=test, d=dtype, i=i: t(toy, d, i)
            yield f"{name} {dtype}, every mode", lambda toy, t=test, d=dtype: t(toy, d, None), "nightly"
    for i, (dtype, shape) in enumerate((dtype, shape) for dtype, shapes in DAILY.items() for shape in shapes):
        if i % 2 == is_sanitized():
            yield f"reductions of {dtype} {shape}", lambda toy, d=dtype, s=shape, i=i: reductions(toy, d, s, i // 2)
    for dtype, shape in ((dtype, shape) for dtype in DAILY for shape in SHAPES):
        name = f"reductions of {dtype} {shape}, every mode"
        yield name, lambda toy, d=dtype, s=shape: reductions(toy, d, s, None), "nightly"
