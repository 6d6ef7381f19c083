# SPDX-License-Identifier: Apache-2.0
"""What every built-in function gives for each dtype, shape and axis, by NumPy or as the code of the designed error: the
rows of matrix.py."""
import math
import warnings

import numpy as np

warnings.simplefilter("ignore", RuntimeWarning)  # of values without a result

NUMPY = {
    "bool": np.bool_,
    "u8": np.uint8,
    "i32": np.int32,
    "i64": np.int64,
    "bf16": np.float32,
    "f16": np.float32,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
}
DTYPES = list(NUMPY)
COMPLEX, INTEGERS, HALVES = ("c64", "c128"), ("bool", "u8", "i32", "i64"), ("bf16", "f16")
TOLERANCE = {"bf16": 2**-7, "f16": 2**-10, "f32": 4e-6, "c64": 4e-6}
SHAPES = [(), (5,), (0,), (1,), (3, 4), (0, 3), (3, 0), (1, 4), (4, 4), (2, 3, 4), (2, 0, 3), (2, 1, 3, 2)]
NOT_ORDERED, NEEDS_REAL, NEEDS_COMPLEX, NEEDS_NUMBER, NEEDS_FLOAT, AXIS, EMPTY, MATRIX, SHAPE = (
    "T0206",
    "T0202",
    "T0205",
    "T0203",
    "T0201",
    "T0305",
    "T0325",
    "T0316",
    "T0348",
)


class Refused(str):
    """The code of the designed error."""


def part(dtype):
    return {"c64": "f32", "c128": "f64"}.get(dtype, dtype)


def floating(dtype):
    return "f64" if dtype in INTEGERS else dtype


def wide(dtype):
    return "i64" if dtype in INTEGERS else dtype


def number(dtype):
    return "i64" if dtype == "bool" else dtype


def pair(dtype):
    return dtype if dtype in COMPLEX else "c64" if dtype in ("f32", *HALVES) else "c128"


def values(shape, dtype, seed=0):
    """Small multiples of 1/8, of both signs, exact in every dtype."""
    n = math.prod(shape)
    k = (np.arange(n) * 7 + 3 * seed) % 16
    if dtype == "bool":
        x = k % 3 == 0
    elif dtype in INTEGERS:
        x = k if dtype == "u8" else k - 5
    else:
        x = (k - 5) / 8 + (1j * ((k * 5 + 1) % 11 - 4) / 8 if dtype in COMPLEX else 0)
    return np.asarray(x).astype(NUMPY[dtype]).reshape(shape)


def axes(shape):
    return range(-len(shape), len(shape))


def out_of_range(shape):
    return (len(shape), -len(shape) - 1)


# --- rows: (expression of x, its value or a Refused, dtype of the result), for one dtype, shape and x
ROWS = {}


def row(*names):
    def add(function):
        for name in names:
            ROWS[name] = function
        return function

    return add


def library(name):
    return getattr(
        np,
        {
            "asin": "arcsin",
            "acos": "arccos",
            "atan": "arctan",
            "asinh": "arcsinh",
            "acosh": "arccosh",
            "atanh": "arctanh",
        }.get(name, name),
    )


@row(
    *"exp expm1 log log1p log2 log10 sqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh reciprocal square".split()
)
def elementary(name, dtype, shape, x):
    if name == "square":
        yield "square(x)", x.astype(NUMPY[number(dtype)]) ** 2, number(dtype)
        return
    to = floating(dtype)
    x = x.astype(NUMPY[to])
    yield f"{name}(x)", 1 / x if name == "reciprocal" else np.log(x) / math.log(
        2
    ) if name == "log2" and dtype in COMPLEX else library(name)(x), to


@row("rsqrt", "sigmoid", "silu", "gelu", "erf", "relu", "floor", "ceil", "trunc", "round")
def more_elementary(name, dtype, shape, x):
    if name in ("erf", "gelu", "relu", "floor", "ceil", "trunc") and dtype in COMPLEX:
        yield f"{name}(x)", Refused(NOT_ORDERED if name == "relu" else NEEDS_REAL), None
        return
    if name in ("floor", "ceil", "trunc", "round"):
        yield f"{name}(x)", x if dtype in INTEGERS else library(name)(x), dtype
        if name == "round":
            yield "round(x, 1)", x if dtype in INTEGERS else np.round(x.astype(NUMPY[floating(dtype)]), 1), dtype
    elif name == "relu":
        yield "relu(x)", np.maximum(x, 0), number(dtype)
    else:
        y = x.astype(NUMPY[floating(dtype)])
        erf = np.vectorize(math.erf, otypes=[float])
        value = {
            "rsqrt": lambda: 1 / np.sqrt(y),
            "sigmoid": lambda: 1 / (1 + np.exp(-y)),
            "silu": lambda: y / (1 + np.exp(-y)),
            "erf": lambda: erf(y) if y.size else y,
            "gelu": lambda: 0.5 * y * (1 + erf(y / math.sqrt(2))) if y.size else y,
        }[name]()
        yield f"{name}(x)", value, floating(dtype)


