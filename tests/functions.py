# SPDX-License-Identifier: Apache-2.0
"""Complex functions against tables: correctly rounded values (at most 4 ulp a part), special values of C99 Annex G,
hard divisions. Evaluated and compiled code give the same bits."""
import collections
import os
import pathlib
import tempfile

import numpy as np

import programs

ON_DEVICE = (
    os.environ.get("TOY_TEST_DEVICE") == "fake"
)  # extraordinary arguments have other bits there: its values are compared with the tables
DATA = pathlib.Path(__file__).resolve().parent / "data"
LIMIT = 4.0
INF, NAN, PI = float("inf"), float("nan"), float(np.pi)
# C99 Annex G (C17 wording), arguments and values; the sign of a zero counts, that of a NaN does not.
SPECIAL = {
    "sqrt": [
        ((0.0, 0.0), (0.0, 0.0)),
        ((-0.0, 0.0), (0.0, 0.0)),
        ((0.0, -0.0), (0.0, -0.0)),
        ((-4.0, 0.0), (0.0, 2.0)),
        ((-4.0, -0.0), (0.0, -2.0)),
        ((4.0, -0.0), (2.0, -0.0)),
        ((INF, 0.0), (INF, 0.0)),
        ((-INF, 0.0), (0.0, INF)),
        ((1.0, INF), (INF, INF)),
        ((-INF, INF), (INF, INF)),
        ((NAN, 0.0), (NAN, NAN)),
        ((INF, NAN), (INF, NAN)),
        ((NAN, INF), (INF, INF)),
    ],
    "log": [
        ((0.0, 0.0), (-INF, 0.0)),
        ((-0.0, 0.0), (-INF, PI)),
        ((0.0, -0.0), (-INF, -0.0)),
        ((-1.0, 0.0), (0.0, PI)),
        ((-1.0, -0.0), (0.0, -PI)),
        ((INF, 0.0), (INF, 0.0)),
        ((-INF, 0.0), (INF, PI)),
        ((1.0, INF), (INF, PI / 2)),
        ((INF, INF), (INF, PI / 4)),
        ((-INF, INF), (INF, 3 * PI / 4)),
        ((NAN, 0.0), (NAN, NAN)),
        ((INF, NAN), (INF, NAN)),
        ((NAN, INF), (INF, NAN)),
    ],
    "exp": [
        ((0.0, 0.0), (1.0, 0.0)),
        ((-0.0, 0.0), (1.0, 0.0)),
        ((0.0, -0.0), (1.0, -0.0)),
        ((1.0, INF), (NAN, NAN)),
        ((INF, 0.0), (INF, 0.0)),
        ((-INF, INF), (0.0, 0.0)),
        ((INF, INF), (INF, NAN)),
        ((INF, NAN), (INF, NAN)),
        ((NAN, 0.0), (NAN, 0.0)),
        ((NAN, 1.0), (NAN, NAN)),
    ],
    "tanh": [
        ((0.0, 0.0), (0.0, 0.0)),
        ((-0.0, 0.0), (-0.0, 0.0)),
        ((INF, 0.0), (1.0, 0.0)),
        ((-INF, 0.0), (-1.0, 0.0)),
        ((1.0, INF), (NAN, NAN)),
        ((INF, INF), (1.0, 0.0)),
        ((INF, NAN), (1.0, 0.0)),
        ((NAN, 0.0), (NAN, 0.0)),
        ((710.0, 1.0), (1.0, 0.0)),
        ((1e6, 2.0), (1.0, -0.0)),
    ],
    "asin": [
        ((0.0, 0.0), (0.0, 0.0)),
        ((-0.0, -0.0), (-0.0, -0.0)),
        ((1.0, INF), (0.0, INF)),
        ((INF, INF), (PI / 4, INF)),
        ((NAN, INF), (NAN, INF)),
    ],
    "acos": [
        ((0.0, 0.0), (PI / 2, -0.0)),
        ((-0.0, 0.0), (PI / 2, -0.0)),
        ((0.0, -0.0), (PI / 2, 0.0)),
        ((-INF, 1.0), (PI, -INF)),
        ((INF, 1.0), (0.0, -INF)),
    ],
    "atanh": [
        ((0.0, 0.0), (0.0, 0.0)),
        ((1.0, 0.0), (INF, 0.0)),
        ((INF, INF), (0.0, PI / 2)),
        ((-INF, INF), (-0.0, PI / 2)),
        ((NAN, INF), (0.0, PI / 2)),
    ],
    "acosh": [
        ((0.0, 0.0), (0.0, PI / 2)),
        ((1.0, INF), (INF, PI / 2)),
        ((-INF, 1.0), (INF, PI)),
        ((INF, 1.0), (INF, 0.0)),
        ((-INF, INF), (INF, 3 * PI / 4)),
    ],
    "sign": [((0.0, 0.0), (0.0, 0.0)), ((3.0, 4.0), (0.6, 0.8)), ((1e308, 1e308), (0.5**0.5, 0.5**0.5))],
}


