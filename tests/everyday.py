# SPDX-License-Identifier: Apache-2.0
"""Everyday functions of the library (lib/toy, irgen/BuiltinAxes.cpp) against NumPy's, or against their definitions in
NumPy where it has none: 30 random cases of each, evaluated, and some of them compiled. Programs run in few processes;
what they print in full is read back as Python."""
import math
import re

import numpy as np

from everyday_rows import ROWS, Source, call, row, scalar, toy_of
from programs import count, run_parts

CASES = 30


@row("hann", "hamming", "blackman", "bartlett", "kaiser")
def windows(name, s):
    n, periodic, beta = s.n(0, 12), s.pick(True, False), round(s.numpy.random() * 9, 2)
    window = {"hann": np.hanning, "kaiser": lambda m: np.kaiser(m, beta)}.get(name) or getattr(np, name)
    words = (f", {beta}" if name == "kaiser" else "") + (", sym = false" if periodic else "")
    return f"{name}({n}{words})", (window(n + 1)[:-1] if n else window(0)) if periodic else window(n)


@row("polyval", "polymul", "polyder", "polyfit")
def polynomials(name, s):
    p, q = s.array(s.n(1, 5), kinds="fci"), s.array(s.n(1, 5), kinds="fc")
    if name == "polyval":
        p, x = s.array(s.n(0, 5), kinds="fc"), s.pick(s.array(), s.any("fci"))
        return call(name, p, x), np.polyval(p, x) * np.ones((), np.result_type(p, x))
    if name == "polymul":
        p = s.pick(np.asarray(p.real, float), np.concatenate([[0, 0], p]))
        return call(name, p, q), np.polymul(p, q)
    if name == "polyder":
        m = s.n(0, 3)
        return call(name, p, words=f", m = {m}"), np.polyder(1.0 * p, m)
    x, y, n = np.arange(9) + s.array(9) / 20, s.pick(s.array(9, kinds="fc"), s.array(9, 2)), s.n(0, 4)
    return call(name, x, y, words=f", {n}"), np.polyfit(x, y, n)


@row("pinv", "matrix_rank", "eigvalsh", "svdvals", "cond", "expm", "null_space")
def matrices(name, s):
    m, n = s.n(1, 5), s.n(1, 5)
    x = s.array(m, n, kinds="ffc")
    if name in ("pinv", "matrix_rank"):
        if s.n(0, 1):
            x = np.outer(x[:, 0], x[0])
        return call(name, x, words=", rcond = 1e-5" if name == "pinv" else ""), (
            np.linalg.pinv(x, 1e-5) if name == "pinv" else np.linalg.matrix_rank(x)
        )
    if name == "svdvals":
        return call(name, x), np.linalg.svd(x, compute_uv=False)
    if name == "null_space":
        q = f"null_space({toy_of(x)})"
        rank = np.linalg.matrix_rank(x)
        projector = np.eye(n) - np.linalg.pinv(x) @ x
        return f"({q}.shape[1], {q} @ {q}')", (n - rank, projector)
    x = s.array(m, m, kinds="ffc")
    if name == "eigvalsh":
        x = x + x.conj().T
        return call(name, x), np.linalg.eigvalsh(x)
    if name == "cond":
        p = s.pick(2, -2, 1, -1, np.inf, -np.inf, "fro")
        return (
            call(name, x, words=f", p = {scalar(p) if not isinstance(p, str) else chr(34) + p + chr(34)}"),
            np.linalg.cond(x, p).real,
        )
    w, v = np.linalg.eig(x)
    value = v @ np.diag(np.exp(w)) @ np.linalg.inv(v)
    return call(name, x), value if x.dtype.kind == "c" else value.real


@row("topk")
def largest(name, s):
    x = s.any("ffi", 1, nans=s.n() == 0)
    axis = s.axis(x)
    k = s.n(0, x.shape[axis])
    keys = np.where(np.isnan(x), np.inf, x)
    at = np.argsort(-keys, axis=axis, kind="stable").take(range(k), axis=axis)
    return call(name, x, words=f", {k}, axis = {axis}"), (np.take_along_axis(x, at, axis), at)


@row("one_hot")
def classes(name, s):
    n = s.n(1, 5)
    i = s.numpy.integers(0, n, (s.n(), s.n(1)))
    return call(name, i, words=f", {n}"), np.eye(n)[i]


