# SPDX-License-Identifier: Apache-2.0
"""Transforms, scans, sorting, indexing by data and convolutions beside NumPy, where their kernels divide the work:
lengths around registers and blocks, other axes than the last, rows that begin anywhere, empty ones; the same bits on
one thread and on two, evaluated and compiled."""
import pathlib
import re
import subprocess
import tempfile

import numpy as np

import libraries

# The first is compared with NumPy, the others with the first; each one of the two ways that differ, or both at once.
AT_NIGHT = ("--jit=never --threads=1", "--jit=always --threads=1", "--jit=never --threads=2")
DAILY = ("--jit=never --threads=1", "--jit=always --threads=2")
EPS = {"f4": 1.2e-7, "c8": 1.2e-7, "f8": 2.3e-16, "c16": 2.3e-16}


class Program:
    """Expressions over arrays, what NumPy gives for them, and how far they may be from it (0: equal)."""

    def __init__(self, configurations):
        self.inputs, self.rows, self.functions, self.configurations = [], [], "", configurations

    def input(self, array):
        self.inputs.append(np.ascontiguousarray(array))
        return f"x{len(self.inputs) - 1}"

    def row(self, expression, expected, tolerance=0.0):
        self.rows.append((expression, np.asarray(expected), tolerance))

    def run(self, toy, flags, folder):
        text = "".join(f'var x{i} = load("x{i}.npy");\n' for i in range(len(self.inputs)))
        text += self.functions
        text += "".join(f'save("r{i}.npy", {row[0]});\n' for i, row in enumerate(self.rows))
        (folder / "p.toy").write_text(text)
        done = subprocess.run([toy, *flags.split(), "p.toy"], cwd=folder, capture_output=True, text=True, timeout=600)
        if done.returncode:
            return None, f"{flags}: {done.stderr[:500]}"
        return [np.load(folder / f"r{i}.npy") for i in range(len(self.rows))], None

    def check(self, toy):
        with tempfile.TemporaryDirectory() as name:
            folder, first = pathlib.Path(name), None
            for i, array in enumerate(self.inputs):
                np.save(folder / f"x{i}.npy", array)
            for flags in self.configurations:
                results, problem = self.run(toy, flags, folder)
                if problem := problem or (self.others(flags, first, results) if first else self.wrong(results)):
                    return problem
                first = first or results
        return None

    def others(self, flags, first, results):
        """What has other bits than the first time."""
        for row, one, other in zip(self.rows, first, results):
            if (one.dtype, one.shape, one.tobytes()) != (other.dtype, other.shape, other.tobytes()):
                return f"{row[0]}: other bits with {flags}"
        return None

    def wrong(self, results):
        for (expression, expected, tolerance), r in zip(self.rows, results):
            used = sorted({int(i) for i in re.findall(r"\bx(\d+)", expression)})
            shapes = ", ".join(f"{self.inputs[i].dtype}{list(self.inputs[i].shape)}" for i in used)
            if r.shape != expected.shape:
                return f"{expression} of {shapes}: shape {r.shape}, not {expected.shape}"
            if r.size == 0:
                continue
            if tolerance == 0:
                if not np.array_equal(r, expected, equal_nan=r.dtype.kind in "fc"):
                    return f"{expression} of {shapes}: differs"
            elif not (error := np.abs(r - expected).max()) <= tolerance * max(np.abs(expected).max(), 1e-300):
                return f"{expression} of {shapes}: error {error}"
        return None