def power(n):
    return float(np.ldexp(1.0, n))


# Baudin and Smith, A Robust Complex Division in Scilab (2012), table 1: dividends, divisors, quotients.
DIVISIONS = [
    ((1, 1), (1, power(1023)), (power(-1023), -power(-1023))),
    ((1, 1), (power(-1023), power(-1023)), (power(1023), 0)),
    ((power(1023), power(-1023)), (power(677), power(-677)), (power(346), -power(-1008))),
    ((power(1023), power(1023)), (1, 1), (power(1023), 0)),
    ((power(1020), power(-844)), (power(656), power(-780)), (power(364), -power(-1072))),
    ((power(-71), power(1021)), (power(1001), power(-323)), (power(-1072), power(20))),
    ((power(-347), power(-54)), (power(-1037), power(-1058)), (3.8981256045591133e289, 8.174961907852353577e295)),
    ((power(-1074), power(-1074)), (power(-1073), power(-1074)), (0.6, 0.2)),
    ((power(1015), power(-989)), (power(1023), power(1023)), (0.001953125, -0.001953125)),
    ((power(-622), power(-1071)), (power(-343), power(-798)), (1.02951151789360578e-84, 6.97145987515076231e-220)),
]


def literal(x):
    return "nan" if x != x else ("-inf" if x < 0 else "inf") if abs(x) == INF else repr(float(x))


def evaluate(toy, flags, expressions, arguments):
    """Results of `expression` over z (and w), one array each; flags choose evaluation or compilation."""
    with tempfile.TemporaryDirectory() as folder:
        text = "".join(
            f"var {name} = complex([{', '.join(literal(v[0]) for v in values)}], [{', '.join(literal(v[1]) for v in values)}]);\n"
            for name, values in arguments.items()
        )
        for i, expression in enumerate(expressions):
            text += f'save("{i}.npy", {expression});\n'
        path = os.path.join(folder, "p.toy")
        pathlib.Path(path).write_text(text, encoding="utf-8")
        done = programs.run([toy, *flags, path], cwd=folder)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return [np.load(os.path.join(folder, f"{i}.npy")) for i in range(len(expressions))]


def ulps(value, want, dtype):
    """Distance in units in the last place of the wanted value (subnormals count as the smallest normal number's)."""
    want = np.float64(want)
    size = max(abs(float(want)), float(np.finfo(dtype).tiny))
    return abs(float(value) - float(want)) / float(np.ldexp(1.0, int(np.floor(np.log2(size))) - np.finfo(dtype).nmant))


def table():
    rows = collections.defaultdict(list)
    for line in (DATA / "complex_functions.txt").read_text().splitlines():
        if not line.startswith("#"):
            name, *parts = line.split()
            rows[name].append([float.fromhex(p) for p in parts])
    return rows