@row("real", "imag", "conj", "angle", "abs", "abs2", "sign", "isnan", "isinf", "isfinite")
def parts(name, dtype, shape, x):
    y = x.astype(np.int64) if dtype == "bool" and name in ("abs", "abs2", "sign") else x
    kept = number(dtype)
    yield {
        "real": lambda: ("real(x)", x.real, part(dtype)),
        "imag": lambda: ("imag(x)", x.imag, part(dtype)),
        "conj": lambda: ("conj(x)", np.conj(x), dtype),
        "angle": lambda: ("angle(x)", np.angle(x.astype(NUMPY[floating(dtype)])), part(floating(dtype))),
        "abs": lambda: ("abs(x)", np.abs(y), part(kept)),
        "abs2": lambda: ("abs2(x)", (y.real * y.real + y.imag * y.imag) if dtype in COMPLEX else y * y, part(kept)),
        "sign": lambda: (
            "sign(x)",
            np.where(y == 0, 0, y / np.where(y == 0, 1, np.abs(y))) if dtype in COMPLEX else np.sign(y),
            kept,
        ),
    }.get(
        name,
        lambda: (
            f"{name}(x / 0)" if dtype not in INTEGERS and dtype not in COMPLEX else f"{name}(x)",
            library(name)(x / np.zeros((), x.dtype) if dtype not in INTEGERS and dtype not in COMPLEX else x),
            "bool",
        ),
    )()


@row("view_as_real", "view_as_complex", "adjoint", "complex", "polar")
def pairs(name, dtype, shape, x):
    if name == "view_as_real":
        yield "view_as_real(x)", np.stack([x.real, x.imag], -1) if dtype in COMPLEX else Refused(NEEDS_COMPLEX), part(
            dtype
        )
    elif name == "view_as_complex":
        fits = shape and shape[-1] == 2
        yield "view_as_complex(x)", Refused("T0317") if dtype not in ("f32", "f64") else Refused(
            "T0318"
        ) if not fits else x[..., 0] + 1j * x[..., 1], pair(dtype)
    elif name == "adjoint":
        yield "adjoint(x)", np.conj(x if len(shape) < 2 else np.swapaxes(x, -1, -2)), dtype
    else:
        y = x.astype(NUMPY[floating(dtype)]) if dtype not in COMPLEX else x
        value = (
            Refused(NEEDS_REAL)
            if dtype in COMPLEX
            else y + 1j * y[..., ::-1]
            if shape and name == "complex"
            else y + 1j * y
            if name == "complex"
            else y * np.exp(1j * y.astype(float))
        )
        yield "complex(x, x[..., ::-1])" if shape and name == "complex" else f"{name}(x, x)", value, pair(dtype)


@row("minimum", "maximum", "atan2", "hypot", "copysign", "pow", "where", "clip")
def two(name, dtype, shape, x):
    if name in ("minimum", "maximum", "clip", "atan2", "hypot", "copysign") and dtype in COMPLEX:
        refused = Refused(NEEDS_REAL if name in ("atan2", "hypot", "copysign") else NOT_ORDERED)
        yield f"{name}(x, {'0, 1' if name == 'clip' else 'x'})", refused, None
    elif name in ("minimum", "maximum"):
        yield f"{name}(x, x[..., ::-1])" if shape else f"{name}(x, x)", library(name)(
            x, x[..., ::-1] if shape else x
        ), dtype
        yield f"{name}(x, 1)", library(name)(x, 1), number(dtype)
    elif name == "clip":
        yield "clip(x, 0, 1)", np.clip(x.astype(NUMPY[number(dtype)]), 0, 1), number(dtype)
    elif name in ("atan2", "hypot", "copysign"):
        y = x.astype(NUMPY[floating(dtype)])
        peer = {"atan2": np.arctan2, "hypot": np.hypot, "copysign": np.copysign}[name]
        yield f"{name}(x, -0.5)", peer(y, np.asarray(-0.5, y.dtype)), floating(dtype)
    elif name == "pow":
        yield "pow(x, 2)", x.astype(NUMPY[wide(dtype)] if dtype == "bool" else x.dtype) ** np.asarray(
            2, x.dtype if dtype != "bool" else np.int64
        ), number(dtype)
        yield "pow(x, 0.5)", x.astype(NUMPY[floating(dtype)]) ** np.asarray(
            0.5, NUMPY[part(floating(dtype))]
        ), floating(dtype)
    else:
        yield "where(x == x, x, 0)", x, number(dtype)
        yield "where(x != x, 0, x)", x, number(dtype)