def values(rng, dtype, shape):
    x = rng.standard_normal(shape)
    if dtype in ("c8", "c16"):
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def transforms(dtype):
    def check(toy, configurations):
        rng, program = np.random.default_rng(5), Program(configurations)
        shapes = [(n,) for n in [*range(1, 40), 64, 97, 128, 127, 250, 1000, 1024, 4096, 65536, 30030]]
        shapes += [
            (3, 7),
            (5, 8, 9),
            (2, 33, 5),
            (4, 1, 3),
            (2, 64, 70),
            (300, 40),
            (512, 512),
            (3, 0, 2),
            (0, 4),
            (257, 16),
        ]
        norms = ("backward", "ortho", "forward")
        for k, shape in enumerate(shapes):
            x = values(rng, dtype, shape)
            name, norm = program.input(x), norms[k % 3]
            precise = x.astype("c16" if x.dtype.kind == "c" else "f8")
            for axis in range(len(shape)):
                n = shape[axis]
                if n == 0:
                    continue
                limit = 8 * EPS[dtype] * (2 + np.log2(n))
                for f in ("fft", "ifft") if x.dtype.kind == "c" else ("rfft",):
                    for m in {n, max(1, n - 3), n + 3}:
                        program.row(
                            f'{f}({name}, {m}, axis={axis}, norm="{norm}")',
                            getattr(np.fft, f)(precise, m, axis=axis, norm=norm),
                            limit,
                        )
                if x.dtype.kind == "c":
                    for m in {max(1, 2 * n - 2), 2 * n - 1, n, 2 * n + 3}:
                        program.row(
                            f'irfft({name}, {m}, axis={axis}, norm="{norm}")',
                            np.fft.irfft(precise, m, axis=axis, norm=norm),
                            limit,
                        )
        return program.check(toy)

    return check


#: rows of up to eight values are sorted a row a lane
SORTED = [(0,), (1,), (1000,), (70001,), (3, 300), (40, 50, 6), (2, 5000, 3), (700, 9), (4, 0, 2)]
SORTED += [(37 + n, n) for n in range(1, 9)] + [(5000, 3), (7, 8, 2)]


def sorting(dtype):
    def check(toy, configurations):
        rng, program = np.random.default_rng(7), Program(configurations)
        for shape in SORTED:
            for kind in range(3):
                if dtype in ("f4", "f8"):
                    x = values(rng, dtype, shape) if kind else rng.integers(-3, 3, shape).astype(dtype)
                    if kind == 2:
                        x[rng.random(shape) < 0.1] = np.nan
                        x[rng.random(shape) < 0.1] *= 0
                else:
                    top = min(np.iinfo(dtype).max, (100, 2**40, 2**63 - 1)[kind])
                    x = rng.integers(max(np.iinfo(dtype).min, -top), top, shape, dtype=dtype, endpoint=True)
                name = program.input(x)
                for axis in range(len(shape)):
                    order = np.argsort(x, axis=axis, kind="stable")
                    program.row(f"argsort({name}, axis={axis})", order)
                    program.row(f"sort({name}, axis={axis})", np.take_along_axis(x, order, axis))
                    down = x.astype(float) if dtype in ("f4", "f8") else x.astype(object)
                    order = np.argsort(-down, axis=axis, kind="stable")
                    program.row(f"argsort({name}, axis={axis}, descending=true)", order)
                    program.row(f"sort({name}, axis={axis}, descending=true)", np.take_along_axis(x, order, axis))
        return program.check(toy)

    return check


def scans(toy, configurations):
    rng, program = np.random.default_rng(9), Program(configurations)
    for shape in [
        (1,),
        (5,),
        (300001,),
        (7, 1000),
        (8, 33),
        (3, 50, 257),
        (2, 130, 600),
        (0, 3),
        (3, 0, 2),
        (6, 1, 1),
        (4099, 3),
        (33, 8),
        (5, 9),
    ]:
        for dtype in ("f4", "f8", "i4", "i8", "u1", "?", "c8", "c16"):
            x = (
                values(rng, dtype, shape)
                if dtype in EPS
                else rng.integers(0, 2 if dtype == "?" else 100, shape).astype(dtype)
            )
            name, wide = program.input(x), dtype if dtype in EPS else "i8"
            for axis in range(len(shape)):
                program.row(f"cumsum({name}, axis={axis})", np.cumsum(x, axis, dtype=wide))
                if dtype in EPS:
                    x = (x / np.abs(x)).astype(dtype)
                    name = program.input(x)
                products = np.cumprod(x, axis, dtype=wide)
                program.row(
                    f"cumprod({name}, axis={axis})", products, 2e6 * EPS[dtype] if dtype in ("c8", "c16") else 0
                )
    x = np.array([-0.0, -0.0, np.inf, -np.inf, 1, np.nan])
    program.row(f"1 / cumsum({program.input(x)})", 1 / np.cumsum(x))
    return program.check(toy)