def worst(toy, name, rows, dtype):
    """The largest error of a function in a dtype, and where."""
    real = np.float64 if dtype == "c128" else np.float32
    if dtype == "c64":  # arguments that are exact in f32 have the same values; others are moved and compared with c128
        rows = [[*(float(real(x)) for x in row[:-2]), None, None] for row in rows]
    arguments = dict(zip("zw", ([(r[i], r[i + 1]) for r in rows] for i in range(0, len(rows[0]) - 2, 2))))
    calls = [f"{name}({', '.join(f'{to}({a})' for a in arguments)})" for to in (dtype, "c128")]
    evaluated, wide = evaluate(toy, ["--jit=never"], calls, arguments)
    (compiled, _) = evaluate(toy, ["--jit=always", "-O2"], calls, arguments)
    if ON_DEVICE:
        evaluated = compiled
    if evaluated.tobytes() != compiled.tobytes():
        raise AssertionError(f"{name}: evaluated and compiled code differ")
    largest, place = 0.0, None
    for row, got, reference in zip(rows, evaluated, wide):
        want = row[-2:] if dtype == "c128" else (reference.real, reference.imag)
        if dtype == "c64" and not all(1e-37 < abs(w) < 3e38 for w in want):
            continue
        error = max(ulps(got.real, want[0], real), ulps(got.imag, want[1], real))
        if not error <= largest:
            largest, place = error, row[:-2]
    return largest, place


def accuracy(toy, name, rows):
    for dtype in ("c128", "c64"):
        error, place = worst(toy, name, rows, dtype)
        if not error <= LIMIT:
            return f"{name} on {dtype}: {error:.2f} ulp at {place}"
    return None


def same(x, y):
    return (x != x and y != y) or (x == y and np.signbit(x) == np.signbit(y))


def special(toy, name):
    problems = []
    for flags in (["--jit=never"], ["--jit=always", "-O2"]):
        for dtype, real in (("c128", np.float64), ("c64", np.float32)):
            rows = [
                r
                for r in SPECIAL[name]
                if dtype == "c128" or all(abs(part) < 1e30 or part != part or abs(part) == INF for part in r[0])
            ]
            (values,) = evaluate(toy, flags, [f"{name}({dtype}(z))"], {"z": [r[0] for r in rows]})
            for (argument, want), got in zip(rows, values):
                if not all(
                    same(g, real(w)) or abs(float(g) - float(real(w))) <= np.finfo(real).eps * abs(w)
                    for g, w in zip((got.real, got.imag), want)
                ):
                    problems.append(f"{name}({argument}) on {dtype} {flags}: {got}, expected {want}")
    return "\n".join(problems) or None


def divisions(toy):
    problems = []
    for flags in (["--jit=never"], ["--jit=always", "-O2"]):
        (values,) = evaluate(toy, flags, ["z / w"], {"z": [d[0] for d in DIVISIONS], "w": [d[1] for d in DIVISIONS]})
        for row, got in zip(DIVISIONS, values):
            for g, want in zip((got.real, got.imag), row[2]):
                if abs(g - want) > abs(want) * 2.0**-52 and abs(g - want) > power(-1074):
                    problems.append(f"{row[0]} / {row[1]} {flags}: {got}, expected {row[2]}")
    return "\n".join(problems) or None


REAL_LIMIT = {"f32": 1.0, "f64": 2.5}
BINARY = {"pow": "power", "atan2": "arctan2"}
REAL = {
    dtype: "pow atan2 exp expm1 log log1p log2 log10 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh"
    for dtype in ("f64", "f32")
}


