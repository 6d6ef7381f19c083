# SPDX-License-Identifier: Apache-2.0
"""Order statistics, sums without nan, differences, windows, polynomials: the functions of lib/toy beside NumPy's."""
from table import *

WHOLE = sizes(**{"10^3": (1000,), "10^6": (1000, 1000)})
VECTOR = sizes(**{"10^3": (1000,), "10^5": (100000,)})
SQUARE = sizes(small=(8, 8), large=(100, 100))


def numpy_only(name, toy, numpy, inputs=None, dtypes=FLOATS, classes=WHOLE, **options):
    case(name, toy, numpy, None, None, inputs, dtypes, classes, **options)


# --- elements
for f in ("sinc", "exp2", "deg2rad", "rad2deg"):
    same(f, f"{f}(x)", f"M.{f}(x)", dtypes=FLOATS, classes=WHOLE)
for f in ("logaddexp", "copysign", "heaviside"):
    same(f, f"{f}(x, y)", f"M.{f}(x, y)", inputs=TWO, dtypes=FLOATS, classes=WHOLE)
same("nan_to_num", "nan_to_num(x)", "M.nan_to_num(x)", dtypes=FLOATS, classes=WHOLE)
case(
    "softplus", "softplus(x)", "np.logaddexp(x, 0)", "F.softplus(x)", "jax.nn.softplus(x)", dtypes=FLOATS, classes=WHOLE
)
for f in ("isclose", "allclose"):
    same(f, f"{f}(x, y)", f"M.{f}(x, y)", inputs=TWO, dtypes=FLOATS, classes=WHOLE)
case("array_equal", "array_equal(x, x)", "np.array_equal(x, x)", "torch.equal(x, x)", dtypes=FLOATS, classes=WHOLE)
# --- reductions
case(
    "log_softmax", "log_softmax(x)", None, "F.log_softmax(x, -1)", "jax.nn.log_softmax(x)", dtypes=FLOATS, classes=WHOLE
)
for f in ("median", "nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmin", "nanmax", "nanmedian"):
    numpy_only(f, f"{f}(x)", f"np.{f}(x)")
numpy_only("quantile", "quantile(x, 0.3)", "np.quantile(x, 0.3)")
numpy_only("percentile", "percentile(x, 30)", "np.percentile(x, 30)")
numpy_only("average", "average(x, weights = abs(y) + 1)", "np.average(x, weights=np.abs(y) + 1)", TWO)
for f in ("cov", "corrcoef"):
    numpy_only(f, f"{f}(x)", f"np.{f}(x)", classes=SQUARE)
case(
    "topk", "topk(x, 10)[0]", None, "torch.topk(x, 10).values", "jax.lax.top_k(x, 10)[0]", dtypes=FLOATS, classes=WHOLE
)
# --- order and counting
SORTED = {"x": "normal", "y": "normal"}
numpy_only("searchsorted", "searchsorted(sort(x), y)", "np.searchsorted(np.sort(x), y)", SORTED, classes=VECTOR)
numpy_only("digitize", "digitize(y, sort(x))", "np.digitize(y, np.sort(x))", SORTED, classes=VECTOR)
numpy_only("interp", "interp(y, sort(x), x)", "np.interp(y, np.sort(x), x)", SORTED, ("f64",), VECTOR)
numpy_only("bincount", "bincount(i64(x))", "np.bincount(x)", {"x": "index:16"}, ("i64",), VECTOR)
numpy_only("histogram", "histogram(x)[0]", "np.histogram(x)[0]", classes=VECTOR)
# --- differences and areas
numpy_only("diff", "diff(x)", "np.diff(x)")
numpy_only("trapezoid", "trapezoid(x)", "np.trapezoid(x)")
numpy_only("cumulative_trapezoid", "cumulative_trapezoid(x)", "np.cumsum((x[..., 1:] + x[..., :-1]) / 2, -1)")
numpy_only("unwrap", "unwrap(x)", "np.unwrap(x)")
# --- arrays
numpy_only("argwhere", "argwhere(x > 0)", "np.argwhere(x > 0)")
THREES = sizes(small=(10, 3), large=(100000, 3))
numpy_only("cross", "cross(x, y)", "np.cross(x, y)", TWO, classes=THREES)
numpy_only("moveaxis", "moveaxis(x, 0, -1) + 0", "np.ascontiguousarray(np.moveaxis(x, 0, -1))", classes=SQUARE)
numpy_only("meshgrid", "meshgrid(x, x)[0] + 0", "np.meshgrid(x, x)[0] + 0", classes=sizes(large=(1000,)))
numpy_only("tensordot", "tensordot(x, x, 1)", "np.tensordot(x, x, 1)", classes=SQUARE)
numpy_only("rot90", "rot90(x)", "np.ascontiguousarray(np.rot90(x))", classes=SQUARE)
numpy_only("vander", "vander(x, 4)", "np.vander(x, 4)", classes=VECTOR)
TOEPLITZ = "x[np.abs(np.arange(len(x))[:, None] - np.arange(len(x)))]"
numpy_only("toeplitz", "toeplitz(x)", TOEPLITZ, classes=sizes(small=(16,), large=(1000,)))
numpy_only("logspace", "logspace(0, 2, 1000)", "np.logspace(0, 2, 1000)", dtypes=("f64",), classes=sizes(one=(1,)))
numpy_only("one_hot", "one_hot(x, 16)", "np.eye(16)[x]", {"x": "index:16"}, ("i64",), VECTOR)
ADDED = {"x": "normal", "y": "index:16"}
PLACES = "(lambda r: (np.add.at(r, y, x), r)[1])(np.zeros_like(x))"
for f, toy in (
    ("put_add", "put_add(zeros_like(x), y, x)"),
    ("index_add", "index_add(zeros_like(x), 0, y, x)"),
    ("scatter_add", "scatter_add(zeros_like(x), 0, y, x)"),
):
    numpy_only(f, toy, PLACES, ADDED, ("f64",), VECTOR)