def indexing(dtype):
    """Indexing by positions and masks, and stores through them, whose values are repeated in every way; results beyond
    the caches for one dtype of 8 bytes and one of a byte."""
    many = 5000 if dtype in ("f8", "?") else 500

    def check(toy, configurations):
        rng, program = np.random.default_rng(11), Program(configurations)

        def data(shape):
            return (
                values(rng, dtype, shape)
                if dtype in EPS
                else rng.integers(0, 2 if dtype == "?" else 100, shape).astype(dtype)
            )

        def stored(x, at, v):
            r = x.copy()
            r[at] = v
            return r

        def store(x, text, at, v):
            program.row(f"stored{len(functions)}({program.input(x)}, {program.input(v)})", stored(x, at, v))
            functions.append(f"def stored{len(functions)}(x, v) {{ x[{text}] = v; return x; }}\n")

        functions = []
        for shape in [(7,), (40000,), (5, 300), (2000, 3), (4, 5, 6), (3, 1, 4)]:
            x = data(shape)
            name = program.input(x)
            for axis, n in enumerate(shape):
                for index in [
                    rng.integers(-n, n, many if len(shape) > 1 else 5000),
                    rng.integers(-n, n, (3, 2)).astype("i4"),
                    rng.integers(0, n, 0),
                    np.array([n - 1]),
                ]:
                    before = ":, " * axis
                    i, at = program.input(index), (slice(None),) * axis + (index,)
                    program.row(f"{name}[{before}{i}]", x[at])
                    store(x, f"{before}{i}", at, data(()))
                    store(x, f"{before}{i}", at, data(x[at].shape))
                    store(x, f"{before}{i}", at, data(x[at].shape[-1:]))
                    store(x, f"{before}{i}", at, data((*x[at].shape[:-1], 1)))
                size = [min(4, m) for m in shape]
                size[axis] = 11
                index = rng.integers(-n, n, size)
                i, v = program.input(index), data(size)
                part = x[tuple(slice(0, m) if a != axis else slice(None) for a, m in enumerate(size))]
                program.row(f"gather({name}, {axis}, {i})", np.take_along_axis(part, index, axis))
                put = x.copy()
                for where in np.ndindex(*size):
                    put[where[:axis] + (index[where],) + where[axis + 1 :]] = v[where]
                program.row(f"scatter({name}, {axis}, {i}, {program.input(v)})", put)
            if len(shape) > 1:
                one, other = rng.integers(0, shape[0], (9, 1)), rng.integers(-shape[1], 0, 30)
                i, j = program.input(one), program.input(other)
                program.row(f"{name}[{i}, {j}]", x[one, other])
                store(x, f"{i}, {j}", (one, other), data((30, *shape[2:])))
            for rank in range(1, len(shape) + 1):
                for share in (0, 0.5, 1):
                    mask = rng.random(shape[:rank]) < share
                    m = program.input(mask)
                    program.row(f"{name}[{m}]", x[mask])
                    program.row(f"nonzero({m})", np.argwhere(mask))
                    store(x, m, mask, data(()))
                    store(x, m, mask, data(x[mask].shape))
                    store(x, m, mask, data((1, *shape[rank:])))
            program.row(f"nonzero({name})", np.argwhere(x))
        x, index = data((300, 400)), rng.integers(-300, 300, (7, 400))  # columns in tiles, which fit into a cache
        program.row(f"gather({program.input(x)}, 0, {program.input(index)})", np.take_along_axis(x, index, 0))
        program.functions = "".join(functions)
        return program.check(toy)

    return check


