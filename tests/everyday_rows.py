# SPDX-License-Identifier: Apache-2.0
"""Random arguments for the everyday functions of the library (lib/toy), and the rows of statistics and of functions of
elements: each gives a call and NumPy's value for it. The other rows, and what runs them, are in everyday.py."""
import random

import numpy as np

np.seterr(all="ignore")


class Source:
    """Random arguments, as NumPy has them."""

    def __init__(self, seed):
        self.random, self.numpy = random.Random(seed), np.random.default_rng(seed)

    def n(self, low=0, high=6):
        return self.random.randrange(low, high + 1)

    def pick(self, *all_):
        return self.random.choice(all_)

    def array(self, *shape, kinds="fff", nans=False):
        kind = self.random.choice(kinds)
        x = np.round(self.numpy.normal(0, 3, shape), 2)
        if kind == "i":
            return np.asarray(self.numpy.integers(-5, 6, shape))
        if kind == "b":
            return np.asarray(self.numpy.integers(0, 2, shape) == 1)
        if kind == "s":
            return np.asarray(x, np.float32)
        if kind == "c":
            x = x + 1j * np.round(self.numpy.normal(0, 3, shape), 2)
        if nans and x.size:
            x = np.where(self.numpy.random(shape) < 0.3, np.nan, x)
        return np.asarray(x)

    def any(self, kinds="ffi", least=0, ranks=(1, 1, 2, 3), nans=False):
        return self.array(*(self.n(least, 5) for _ in range(self.pick(*ranks))), kinds=kinds, nans=nans)

    def axis(self, x):
        return self.random.randrange(-x.ndim, x.ndim)

    def over(self, x):
        """What reductions take, as words of Toy and of NumPy."""
        axis = self.pick(None, *range(-x.ndim, x.ndim), *([(0, -1)] if x.ndim > 1 else []))
        keep = self.pick(True, False)
        words = ("" if axis is None else f", axis = {axis}") + (", keepdims = true" if keep else "")
        return words, {"axis": axis, "keepdims": keep}


def scalar(x):
    if isinstance(x, (bool, np.bool_)):
        return "true" if x else "false"
    if isinstance(x, (complex, np.complexfloating)):
        return f"complex({scalar(x.real)}, {scalar(x.imag)})"
    return repr(x.item() if isinstance(x, np.generic) else x)


def toy_of(x):
    if isinstance(x, (tuple, list)):
        return "(" + ", ".join(map(toy_of, x)) + ",)"
    x = np.asarray(x)
    name = {"float64": "f64", "float32": "f32", "int64": "i64", "bool": "bool", "complex128": "c128"}[x.dtype.name]
    if x.ndim == 0:
        return f"{name}({scalar(x[()])})"
    if x.size == 0:
        return f"zeros({list(x.shape)}, dtype = {name})"

    def text(a):
        return "[" + ", ".join(map(text, a)) + "]" if a.ndim else scalar(a[()])

    return f"{name}({text(x)})"


ROWS = {}


def row(*names):
    def put(f):
        for name in names:
            ROWS[name] = f
        return f

    return put


def call(name, *arguments, words=""):
    return f"{name}({', '.join(map(toy_of, arguments))}{words})"


@row("median", "nanmedian", "nanmean", "nanmin", "nanmax")
def orders(name, s):
    x = s.any("ffis" if "mean" not in name else "ffic", 1, nans="nan" in name)
    words, options = s.over(x)
    with np.testing.suppress_warnings() as quiet:
        quiet.filter(RuntimeWarning)
        return call(name, x, words=words), getattr(np, name)(x, **options)


@row("nansum", "nanprod")
def sums(name, s):
    x = s.any("ffic", nans=True)
    words, options = s.over(x)
    return call(name, x, words=words), getattr(np, name)(x, **options)


@row("nanvar", "nanstd")
def spread(name, s):
    x, ddof = s.any("ffic", 1, nans=True), s.n(0, 1)
    words, options = s.over(x)
    with np.testing.suppress_warnings() as quiet:
        quiet.filter(RuntimeWarning)
        return call(name, x, words=f", ddof = {ddof}{words}"), getattr(np, name)(x, ddof=ddof, **options)


@row("quantile", "percentile")
def quantiles(name, s):
    x, scale = s.any("ffi", 1, nans=s.n() == 0), 100 if name == "percentile" else 1
    q = s.pick(np.float64(s.n(0, 4) / 4), np.float64(0.3), np.round(s.numpy.random(s.n(1, 3)), 2)) * scale
    words, options = s.over(x)
    return call(name, x, np.asarray(q), words=words), getattr(np, name)(x, q, **options)