@row("cross_entropy")
def entropies(name, s):
    x = s.any("ffi", 1, ranks=(2, 3))
    axis = s.axis(x)
    target = s.numpy.integers(0, x.shape[axis], np.delete(x.shape, axis))
    logs = x - np.logaddexp.reduce(np.float64(x), axis, keepdims=True)
    return (
        call(name, x, target, words=f", axis = {axis}"),
        -np.take_along_axis(logs, np.expand_dims(target, axis), axis).mean(),
    )


@row("unwrap")
def phases(name, s):
    x = s.any("ff", 1) * 3
    axis = s.axis(x)
    return call(name, x, words=f", axis = {axis}"), np.unwrap(x, axis=axis)


@row("correlate")
def correlations(name, s):
    a, v, mode = s.array(s.n(1), kinds="fc"), s.array(s.n(1), kinds="fc"), s.pick("valid", "same", "full")
    if len(a) < len(v):
        a, v = v, a
    return call(name, a, v, words=f', mode = "{mode}"'), np.correlate(a, v, mode)


@row("rfft2", "irfft2")
def transforms(name, s):
    x = s.array(s.n(1), s.n(2), kinds="f" if name == "rfft2" else "c")
    return call(name, x), getattr(np.fft, name)(x)


@row("put_add", "index_add", "scatter_add")
def added(name, s):
    x = s.array(s.n(1), s.n(1), kinds="fic")
    if name == "put_add":
        at = s.numpy.integers(-x.size, x.size, s.n())
        v = np.asarray(s.array(len(at), kinds="fi"), x.dtype if x.dtype.kind == "i" else None)
        v = v.astype(x.dtype) if x.dtype.kind == "i" else v
        want = x.flatten()
        np.add.at(want, at, v)
        return call(name, x, at, v), want.reshape(x.shape)
    axis = s.axis(x)
    n = x.shape[axis]
    if name == "index_add":
        at = s.numpy.integers(0, n, s.n())
        shape = list(x.shape)
        shape[axis] = len(at)
        v, want = s.array(*shape).astype(x.dtype), np.moveaxis(x.copy(), axis, 0)
        np.add.at(want, at, np.moveaxis(v, axis, 0))
        return call(name, x, words=f", {axis}, {toy_of(at)}, {toy_of(v)}"), np.moveaxis(want, 0, axis)
    shape = [s.n(1, size) for size in x.shape]
    at, v, want = s.numpy.integers(0, n, shape), s.array(*shape).astype(x.dtype), x.copy()
    for place in np.ndindex(*shape):
        target = list(place)
        target[axis] = at[place]
        want[tuple(target)] += v[place]
    return call(name, x, words=f", {axis}, {toy_of(at)}, {toy_of(v)}"), want


@row("rot90", "vander", "toeplitz", "logspace")
def made(name, s):
    if name == "rot90":
        x, k = s.any("fi", ranks=(2, 3)), s.n(-5, 5)
        return call(name, x, words=f", {k}"), np.rot90(x, k)
    if name == "logspace":
        a, b, n, base = s.n(-3, 3), s.n(-3, 3), s.n(1, 6), s.pick(10.0, 2.0)
        return f"logspace({a}, {b}, {n}, {base})", np.logspace(a, b, n, base=base)
    c, r = s.array(s.n(1), kinds="fc"), s.array(s.n(1), kinds="fc")
    if name == "vander":
        n, up = s.n(1), s.pick(True, False)
        return call(name, c, words=f", {n}, increasing = {scalar(up)}"), np.vander(c, n, up)
    own = s.pick(True, False)
    top = r if own else c.conj()
    want = np.array([[c[i - j] if i >= j else top[j - i] for j in range(len(top))] for i in range(len(c))])
    want = want.astype(np.result_type(c, top))
    return call(name, c, words=f", {toy_of(r)}" if own else ""), want


@row("lu", "slogdet", "solve_triangular")
def triangles(name, s):
    batch = s.pick((), (), (2,))
    m = s.n(0 if name == "slogdet" else 1, 4)
    x = s.array(*batch, m, s.n(1, 4) if name == "lu" else m, kinds="ffc")
    if name == "slogdet":
        if m > 1 and s.n() == 0:
            x[..., 0] = 0
        return call(name, x), tuple(np.linalg.slogdet(x))
    if name == "lu":
        p, l, u = (f"lu({toy_of(x)})[{i}]" for i in range(3))
        k = min(x.shape[-2:])
        ones = np.broadcast_to(np.eye(x.shape[-2], k), (*batch, x.shape[-2], k)) * 1.0
        diagonal = f"tril({u}, -1)"
        want = (x, ones, np.zeros((*batch, k, x.shape[-1])), np.ones((*batch, x.shape[-2])))
        return f"({p} @ {l} @ {u}, abs(triu({l})), abs({diagonal}), sum({p}, -1))", want
    lower = s.pick(True, False)
    a = x + 9 * np.eye(m)
    b = s.array(*batch, m, s.n(1), kinds="fc") if batch or s.n(0, 1) else s.array(m)
    triangle = np.tril(a) if lower else np.triu(a)
    return call(name, a, b, words=f", lower = {scalar(lower)}"), np.linalg.solve(triangle, b)