@row("sum", "prod", "mean", "std", "var", "norm", "any", "all", "max", "min", "argmax", "argmin")
def reductions(name, dtype, shape, x):
    to, y = dtype, x
    if name in ("sum", "prod"):
        to, y = wide(dtype), x.astype(NUMPY[wide(dtype)])
    elif name in ("mean", "std", "var", "norm"):
        to, y = floating(dtype), x.astype(NUMPY[floating(dtype)])
        to = to if name == "mean" else part(to)
    elif name in ("any", "all"):
        to, y = "bool", x != 0
    elif name.startswith("arg"):
        to = "i64"

    def peer(axis, keepdims):
        if name in ("max", "min", "argmax", "argmin"):
            if dtype in COMPLEX and not name.startswith("arg"):
                return Refused(NOT_ORDERED)
            empty = 0 in (shape if axis is None else [shape[axis]])
            if empty:
                return Refused(EMPTY)
        if name == "norm":
            return np.sqrt(np.sum(np.abs(y) ** 2, axis=axis, keepdims=keepdims))
        options = {"axis": axis, "keepdims": keepdims} | ({"dtype": y.dtype} if name in ("sum", "prod") else {})
        return library(name)(y, **options)

    yield f"{name}(x)", peer(None, False), to
    for axis in axes(shape):
        yield f"{name}(x, axis={axis})", peer(axis, False), to
        yield f"{name}(x, axis={axis}, keepdims=true)", peer(axis, True), to
    if len(shape) > 1 and name in ("sum", "prod", "max", "any"):
        first = peer(0, True)
        both = (
            first
            if isinstance(first, Refused)
            else Refused(EMPTY)
            if name == "max" and shape[-1] == 0
            else getattr(np, name)(y, axis=(0, -1), **({"dtype": y.dtype} if name in ("sum", "prod") else {}))
        )
        yield f"{name}(x, axis=[0, -1])", both, to
    for axis in out_of_range(shape):
        yield f"{name}(x, axis={axis})", Refused(AXIS), None


@row("map", "fold")
def over_rows(name, dtype, shape, x):
    if not shape:
        yield f"{name}(r => r, x)" if name == "map" else "fold((a, r) => r, 0, x)", Refused("T0341"), None
    elif name == "map":
        to = number(dtype)
        yield "map(r => r * r, x)", x.astype(NUMPY[to]) * x.astype(NUMPY[to]), to
        yield "map(r => (r, sum(r)), x)[0]", x, dtype
    else:
        to = wide(dtype)
        yield "fold((a, r) => a + sum(r), 0, x)", np.sum(x.astype(NUMPY[to])), to


@row("cumsum", "cumprod", "sort", "argsort", "softmax", "logsumexp")
def along(name, dtype, shape, x):
    y, to = x, dtype
    if name.startswith("cum"):
        to = wide(dtype)
        y = x.astype(NUMPY[to])
    elif name in ("softmax", "logsumexp"):
        to = floating(dtype)
        y = x.astype(NUMPY[to])
    elif name == "argsort":
        to = "i64"

    def peer(axis):
        if name in ("softmax", "logsumexp") and dtype in COMPLEX:
            return Refused(NOT_ORDERED)
        if name in ("softmax", "logsumexp"):
            if shape[axis] == 0:  # as PyTorch: nothing, and the logarithm of 0
                return y if name == "softmax" else np.full(np.delete(shape, axis), -np.inf, y.dtype)
            e = np.exp(y - y.max(axis, keepdims=True))
            return e / e.sum(axis, keepdims=True) if name == "softmax" else np.log(e.sum(axis)) + y.max(axis)
        return library(name)(y, axis=axis, **({"kind": "stable"} if "sort" in name else {"dtype": y.dtype}))

    for axis in axes(shape):
        yield f"{name}(x, axis={axis})", peer(axis), to
    if "sort" in name and shape and dtype not in COMPLEX:
        down = np.argsort(-x.astype(float), axis=-1, kind="stable")
        yield f"{name}(x, descending=true)", down if name == "argsort" else np.take_along_axis(x, down, -1), to
    for axis in out_of_range(shape):
        yield f"{name}(x, axis={axis})", Refused(AXIS), None
    if name.startswith("cum"):
        yield f"{name}(x)", peer(None), to