@row("diff")
def differences(name, s):
    x = s.any("ffibc")
    axis, n = s.axis(x), s.n(0, 3)
    return call(name, x, words=f", n = {n}, axis = {axis}"), np.diff(x, n=n, axis=axis)


@row("trapezoid", "cumulative_trapezoid")
def integrals(name, s):
    y = s.any("ffic", 1)
    axis = s.axis(y)
    n = y.shape[axis]
    way = s.n(0, 2)
    x = np.cumsum(np.abs(s.array(n))) if way == 1 else np.asarray(s.array(*y.shape)) if way == 2 else None
    m = np.moveaxis(y, axis, -1)
    steps = 0.5 if x is None else np.diff(x) if way == 1 else np.diff(np.moveaxis(x, axis, -1))
    areas = steps * (m[..., 1:] + m[..., :-1]) / 2
    words = (f", x = {toy_of(x)}" if way else ", dx = 0.5") + f", axis = {axis}"
    if name == "trapezoid":
        return call(name, y, words=words), np.trapz(y, x, dx=0.5, axis=axis)
    return call(name, y, words=words), np.moveaxis(np.cumsum(areas, -1), -1, axis)


@row("interp")
def interpolation(name, s):
    n = s.n(1, 6)
    xp, fp = np.sort(s.array(n)), s.array(n, kinds="ffc")
    x = s.pick(s.array(s.n()), s.array(), xp, s.array(s.n(1), s.n(1), nans=n > 1))
    return call(name, x, xp, fp), np.interp(x, xp, fp)


@row("searchsorted")
def searching(name, s):
    a = np.sort(s.array(s.n(), kinds="fi", nans=s.n() == 0))
    v, side = s.pick(s.array(), s.any("fi", nans=s.n() == 0)), s.pick("left", "right")
    return call(name, a, v, words=f', side = "{side}"'), np.searchsorted(a, v, side)


@row("digitize")
def bins(name, s):
    x, edges, right = s.any("fi"), np.sort(s.array(s.n(1))), s.pick(True, False)
    edges = s.pick(edges, edges[::-1])
    x = s.pick(x, edges, np.repeat(edges, 2))
    return call(name, x, edges, words=f", right = {scalar(right)}"), np.digitize(x, edges, right)


@row("bincount")
def counts(name, s):
    x, least = s.numpy.integers(0, 7, s.n()), s.n(0, 9)
    weights = s.pick(None, s.array(len(x)))
    words = ("" if weights is None else f", weights = {toy_of(weights)}") + f", minlength = {least}"
    want = np.bincount(x, weights, least)
    return call(name, x, words=words), want if weights is None else want.astype(np.float64)


@row("histogram")
def histograms(name, s):
    x = s.any("ffi")
    weights = s.pick(None, None, s.array(*x.shape))
    words = "" if weights is None else f", weights = {toy_of(weights)}"
    if s.n(0, 2) == 0:
        edges = np.sort(s.array(s.n(2)))
        return call(name, x, edges, words=words), np.histogram(x, edges, weights=weights)
    n, within = s.n(1, 8), s.pick(None, (-2, 3), (1.0, 1.0))
    words = f", bins = {n}" + (f", range = {within}" if within else "") + words
    return call(name, x, words=words), np.histogram(x, n, within, weights=weights)


@row("tensordot")
def contraction(name, s):
    a, b = s.array(2, s.n(), 3, kinds="fc"), s.array(3, 2, s.n(), kinds="fc")
    if s.n(0, 1):
        return call(name, a, b, words=", axes = ((0, 2), (1, 0))"), np.tensordot(a, b, ((0, 2), (1, 0)))
    b = s.array(3, s.n(), kinds="fc")
    return call(name, a, b, words=", axes = 1"), np.tensordot(a, b, 1)


@row("moveaxis")
def moves(name, s):
    x = s.array(2, s.n(), 3, s.n(1))
    source, target = (tuple(s.random.sample(range(-4, 4), 1)) for _ in range(2))
    if s.n(0, 1):
        source, target = (tuple(s.random.sample(range(4), 2)) for _ in range(2))
    return call(name, x, words=f", {list(source)}, {list(target)}"), np.moveaxis(x, source, target)


