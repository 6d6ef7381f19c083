# SPDX-License-Identifier: Apache-2.0
"""Linear algebra, signals, the library written in the language."""
from table import *

# --- linear algebra
ORDERS = sizes(**{"4": (4, 4), "32": (32, 32), "200": (200, 200), "batch of 4": (1000, 4, 4)})
case(
    "matmul",
    "matmul(x, y)",
    "np.matmul(x, y)",
    "torch.matmul(x, y)",
    "jnp.matmul(x, y)",
    TWO,
    LINEAR,
    sizes(**{"128": (128, 128)}),
)
DOTS = sizes(**{"16": (16,), "10^3": (1000,), "10^6": (1000000,)})
same("dot", "dot(x, y)", "M.dot(x, y)", inputs=TWO, dtypes=LINEAR, classes=DOTS, tolerance=20)
same("vdot", "vdot(x, y)", "M.vdot(x, y)", inputs=TWO, dtypes=LINEAR, classes=DOTS, tolerance=20)
same("outer", "outer(x, y)", "M.outer(x, y)", inputs=TWO, dtypes=LINEAR, classes=DOTS[:2])
SPD, GENERAL = {"x": "definite"}, {"x": "dominant"}
same("det", "det(x)", "M.linalg.det(x)", inputs={"x": "well scaled"}, dtypes=LINEAR, classes=ORDERS, tolerance=100)
same("inv", "inv(x)", "M.linalg.inv(x)", inputs=GENERAL, dtypes=LINEAR, classes=ORDERS, tolerance=100)
RIGHT = [Class(c.name, {"x": c.sizes["*"], "y": (*c.sizes["*"][:-1], 3)}) for c in ORDERS]
same(
    "solve",
    "solve(x, y)",
    "M.linalg.solve(x, y)",
    inputs={**GENERAL, "y": "normal"},
    dtypes=LINEAR,
    classes=RIGHT,
    tolerance=100,
)
case(
    "lstsq", "lstsq(x, y)[0]", "np.linalg.lstsq(x, y)[0]", 'torch.linalg.lstsq(x, y, driver="gelsd").solution',
    "jnp.linalg.lstsq(x, y)[0]", TWO, LINEAR,
    [Class("small", {"x": (8, 4), "y": (8, 2)}), Class("large", {"x": (300, 100), "y": (300, 3)})], 1000,
)  # fmt: skip
same("cholesky", "cholesky(x)", "M.linalg.cholesky(x)", inputs=SPD, dtypes=LINEAR, classes=ORDERS, tolerance=100)
case(
    "qr",
    "abs(qr(x)[1])",
    "abs(np.linalg.qr(x)[1])",
    "torch.linalg.qr(x)[1].abs()",
    "abs(jnp.linalg.qr(x)[1])",
    dtypes=LINEAR,
    classes=ORDERS,
    tolerance=100,
)
same("svd", "svd(x)[1]", "M.linalg.svd(x)[1]", dtypes=LINEAR, classes=ORDERS, tolerance=100)
same("eigh", "eigh(x)[0]", "M.linalg.eigh(x)[0]", inputs=SPD, dtypes=LINEAR, classes=ORDERS, tolerance=100)
for f, pick in (("eig", "[0]"), ("eigvals", "")):
    case(
        f,
        f"sum({f}(x){pick}, axis=-1)",
        *[f"M.linalg.{f}(x){pick}.sum(-1)".replace("M", m) for m in ("np", "torch", "jnp")],
        dtypes=LINEAR,
        classes=ORDERS,
        tolerance=1000,
    )