@row("matmul", "dot", "vdot", "outer", "kron", "einsum")
def products(name, dtype, shape, x):
    r = len(shape)
    if name == "vdot":
        y = x.astype(NUMPY[wide(dtype)])
        yield "vdot(x, x)", np.vdot(y, y), wide(dtype)
    elif name == "outer":
        y = x.astype(NUMPY[number(dtype)])
        yield "outer(x, x)", np.outer(y, y), number(dtype)
    elif name == "kron":
        y = x.astype(NUMPY[number(dtype)])
        yield "kron(x, x)", np.kron(y, y), number(dtype)
        pair = np.array([[1, 2]]).astype(NUMPY[dtype]).astype(y.dtype)
        yield f"kron(x, {dtype}([[1, 2]]))", np.kron(y, pair), number(dtype)
    elif name == "einsum":
        if r:
            y = x.astype(NUMPY[number(dtype)])
            yield 'einsum("...i->...", x)', y.sum(-1, dtype=y.dtype), number(dtype)
            yield 'einsum("...i,...i->...", x, x)', (y * y).sum(-1, dtype=y.dtype), number(dtype)
    elif r == 0:
        yield f"{name}(x, x)", Refused("T0302"), None
    else:
        y = x.astype(np.int64) if dtype == "bool" else x
        other = "x" if r == 1 else "swapaxes(x, -1, -2)"
        yield f"{name}(x, {other})", np.matmul(y, y if r == 1 else np.swapaxes(y, -1, -2)), number(dtype)


@row("det", "inv", "solve", "cholesky", "qr", "svd", "eig", "eigvals", "eigh", "lstsq", "matrix_power", "roots")
def decompositions(name, dtype, shape, x):
    r, to = len(shape), floating(dtype)
    square = r >= 2 and shape[-1] == shape[-2]
    if name == "roots":
        yield "shape(roots(x))[0]", Refused(SHAPE) if r != 1 else np.int64(len(np.roots(x.astype(NUMPY[to])))), "i64"
        return
    if not square:
        if name in ("qr", "svd", "lstsq") and r >= 2:
            if name == "svd":
                yield "svd(x)[1]", np.linalg.svd(x.astype(NUMPY[to]), compute_uv=False) if x.size else np.zeros(
                    (*shape[:-2], min(shape[-2:])), NUMPY[part(to)]
                ), part(to)
            return
        call = {
            "solve": "solve(x, x)",
            "lstsq": "lstsq(x, x)[0]",
            "matrix_power": "matrix_power(x, 2)",
            "eigh": "eigh(x)[0]",
            "eig": "eig(x)[0]",
            "qr": "qr(x)[0]",
            "svd": "svd(x)[0]",
        }.get(name, f"{name}(x)")
        yield call, Refused("T0348 T0302 T0301 T0303 T0316 R0132 R0113"), None
        return
    h = x.astype(NUMPY[to])
    n = shape[-1]
    s, peer = f"(x @ adjoint(x) + {n} * eye({n}, dtype={to}))", h @ np.conj(np.swapaxes(h, -1, -2)) + n * np.eye(
        n, dtype=h.dtype
    )
    if dtype == "bool":
        s, peer = f"(f64(x) @ adjoint(f64(x)) + {n} * eye({n}))", peer
    if dtype in INTEGERS:
        s = s.replace("x", "f64(x)") if dtype != "bool" else s
    calls = {
        "det": (f"det({s})", np.linalg.det(peer), to),
        "inv": (f"inv({s})", np.linalg.inv(peer), to),
        "solve": (f"solve({s}, x)", np.linalg.solve(peer, h), to),
        "cholesky": (f"cholesky({s})", np.linalg.cholesky(peer), to),
        "qr": (f"abs(qr({s})[1])", np.abs(np.linalg.qr(peer)[1]), part(to)),
        "svd": (f"svd({s})[1]", np.linalg.svd(peer, compute_uv=False), part(to)),
        "eigh": (f"eigh({s})[0]", np.linalg.eigvalsh(peer), part(to)),
        "eig": (
            f"sort(abs(eig({s})[0]))",
            np.sort(np.abs(np.linalg.eigvals(peer))),
            part(to) if to not in HALVES else "f32",
        ),
        "eigvals": (
            f"sort(abs(eigvals({s})))",
            np.sort(np.abs(np.linalg.eigvals(peer))),
            part(to) if to not in HALVES else "f32",
        ),
        "lstsq": (f"lstsq({s}, x)[0]", np.linalg.solve(peer, h), to),
        "matrix_power": (f"matrix_power({s}, 3)", peer @ peer @ peer, to),
    }
    yield calls[name]