@row("meshgrid")
def grids(name, s):
    xs, indexing = [s.array(s.n()) for _ in range(s.n(1, 3))], s.pick("xy", "ij")
    return call(name, *xs, words=f', indexing = "{indexing}"'), tuple(np.meshgrid(*xs, indexing=indexing))


@row("cross")
def vector_products(name, s):
    shape = [s.n(1, 4), s.n(1, 4)]
    axis = s.n(0, 2)
    shape.insert(axis, 3)
    a, b = s.array(*shape, kinds="fci"), s.array(*shape, kinds="fci")
    return call(name, a, b, words=f", axis = {axis}"), np.cross(a, b, axis=axis)


@row("argwhere")
def positions(name, s):
    x = s.any("ib")
    return call(name, x), np.argwhere(x)


@row("isclose", "allclose")
def close(name, s):
    a = s.any("fic", nans=s.n(0, 1) == 0)
    b = s.pick(a + 1e-9, a * (1 + 1e-6), a + 1e-4, np.where(a == a, a, np.inf))
    words = s.pick("", ", rtol = 1e-4, atol = 1e-2", ", equal_nan = true")
    options = {"": {}, ", equal_nan = true": {"equal_nan": True}}.get(words, {"rtol": 1e-4, "atol": 1e-2})
    return call(name, a, b, words=words), getattr(np, name)(a, b, **options)


@row("array_equal")
def equal(name, s):
    a = s.any("fic", nans=s.n(0, 1) == 0)
    b, nans = s.pick(a, a + 1, a[:1], a[None]), s.pick(True, False)
    return call(name, a, b, words=f", equal_nan = {scalar(nans)}"), np.array_equal(a, b, equal_nan=nans)


@row("sinc", "exp2", "deg2rad", "rad2deg")
def elements(name, s):
    x = s.any("ffic" if name == "sinc" else "ffis")
    return call(name, x), getattr(np, name)(x)


@row("copysign", "logaddexp", "heaviside")
def pairs(name, s):
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.0])
    x, y = s.pick((s.array(4), s.array(3, 1)), (special, special[:, None]), (s.array(3, kinds="i"), s.array(3)))
    if name == "copysign":
        y = np.where(np.isnan(y), 1.0, y)
    return call(name, x, y), getattr(np, name)(x, y)


@row("nan_to_num")
def numbers(name, s):
    x = s.any("ffisc")
    if x.size and x.dtype.kind in "fc":
        x.flat[0] = s.pick(np.nan, np.inf, -np.inf)
    words, options = s.pick(
        ("", {}), (", nan = 2.0, posinf = 7.0, neginf = -8.0", {"nan": 2, "posinf": 7, "neginf": -8})
    )
    return call(name, x, words=words), np.nan_to_num(x, **options)


@row("softplus", "log_softmax")
def logistic(name, s):
    x = s.any("ffi", 1)
    if name == "softplus":
        return call(name, x), np.logaddexp(x, 0)
    axis = s.axis(x)
    return call(name, x, words=f", axis = {axis}"), x - np.logaddexp.reduce(np.float64(x), axis, keepdims=True)


@row("average")
def averages(name, s):
    x = s.any("ffic", 1, ranks=(1, 2, 3))
    axis = s.axis(x)
    way = s.n(0, 2)
    weights = [None, np.abs(s.array(x.shape[axis])) + 0.5, np.abs(s.array(*x.shape)) + 0.5][way]
    words = f", axis = {axis}" + (f", weights = {toy_of(weights)}" if way else "")
    return call(name, x, words=words), np.average(x, axis, weights)


@row("cov", "corrcoef")
def covariances(name, s):
    x = s.array(s.n(1, 4), s.n(3, 6), kinds="ffic") if s.n(0, 3) else s.array(s.n(2, 6))
    rows = s.pick(True, False) if x.ndim == 2 and x.shape[0] > 1 else True
    if name == "corrcoef":
        x = x + 0.01 * np.arange(x.size).reshape(x.shape) ** 2
    y = s.pick(None, s.array(*x.shape[:-1], x.shape[-1], kinds="fc"))
    if y is not None and s.n(0, 1):
        y = y.reshape(-1)[-x.shape[-1 if rows else 0] :]  # a vector beside a matrix
    want = getattr(np, name)(x, y, rowvar=rows)  # of one variable NumPy drops the axes
    words = ("" if y is None else f", y = {toy_of(y)}") + f", rowvar = {scalar(rows)}"
    return call(name, x, words=words), want.reshape((1, 1) if x.ndim == 2 and want.ndim == 0 else want.shape)