@row("unique")
def distinct(name, s):
    x = s.any("fii", nans=s.n() == 0)
    inverse, counts = s.pick(True, False), s.pick(True, False)
    words = f", return_inverse = {scalar(inverse)}, return_counts = {scalar(counts)}"
    want = np.unique(x, return_inverse=inverse, return_counts=counts)
    if inverse:
        want = (want[0], want[1].reshape(x.shape), *want[2:])
    return call(name, x, words=words), want


@row("isin")
def members(name, s):
    x, values = s.any("fiibc", nans=s.n() == 0), s.any("fiibc", nans=s.n() == 0)
    if s.n(0, 1) == 0 and values.dtype == x.dtype:
        values = np.concatenate([values.ravel(), x.ravel()[::2]])
    return call(name, x, values), np.isin(x, values)


@row("sort", "argsort", "argmax", "argmin", "searchsorted complex")
def complex_order(name, s):
    def value(*shape):
        parts = [np.asarray(s.numpy.integers(-2, 3, shape), float) for _ in range(2)]
        for part in parts:
            if s.n(0, 2) == 0:
                part[s.numpy.random(shape) < 0.3] = np.nan
        return parts[0] + 1j * np.where(np.isnan(parts[1]), 0, parts[1]) if s.n() else np.vectorize(complex)(*parts)

    if name.startswith("searchsorted"):
        a, v, side = np.sort(value(s.n(1))), value(3), s.pick("left", "right")
        return call("searchsorted", a, v, words=f', side = "{side}"'), np.searchsorted(a, v, side)
    x = value(s.n(1), s.n(1))
    axis = s.axis(x)
    options = {"kind": "stable"} if "sort" in name else {}
    return call(name, x, words=f", axis = {axis}"), getattr(np, name)(x, axis=axis, **options)


@row("indices", "block_diag")
def grids_and_blocks(name, s):
    if name == "indices":
        sizes = [s.n(1, 3) for _ in range(s.n(1, 3))]
        return f"indices({sizes})", np.indices(sizes)
    blocks = [s.array(s.n(1, 3), s.n(1, 3), kinds="fc") for _ in range(s.n(1, 3))]
    want = np.zeros(np.sum([b.shape for b in blocks], 0), np.result_type(*blocks))
    at = np.zeros(2, int)
    for b in blocks:
        want[at[0] : at[0] + b.shape[0], at[1] : at[1] + b.shape[1]] = b
        at += b.shape
    return call(name, *blocks), want


@row("rfftn", "irfftn")
def all_axes(name, s):
    x = s.array(*(s.n(2, 4) for _ in range(s.n(1, 3))), kinds="f" if name == "rfftn" else "c")
    norm = s.pick("backward", "ortho")
    return call(name, x, words=f', norm = "{norm}"'), getattr(np.fft, name)(x, norm=norm)


@row("stft", "istft")
def frames(name, s):
    n_fft = s.pick(4, 5, 8)
    x, hop = s.array(*s.pick((12,), (2, 15)), kinds="f" if name == "istft" else "fc"), s.pick(1, 2)
    window = s.pick(None, 0.5 + np.abs(s.array(n_fft)))
    words = f", {n_fft}, {hop}" + ("" if window is None else f", window = {toy_of(window)}")
    w = np.ones(n_fft) if window is None else window
    padded = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n_fft // 2, n_fft // 2)], mode="reflect")
    starts = range(0, padded.shape[-1] - n_fft + 1, hop)
    y = np.stack([padded[..., i : i + n_fft] * w for i in starts], -2)
    z = np.swapaxes(np.fft.fft(y) if x.dtype.kind == "c" else np.fft.rfft(y), -1, -2)
    if name == "stft":
        return call(name, x, words=words), z
    return call(name, z, words=words + f", length = {x.shape[-1] - 2}"), x[..., :-2]


LOOSE = {"polyfit": 1e-8, "expm": 1e-8, "null_space": 1e-9, "pinv": 1e-9, "cond": 1e-9, "corrcoef": 1e-10}
#: what f32 is not asked of: infinities become the largest number of the dtype, which the row compares itself
NOT_SINGLE = {"nan_to_num"}
SINGLE = {"expm": 1e-3, "polyfit": 1e-3, "pinv": 1e-3, "cond": 1e-3, "solve_triangular": 1e-4}
#: whose edges are f64 for every dtype
EDGES_F64 = {"histogram"}