# --- algebra
SYMMETRIC = "(x + x.T)"
numpy_only("eigvalsh", "eigvalsh(x + x')", f"np.linalg.eigvalsh({SYMMETRIC})", classes=SQUARE)
numpy_only("svdvals", "svdvals(x)", "np.linalg.svd(x, compute_uv=False)", classes=SQUARE)
numpy_only("pinv", "pinv(x)", "np.linalg.pinv(x)", dtypes=("f64",), classes=SQUARE, tolerance=1e4)
numpy_only("matrix_rank", "matrix_rank(x)", "np.linalg.matrix_rank(x)", classes=SQUARE)
numpy_only("cond", "cond(x)", "np.linalg.cond(x)", dtypes=("f64",), classes=SQUARE, tolerance=1e4)
WIDE = sizes(small=(4, 8), large=(50, 100))
NULL = "(n => abs(n @ n'))(null_space(x))", "np.abs((n := linalg.null_space(x)) @ n.T)"
numpy_only("null_space", *NULL, dtypes=("f64",), classes=WIDE, tolerance=1e4)
case("expm", "expm(x / 10)", None, "torch.matrix_exp(x / 10)", "jax.scipy.linalg.expm(x / 10)", dtypes=("f64",), classes=SQUARE, tolerance=1e3)  # fmt: skip
COEFFICIENTS = [Class("degree 9", {"x": (100000,), "y": (10,)})]
numpy_only("polyval", "polyval(y, x)", "np.polyval(y, x)", TWO, classes=COEFFICIENTS, tolerance=1e3)
numpy_only("polymul", "polymul(x, y)", "np.polymul(x, y)", TWO, classes=sizes(small=(10,), large=(1000,)))
numpy_only("polyder", "polyder(x)", "np.polyder(x)", classes=VECTOR)
numpy_only("polyfit", "polyfit(x, y, 3)", "np.polyfit(x, y, 3)", TWO, ("f64",), VECTOR, tolerance=1e4)
# --- signals and networks
POINTS = [Class("10^3", {"*": (1,)}, {"n": 1000}), Class("10^6", {"*": (1,)}, {"n": 1000000})]
for f, numpy in (("hann", "hanning"), ("hamming", "hamming"), ("blackman", "blackman"), ("bartlett", "bartlett")):
    numpy_only(f, f"{f}({{n}})", f"np.{numpy}({{n}})", dtypes=("f64",), classes=POINTS)
numpy_only("kaiser", "kaiser({n}, 5.0)", "np.kaiser({n}, 5.0)", dtypes=("f64",), classes=POINTS)
numpy_only(
    "correlate", "correlate(x, y)", "np.correlate(x, y)", TWO, classes=[Class("100", {"x": (10000,), "y": (100,)})]
)
case("rfft2", "rfft2(x)", "np.fft.rfft2(x)", "torch.fft.rfft2(x)", "jnp.fft.rfft2(x)", dtypes=FLOATS, classes=FLAT)
case(
    "irfft2", "irfft2(x)", "np.fft.irfft2(x)", "torch.fft.irfft2(x)", "jnp.fft.irfft2(x)", dtypes=COMPLEX, classes=FLAT,
)  # fmt: skip
ENTROPY = {"x": "normal", "y": "index:16"}
case(
    "cross_entropy", "cross_entropy(x, y)", None, "F.cross_entropy(x, y)", None, ENTROPY, FLOATS,
    [Class("16 classes", {"x": (1000, 16), "y": (1000,)})],
)  # fmt: skip
numpy_only("slogdet", "slogdet(x)[1]", "np.linalg.slogdet(x)[1]", classes=SQUARE, tolerance=100)
LU = "torch.linalg.lu(x).U.abs()", "jnp.abs(jax.scipy.linalg.lu(x)[2])"
case("lu", "abs(lu(x)[2])", None, *LU, dtypes=("f64",), classes=SQUARE, tolerance=1e3)
TRIANGLE = "torch.linalg.solve_triangular(x + 9 * torch.eye(len(x)), y, upper=True)"
case(
    "solve_triangular", "solve_triangular(x + 9 * eye(len(x)), y)", None, TRIANGLE, None, TWO, ("f64",), SQUARE,
    tolerance=1e4,
)  # fmt: skip
numpy_only("indices", "indices(x.shape)", "np.indices(x.shape)", dtypes=("f64",), classes=SQUARE)
BLOCKS = "torch.block_diag(x, x)", "jax.scipy.linalg.block_diag(x, x)"
case("block_diag", "block_diag(x, x)", None, *BLOCKS, dtypes=FLOATS, classes=SQUARE)
same("rfftn", "rfftn(x)", "M.fft.rfftn(x)", dtypes=FLOATS, classes=SQUARE)
same("irfftn", "irfftn(x)", "M.fft.irfftn(x)", dtypes=COMPLEX, classes=SQUARE)
FRAMES = sizes(large=(100000,))
STFT = "torch.stft(x, 256, 64, window=torch.ones(256, dtype=x.dtype), return_complex=True)"
case("stft", "stft(x, 256, 64)", None, STFT, None, dtypes=FLOATS, classes=FRAMES)
case(
    "istft", "istft(stft(x, 256, 64), 256, 64)", None,
    f"torch.istft({STFT}, 256, 64, window=torch.ones(256, dtype=x.dtype))", None, dtypes=FLOATS, classes=FRAMES,
)  # fmt: skip