def real(toy, name, dtype):
    """Real functions against more digits, over ordinary, tiny and huge arguments; special values as libm's."""
    real, wide = {"f32": (np.float32, np.float64), "f64": (np.float64, np.longdouble)}[dtype]
    rng = np.random.default_rng(11)
    x = np.concatenate(
        [
            rng.standard_normal(3000),
            rng.uniform(-80, 80, 3000),
            np.exp(rng.uniform(-80, 80, 1000)),
            np.arange(-40, 40) * np.pi / 2,
            [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0],
        ]
    ).astype(real)
    y = rng.permutation(x) if name in BINARY else x
    if name == "pow":  # integers too, whose powers are exact, and halves
        x, y = (
            np.concatenate([a, b.ravel().astype(real)])
            for a, b in zip((x, y), np.meshgrid(np.arange(1, 30), np.arange(-20, 21) / 2))
        )
    call = f"{name}({dtype}(real(z)), {dtype}(imag(z)))" if name in BINARY else f"{name}({dtype}(real(z)))"
    arguments = {"z": list(zip(x, y))}
    (evaluated,) = evaluate(toy, ["--jit=never"], [call], arguments)
    (compiled,) = evaluate(toy, ["--jit=always", "-O2"], [call], arguments)
    if evaluated.tobytes() != compiled.tobytes() and not ON_DEVICE:
        return "evaluated and compiled code differ"
    with np.errstate(all="ignore"):
        peer = getattr(np, BINARY.get(name) or ("arc" + name[1:] if name[0] == "a" else name))
        operands = [x, y] if name in BINARY else [x]
        want, rounded = peer(*(v.astype(wide) for v in operands)), peer(*operands)
    problems = []
    for argument, got, exact, near in zip(zip(*operands), compiled, want, rounded):
        if np.isfinite(near) and abs(near) >= np.finfo(real).tiny:
            error = abs(float((wide(got) - exact) / wide(np.spacing(abs(near)))))
            if not error <= REAL_LIMIT[dtype]:
                problems.append(f"{name}{argument!r} on {dtype}: {got!r}, expected {exact!r}, {error:.2f} ulp")
        elif not (same(got, near) or abs(got - near) <= np.finfo(real).tiny):
            problems.append(f"{name}{argument!r} on {dtype}: {got!r}, expected {near!r}")
    return "\n".join(problems[:20]) or None


def angles(toy):
    """atan2 and polar, all quadrants, axes and special values."""
    parts = [0.0, -0.0, 1.0, -1.0, 3e-5, -7.25, 1e300, -1e-300, INF, -INF, NAN, 0.4375, 0.6875, 1e-310]
    pairs = [(x, y) for x in parts for y in parts]
    outputs = [
        evaluate(
            toy,
            flags,
            ["angle(z)", "atan2(imag(z), real(z))", "polar(real(z), imag(z))", "angle(c64(z))"],
            {"z": pairs},
        )
        for flags in (["--jit=never"], ["--jit=always", "-O2"])
    ]
    if ON_DEVICE:
        outputs[0] = outputs[1]
    if any(
        not same(part(p), part(q)) for a, b in zip(*outputs) for p, q in zip(a, b) for part in (np.real, np.imag)
    ):  # NaN has any sign
        return "evaluated and compiled code differ"
    problems = []
    with np.errstate(all="ignore"):
        for (x, y), angle, angle2, polar, single in zip(pairs, *outputs[0]):
            want, narrow = np.arctan2(y, x), np.float32(
                np.arctan2(np.float64(np.float32(y)), np.float64(np.float32(x)))
            )
            if (
                not (same(angle, want) or abs(angle - want) <= np.spacing(abs(want)))
                or angle.tobytes() != angle2.tobytes()
            ):
                problems.append(f"angle({x}, {y}): {angle!r}, expected {want!r}")
            if not (same(single, narrow) or abs(single - narrow) <= np.spacing(abs(narrow))):
                problems.append(f"angle(c64({x}, {y})): {single!r}, expected {narrow!r}")
            for got, part in zip((polar.real, polar.imag), (x * np.cos(y), x * np.sin(y))):
                if not (same(got, part) or abs(got - part) <= 2 * np.spacing(abs(part))):
                    problems.append(f"polar({x}, {y}): {got!r}, expected {part!r}")
    return "\n".join(problems[:20]) or None


def all_cases():
    for dtype, names in REAL.items():
        for name in names.split():
            yield f"{name} on {dtype}", lambda toy, n=name, d=dtype: real(toy, n, d)
    yield "angles", angles
    for name, rows in table().items():
        yield f"accuracy of {name}", lambda toy, n=name, r=rows: accuracy(toy, n, r)
    for name in SPECIAL:
        yield f"special values of {name}", lambda toy, n=name: special(toy, n)
    yield "hard divisions", divisions


if __name__ == "__main__":  # the report of docs/accuracy.md
    import sys

    print("| function | c128 | c64 |\n| --- | --- | --- |")
    for function, entries in table().items():
        print(
            f"| `{function}` | {worst(sys.argv[1], function, entries, 'c128')[0]:.2f} | {worst(sys.argv[1], function, entries, 'c64')[0]:.2f} |"
        )