def read(text):
    python = re.sub(r"(?<=[\d.nf])i\b", "j", text).replace("\n", " ")
    return eval(  # what the program has printed in full
        python,
        {
            "nan": math.nan,
            "inf": math.inf,
            "nanj": complex(0, math.nan),
            "true": True,
            "false": False,
            "complex": complex,
        },
    )


def differs(got, want, tolerance):
    if isinstance(want, tuple):
        return len(got) != len(want) or any(differs(g, w, tolerance) for g, w in zip(got, want))
    got, want = np.asarray(got), np.asarray(want)
    if want.size == 0:  # sizes are compared as types
        return got.size != 0
    if got.shape != want.shape:
        return True
    scale = np.nanmax(np.abs(np.where(np.isfinite(want), want, 0)), initial=1.0)
    return not np.allclose(got, want, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def in_single(text):
    """The call with floating arguments of half the precision."""
    return re.sub(r"\bc128\b", "c64", re.sub(r"\bf64\b", "f32", text))


def type_of(name, text, want):
    """The dtype and the sizes of a result: the precision is that of the first argument; integers give f64."""
    if isinstance(want, tuple):
        return ", ".join(type_of(name, "" if name in EDGES_F64 and i else text, w) for i, w in enumerate(want))
    first = re.search(r"\b(i64|f64|c128|f32|c64)\b", text.split("weights =")[-1] if name == "bincount" else text)
    single = first and first[1] in ("f32", "c64")
    kind = np.asarray(want).dtype.kind
    dtype = {"b": "bool", "i": "i64", "f": "f32" if single else "f64", "c": "c64" if single else "c128"}[kind]
    return f"{dtype}[{', '.join(map(str, np.shape(want)))}]"


def program_of(rows):
    """Each result, then its types, between lines `@`."""
    out = []
    for i, (_, text, want) in enumerate(rows):
        parts = [f"r{i}[{k}]" for k in range(len(want))] if isinstance(want, tuple) else [f"r{i}"]
        sizes = "".join(f"print({part}.dtype, {part}.shape); " for part in parts)
        out.append(f'var r{i} = {text}; print(r{i}); print("@"); {sizes}print("@");')
    return "\n".join(out)


def types_shown(text):
    """`f64 (2, 3)` and `f64 (2,)`, a line each, as `f64[2, 3]` and `f64[2]`."""
    return ", ".join(f"{d}[{s.rstrip(',')}]" for d, s in re.findall(r"(\w+) \((.*)\)", text))


def compared(toy, names):
    chosen = [(name, *ROWS[name](name, Source(seed(name, i)))) for name in names for i in range(CASES)]
    few = [c for i, c in enumerate(chosen) if i % CASES < 2]
    single = [
        (name, in_single(text), want)
        for i, (name, text, want) in enumerate(chosen)
        if i % CASES % 5 == 0 and name not in NOT_SINGLE
    ]
    runs = [(chosen, "--jit=never"), (few, "--jit=always -O0 --unpack"), *([(single, "--jit=never")] if single else [])]
    programs = [(program_of(rows), [f"{flags} --precision=full"]) for rows, flags in runs]
    problems = []
    for (rows, flags), [done] in zip(runs, run_parts(toy, programs)):
        if done.status:
            problems.append(f"{flags}: status {done.status}\n{done.stderr[:1500]}")
            continue
        shown = done.stdout.split("\n@\n")[:-1]
        for (name, text, want), got, types in zip(rows, shown[::2], shown[1::2], strict=True):
            tolerance = SINGLE.get(name, 1e-5) if "f32" in text or "c64" in text else LOOSE.get(name, 1e-11)
            if differs(read(got), want, tolerance):
                problems.append(f"{flags} {text}\ngives {got}\nnot   {want}")
            elif (type_ := types_shown(types)) != type_of(name, text, want):
                problems.append(f"{flags} {text}\nis {type_}\nnot {type_of(name, text, want)}")
        count(len(rows))
    return "\n".join(problems[:4]) or None


def seed(name, i):
    return int.from_bytes(name.encode(), "little") % 100003 * 100 + i


def all_cases():
    names = list(ROWS)
    for i in range(0, len(names), 10):
        group = names[i : i + 10]
        yield f"everyday functions {group[0]} to {group[-1]}", lambda toy, g=group: compared(toy, g)