case(
    "roots",
    "sum(roots(x))",
    "np.roots(x).sum()",
    None,
    "jnp.roots(x, strip_zeros=False).sum()",
    inputs={"x": "positive"},
    dtypes=FLOATS,
    classes=sizes(**{"5": (5,), "50": (50,)}),
    tolerance=1000,
)
EINSUMS = (
    ("bqd,bkd->bqk", {"x": (8, 128, 64), "y": (8, 128, 64)}),
    ("ij,jk->ik", {"x": (200, 200), "y": (200, 200)}),
    ("ij,kj->", {"x": (200, 200), "y": (200, 200)}),
    ("bij,bj->bi", {"x": (64, 64, 64), "y": (64, 64)}),
    ("i,j->ij", {"x": (1000,), "y": (1000,)}),
    ("ij,ij->i", {"x": (100000, 3), "y": (100000, 3)}),
    ("ij,ij->j", {"x": (1000, 1000), "y": (1000, 1000)}),
    ("ij->ji", {"x": (500, 500)}),
    ("ij->j", {"x": (500, 500)}),
    ("ii->i", {"x": (500, 500)}),
    ("ij,jkl,lm->ikm", {"x": (64, 64), "y": (64, 64, 64), "z": (64, 64)}),
    ("ij,jk,kl->il", {"x": (100, 100), "y": (100, 100), "z": (100, 2)}),
)
for subscripts, shapes in EINSUMS:
    names = ", ".join(shapes)
    case(
        f"einsum {subscripts}", f'einsum("{subscripts}", {names})',
        f'np.asarray(np.einsum("{subscripts}", {names}, optimize=True), order="C")',
        f'torch.einsum("{subscripts}", {names}).contiguous()', f'jnp.einsum("{subscripts}", {names})', inputs={n: "normal" for n in shapes},
        dtypes=("f32", "f64", "c64"), classes=[Class("whole", shapes)], tolerance=10,
    )  # fmt: skip
case("trace", "trace(x)", "np.trace(x)", "torch.trace(x)", "jnp.trace(x)", dtypes=LINEAR, classes=FLAT)
case(
    "kron",
    "kron(x, y)",
    "np.kron(x, y)",
    "torch.kron(x, y)",
    "jnp.kron(x, y)",
    TWO,
    LINEAR,
    sizes(small=(2, 2), large=(32, 32)),
)
case(
    "matrix_power", "matrix_power(x, 5)", *[f"{m}.linalg.matrix_power(x, 5)" for m in ("np", "torch", "jnp")],
    inputs={"x": "near identity"}, dtypes=LINEAR, classes=ORDERS, tolerance=100,
)  # fmt: skip
# --- signals
POINTS = sizes(
    **{
        "16": (16,),
        "1024": (1024,),
        "1000": (1000,),
        "2^16": (65536,),
        "rows": (256, 1024),
        "rows of 1000": (200, 1000),
        "rows of 729": (300, 729),
        "rows of 997": (100, 997),
        "short rows": (20000, 8),
    }
)
COLUMNS = [Class("axis 0", {"*": (1024, 256)}, along(0)), Class("middle", {"*": (32, 128, 64)}, along(1))]
for f in ("fft", "ifft"):
    same(
        f,
        f"{f}(x{{axis}})",
        f"M.fft.{f}(x{{axis}})".replace("torch.fft", "torch.fft"),
        dtypes=COMPLEX,
        classes=POINTS + COLUMNS,
        tolerance=10,
    )
    CASES[-1].torch = f"torch.fft.{f}(x{{dim}})"
case(
    "rfft",
    "rfft(x{axis})",
    "np.fft.rfft(x{axis})",
    "torch.fft.rfft(x{dim})",
    "jnp.fft.rfft(x{axis})",
    dtypes=FLOATS,
    classes=POINTS + COLUMNS,
    tolerance=10,
)
case(
    "irfft",
    "irfft(x{axis})",
    "np.fft.irfft(x{axis})",
    "torch.fft.irfft(x{dim})",
    "jnp.fft.irfft(x{axis})",
    inputs={"x": "spectrum"},
    dtypes=COMPLEX,
    classes=sizes(**{"17": (17,), "513": (513,), "rows": (256, 513)}) + [Class("axis 0", {"*": (513, 256)}, along(0))],
    tolerance=10,
)
PLANES = sizes(small=(8, 8), large=(512, 512), batch=(16, 64, 64))
for f in ("fft2", "ifft2"):
    same(f, f"{f}(x)", f"M.fft.{f}(x)", dtypes=COMPLEX, classes=PLANES, tolerance=10)
for f in ("fftn", "ifftn"):
    same(f, f"{f}(x)", f"M.fft.{f}(x)", dtypes=COMPLEX, classes=sizes(large=(64, 64, 64)), tolerance=10)
for f in ("fftshift", "ifftshift"):
    same(f, f"{f}(x)", f"M.fft.{f}(x)", dtypes=("f32", "c64"), classes=FLAT)
CONV1 = [Class("small", {"x": (1, 2, 16), "w": (2, 2, 3)}), Class("large", {"x": (8, 16, 4096), "w": (16, 16, 9)}),
         Class("one channel", {"x": (1, 1, 100000), "w": (1, 1, 33)})]  # fmt: skip