def convolutions(dtype):
    def check(toy, configurations):
        rng, program = np.random.default_rng(13), Program(configurations)
        shapes = [  # images, channels, sizes; outputs, kernel; stride, padding, dilation, groups
            (1, 1, (1,), 1, (1,), 1, 0, 1, 1),
            (2, 3, (70,), 5, (9,), 1, 0, 1, 1),
            (1, 2, (1000,), 1, (300,), 1, 0, 1, 1),
            (1, 4, (600,), 14, (5,), 3, 4, 2, 2),
            (1, 2, (50,), 3, (2,), 7, 0, 30, 1),
            (3, 6, (20,), 6, (3,), 2, 1, 1, 6),
            (1, 3, (33, 35), 7, (3, 3), 1, 1, 1, 1),
            (2, 4, (17, 40), 8, (3, 2), 2, 1, 1, 2),
            (1, 2, (9, 8), 3, (2, 3), 3, 5, 2, 1),
            (1, 60, (12, 11), 9, (3, 3), 1, 1, 1, 1),
            (1, 5, (8, 8), 14, (1, 1), 1, 0, 1, 1),
            (1, 1, (5,), 1, (3,), 1, 1 << 20, 1 << 20, 1),
            (1, 1, (5,), 2, (2,), 1 << 40, 0, 1, 1),
        ]
        for images, channels, sizes, outputs, kernel, stride, padding, dilation, groups in shapes:
            x = values(rng, dtype, (images, channels, *sizes))
            w = values(rng, dtype, (outputs, channels // groups, *kernel))
            names = f"{program.input(x)}, {program.input(w)}"
            wide = "c16" if x.dtype.kind == "c" else "f8"
            if padding < 1 << 20:
                expected = libraries.correlate(x.astype(wide), w.astype(wide), stride, padding, dilation, groups)
            else:  # only the middle of the kernel meets the input
                expected = x * w[0, 0, 1]
            program.row(
                f"conv{len(sizes)}d({names}, stride={stride}, padding={padding}, dilation={dilation}, groups={groups})",
                expected,
                2 * EPS[dtype] * (w[0].size + 2),
            )
        for images, channels, sizes, outputs, kernel, stride, padding, groups in [
            (1, 1, (1,), 1, (1,), 1, 0, 1),
            (2, 4, (60,), 6, (5,), 1, 3, 2),
            (1, 3, (40,), 2, (4,), 3, 1, 1),
            (1, 2, (9,), 3, (2,), 5, 0, 1),
            (1, 2, (700,), 1, (90,), 2, 7, 1),
            (2, 4, (11, 9), 6, (4, 4), 2, 1, 2),
            (1, 3, (5, 6), 2, (3, 5), 3, 2, 1),
            (1, 2, (8, 7), 3, (3, 3), 1, 2, 1),
            (1, 2, (4, 3), 2, (2, 2), 9, 0, 1),
        ]:
            x = values(rng, dtype, (images, channels, *sizes))
            w = values(rng, dtype, (channels, outputs // groups, *kernel))
            program.row(
                f"conv_transpose({program.input(x)}, {program.input(w)}, stride={stride}, padding={padding}, groups={groups})",
                libraries.transposed(x, w, stride, padding, groups),
                4 * EPS[dtype] * (w[:, 0].size + 2),
            )
        # The gradient of a convolution with its dilation.
        for stride, padding, dilation in [(1, 2, 3), (2, 1, 2), (3, 4, 2), (4, 0, 6), (2, 0, 3)]:
            y, w = values(rng, dtype, (1, 2, 7)), values(rng, dtype, (2, 3, 4))
            n = (7 - 1) * stride + 3 * dilation + 1 - 2 * padding
            wide = np.eye(3 * n, dtype=w.dtype).reshape(3 * n, 3, n)
            columns = libraries.correlate(wide, w, stride, padding, dilation)
            program.row(
                f"conv_transpose({program.input(y)}, {program.input(w)}, stride={stride}, padding={padding}, dilation={dilation})",
                (columns.reshape(3 * n, -1) @ y.reshape(-1)).reshape(1, 3, n),
                60 * EPS[dtype],
            )
        for n, m in [(5, 3), (3000, 700), (1, 1), (1, 9)]:
            a, b = values(rng, dtype, n), values(rng, dtype, m)
            program.row(
                f"convolve({program.input(a)}, {program.input(b)})", np.convolve(a, b), 2 * EPS[dtype] * (min(n, m) + 2)
            )
        return program.check(toy)

    return check


def all_cases():
    tests = [("scans", scans, True)]
    for test, dtypes, daily in (
        (convolutions, EPS, EPS),
        (indexing, ("?", "i4", "f8", "c8", "c16"), ("?", "c8")),
        (transforms, ("f4", "f8", "c8", "c16"), ("f4", "f8", "c8")),
        (sorting, ("u1", "i4", "i8", "f4", "f8"), ("u1", "i4", "f8")),
    ):
        tests += [(f"{test.__name__} of {dtype}", test(dtype), dtype in daily) for dtype in dtypes]
    for name, test, is_daily in tests:
        if is_daily:
            yield f"kernels: {name}", lambda toy, test=test: test(toy, DAILY), "host"
        yield f"kernels: {name}, each way", lambda toy, test=test: test(toy, AT_NIGHT), "host", "nightly"