@row("fft", "ifft", "rfft", "irfft", "fft2", "ifft2", "fftn", "ifftn", "fftshift", "ifftshift", "convolve")
def signals(name, dtype, shape, x):
    r = len(shape)
    y = x.astype(NUMPY[floating(dtype)])
    to = pair(dtype)
    if name == "convolve":
        if r == 1:
            value = Refused("R0132 T0351 T0323 R0106") if not x.size else np.convolve(x, x)
            if x.size and dtype != "bool":
                yield "convolve(x, x)", value, dtype
    elif "shift" in name:
        yield f"{name}(x)", getattr(np.fft, name)(x) if r else x, dtype
        for axis in axes(shape):
            yield f"{name}(x, axes=[{axis}])", getattr(np.fft, name)(x, axes=(axis,)), dtype
    elif name.endswith("2") or name.endswith("n"):
        if r < 2 and name.endswith("2") or r == 0:
            yield f"{name}(x)", Refused(SHAPE), None
        elif 0 in (shape[-2:] if name.endswith("2") else shape):
            yield f"{name}(x)", Refused("T0350"), None
        else:
            yield f"{name}(x)", getattr(np.fft, name)(y), to
    elif r == 0:
        yield f"{name}(x)", Refused(SHAPE if name != "rfft" or dtype not in COMPLEX else f"{NEEDS_REAL} {SHAPE}"), None
    else:
        for axis in axes(shape):
            points = 2 * (shape[axis] - 1) if name == "irfft" else shape[axis]
            if name == "rfft" and dtype in COMPLEX:
                value = Refused(NEEDS_REAL)
            elif points < 1:
                value = Refused("T0350")
            else:
                value = getattr(np.fft, name)(y, axis=axis)
            yield f"{name}(x, axis={axis})", value, (
                part(floating(dtype)) if dtype not in HALVES else "f32"
            ) if name == "irfft" else to


@row("rmsnorm", "layernorm", "attention", "rope", "conv1d", "conv2d", "conv_transpose")
def networks(name, dtype, shape, x):
    r, to = len(shape), floating(dtype)
    y = x.astype(NUMPY[to])
    if name in ("rmsnorm", "layernorm"):
        if r and shape[-1]:
            c = y - y.mean(-1, keepdims=True) if name == "layernorm" else y
            yield f"{name}(x)", c / np.sqrt((np.abs(c) ** 2).mean(-1, keepdims=True) + 1e-5), to
        elif not r:
            yield f"{name}(x)", Refused(AXIS), None
    elif name == "attention":
        if r >= 2 and min(shape[-2:]) > 0:
            s = (y @ np.conj(np.swapaxes(y, -1, -2))).real / math.sqrt(shape[-1])
            e = np.exp(s - s.max(-1, keepdims=True)) if s.size else s
            yield "attention(f64(x), f64(x), f64(x))" if dtype in INTEGERS else "attention(x, x, x)", (
                e / e.sum(-1, keepdims=True)
            ) @ y, to
    elif name == "rope":
        if r >= 3 and shape[-1] % 2 == 0 and x.size:
            z = (y[..., 0::2] + 1j * y[..., 1::2]) * np.exp(0.5j) if dtype not in COMPLEX else None
            freqs = (
                f"full([{shape[-3]}, {shape[-1] // 2}], {'c64' if to in ('f32', *HALVES) else 'c128'}(polar(1, 0.5)))"
            )
            yield f"rope(x, {freqs})", Refused(NEEDS_REAL) if dtype in COMPLEX else np.stack(
                [z.real, z.imag], -1
            ).reshape(shape), to
    elif name == "conv_transpose":
        if r == 3 and x.size:
            yield f"conv_transpose(x, ones({shape[1]}, 1, 1, dtype={dtype}))", y.sum(1, keepdims=True).astype(
                y.dtype
            ), number(dtype)
    elif r == (3 if name == "conv1d" else 4) and x.size:
        kernel = [1] * (1 if name == "conv1d" else 2)
        yield f"{name}(x, ones({[2, shape[1], *kernel]}, dtype={dtype}))", np.repeat(
            y.sum(1, keepdims=True), 2, 1
        ), number(dtype)