WEIGHTS = {"x": "normal", "w": "normal"}
case(
    "conv1d",
    "conv1d(x, w)",
    None,
    "F.conv1d(x, w)",
    'jax.lax.conv_general_dilated(x, w, (1,), "VALID")',
    WEIGHTS,
    LINEAR,
    CONV1,
    10,
)
CONV2 = [Class("small", {"x": (1, 2, 8, 8), "w": (2, 2, 3, 3)}), Class("large", {"x": (1, 32, 64, 64), "w": (64, 32, 3, 3)}),
         Class("1 x 1", {"x": (1, 64, 64, 64), "w": (64, 64, 1, 1)}), Class("images", {"x": (4, 3, 128, 128), "w": (16, 3, 5, 5)})]  # fmt: skip
case(
    "conv2d",
    "conv2d(x, w, padding=1)",
    None,
    "F.conv2d(x, w, padding=1)",
    "jax.lax.conv_general_dilated(x, w, (1, 1), ((1, 1), (1, 1)))",
    WEIGHTS,
    LINEAR,
    CONV2,
    10,
)
case(
    "conv2d stride 2",
    "conv2d(x, w, stride=2)",
    None,
    "F.conv2d(x, w, stride=2)",
    'jax.lax.conv_general_dilated(x, w, (2, 2), "VALID")',
    WEIGHTS,
    FLOATS,
    CONV2[1:2],
    10,
)
case(
    "conv_transpose",
    "conv_transpose(x, w, stride=2)",
    None,
    "F.conv_transpose2d(x, w, stride=2)",
    None,
    WEIGHTS,
    LINEAR,
    [
        Class("small", {"x": (1, 2, 8, 8), "w": (2, 2, 3, 3)}),
        Class("large", {"x": (1, 32, 32, 32), "w": (32, 32, 3, 3)}),
    ],
    10,
)
SIGNALS = [
    Class("small", {"x": (16,), "w": (5,)}),
    Class("long", {"x": (10000,), "w": (100,)}),
    Class("both long", {"x": (4000,), "w": (4000,)}),
]
case(
    "convolve",
    "convolve(x, w)",
    "np.convolve(x, w)",
    None,
    "jnp.convolve(x, w)",
    WEIGHTS,
    (*LINEAR, "i64"),
    SIGNALS,
    10,
)
# --- the library
REAL = (*FLOATS, "bf16")
case("square", "square({x})", "np.square({x})", "torch.square({x})", "jnp.square({x})", dtypes=NUMBERS)
case("sigmoid", "sigmoid({x})", "special.expit({x})", "torch.sigmoid({x})", "jax.nn.sigmoid({x})", dtypes=REAL)
case("silu", "silu({x})", "{x} * special.expit({x})", "F.silu({x})", "jax.nn.silu({x})", dtypes=REAL)
case("relu", "relu({x})", "np.maximum({x}, 0)", "F.relu({x})", "jax.nn.relu({x})", dtypes=REAL)
case(
    "gelu",
    "gelu({x})",
    "0.5 * {x} * (1 + special.erf({x} * 0.7071067811865476))",
    "F.gelu({x})",
    "jax.nn.gelu({x}, approximate=False)",
    dtypes=REAL,
)
GELU = "0.5 * {x} * (1 + M.tanh(0.7978845608 * ({x} + 0.044715 * {x} * {x} * {x})))"
case(
    "gelu by tanh",
    GELU.replace("M.", ""),
    GELU.replace("M", "np"),
    'F.gelu({x}, approximate="tanh")',
    GELU.replace("M", "jnp"),
    dtypes=REAL,
)
case(
    "mean",
    "mean({x}{axis})",
    "np.mean({x}{axis})",
    "torch.mean({x}{dim})",
    "jnp.mean({x}{axis})",
    dtypes=(*LINEAR, "bf16"),
    classes=FOLD,
)
for f in ("var", "std"):
    case(
        f,
        f"{f}({{x}}{{axis}})",
        f"np.{f}({{x}}{{axis}})",
        f"torch.{f}({{x}}{{dim}}, correction=0)",
        f"jnp.{f}({{x}}{{axis}})",
        dtypes=(*FLOATS, "c64"),
        classes=FOLD,
    )
case(
    "norm",
    "norm({x}{axis})",
    "np.linalg.norm({x}{axis})",
    "torch.linalg.vector_norm({x}{dim})",
    "jnp.linalg.norm({x}{axis})",
    dtypes=LINEAR,
    classes=[c for c in FOLD_ONE if c.name != "10^6"],
)
SHIFTED = "(lambda e: e / e.sum(axis={a}, keepdims=True))(np.exp({x} - {x}.max(axis={a}, keepdims=True)))"
case(
    "softmax",
    "softmax({x}{axis})",
    SHIFTED,
    "torch.softmax({x}{dim})",
    "jax.nn.softmax({x}{axis})",
    dtypes=REAL,
    classes=ALONG,
)
case(
    "logsumexp log softmax",
    "{x} - logsumexp({x}{axis}, keepdims=true)",
    None,
    "torch.log_softmax({x}{dim})",
    "jax.nn.log_softmax({x}{axis})",
    dtypes=FLOATS,
    classes=ALONG,
)
case(
    "logsumexp",
    "logsumexp({x}{axis})",
    "special.logsumexp({x}{axis})",
    "torch.logsumexp({x}{dim})",
    "jax.nn.logsumexp({x}{axis})",
    dtypes=FLOATS,
    classes=ALONG,
)
ENTROPY = "x - jax.nn.logsumexp(x, axis=-1, keepdims=True)"
case(
    "logsumexp cross entropy",
    "mean(logsumexp(x) - gather(x, 1, unsqueeze(y, 1))[:, 0])",
    None,
    "F.cross_entropy(x, y)",
    "-jnp.take_along_axis(" + ENTROPY + ", y[:, None], 1).mean()",
    {"x": "normal", "y": "index:10"},
    FLOATS,
    [Class("10 classes", {"x": (10000, 10), "y": (10000,)}), Class("1000 classes", {"x": (1000, 1000), "y": (1000,)})],
)
NORMED = [
    Class("small", {"x": (4, 16), "g": (16,)}),
    Class("rows", {"x": (512, 1024), "g": (1024,)}),
    Class("short rows", {"x": (20000, 8), "g": (8,)}),
]
SCALED = {"x": "normal", "g": "normal"}
case(
    "rmsnorm",
    "rmsnorm(x, g)",
    "x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-5)) * g",
    "F.rms_norm(x, (x.shape[-1],), g, 1e-5)",
    "x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * g",
    SCALED,
    REAL,
    NORMED,
)
case(
    "layernorm",
    "layernorm(x, g)",
    "(x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + np.float32(1e-5)) * g",
    "F.layer_norm(x, (x.shape[-1],), g, None, 1e-5)",
    "(x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * g",
    SCALED,
    REAL,
    NORMED,
)
HEADS = sizes(small=(2, 8, 16), large=(8, 256, 64), long=(2, 1024, 64))
ATTENTION = "jax.nn.softmax(x @ y.swapaxes(1, 2) / np.sqrt(x.shape[-1]).astype(x.dtype), -1) @ z"
ATTENDED = "(lambda s: (lambda e: (e / e.sum(-1, keepdims=True)) @ z)(np.exp(s - s.max(-1, keepdims=True))))(x @ y.swapaxes(1, 2) / np.sqrt(x.shape[-1]).astype(x.dtype))"
QKV = {"x": "normal", "y": "normal", "z": "normal"}
case(
    "attention",
    "attention(x, y, z)",
    ATTENDED,
    "F.scaled_dot_product_attention(x, y, z)",
    ATTENTION,
    QKV,
    FLOATS,
    HEADS,
)
case(
    "attention causal",
    "attention(x, y, z, causal=true)",
    None,
    "F.scaled_dot_product_attention(x, y, z, is_causal=True)",
    None,
    QKV,
    FLOATS,
    HEADS,
)
TURNS = [Class("small", {"x": (1, 4, 2, 8), "f": (4, 4)}), Class("large", {"x": (1, 512, 16, 64), "f": (512, 32)})]
ROPE = "M.view_as_real(M.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) * f[:, None]).flatten(-2)"
TURNED = "(lambda z: jnp.stack([z.real, z.imag], -1).reshape(x.shape))(jax.lax.complex(x[..., 0::2], x[..., 1::2]) * f[:, None])"
case(
    "rope",
    "rope(x, f)",
    "(x.view(f.dtype) * f[:, None]).view(x.dtype)",
    ROPE.replace("M", "torch"),
    TURNED,
    {"x": "normal", "f": "turns"},
    FLOATS,
    TURNS,
)
