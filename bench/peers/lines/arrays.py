# SPDX-License-Identifier: Apache-2.0
"""Reductions, scans, shapes, arrays that are made."""
from table import *

# --- reductions and scans
WHOLE = (*FLOATS, *COMPLEX, "i64", "i32", "u8", "bf16", "bool")
SUM = "M.sum({x}{axis})"
case(
    "sum", "sum({x}{axis})", SUM.replace("M", "np"), "torch.sum({x}{dim})", SUM.replace("M", "jnp"), dtypes=WHOLE,
    classes=FOLD,
)  # fmt: skip
case(
    "prod", "prod({x}{axis})", "np.prod({x}{axis})", "torch.prod({x}{dim})", "jnp.prod({x}{axis})", {"x": "near 1"},
    (*FLOATS, *COMPLEX, "i64", "i32"), FOLD, 100,
)  # fmt: skip
for f in ("max", "min"):
    case(
        f, f"{f}({{x}}{{axis}})", f"np.{f}({{x}}{{axis}})", f"torch.a{f}({{x}}{{dim}})", f"jnp.{f}({{x}}{{axis}})",
        dtypes=(*FLOATS, "i64", "i32", "u8", "bf16", "bool"), classes=FOLD,
    )  # fmt: skip
for f, kind in (("any", "zeros"), ("all", "nonzero")):
    case(
        f, f"{f}({{x}}{{axis}})", f"np.{f}({{x}}{{axis}})", f"torch.{f}({{x}}{{dim}})", f"jnp.{f}({{x}}{{axis}})",
        {"x": kind}, ("f32", "i64", "bool"), FOLD,
    )  # fmt: skip
for f in ("argmax", "argmin"):
    case(
        f, f"{f}({{x}}{{axis}})", f"np.{f}({{x}}{{axis}})", f"torch.{f}({{x}}{{dim}})", f"jnp.{f}({{x}}{{axis}})",
        dtypes=(*FLOATS, "i64", "i32", "u8"), classes=FOLD_ONE,
    )  # fmt: skip
for f in ("cumsum", "cumprod"):
    case(
        f, f"{f}({{x}}{{axis}})", f"np.{f}({{x}}{{axis}})", f"torch.{f}({{x}}{{dim}})", f"jnp.{f}({{x}}{{axis}})",
        {"x": "normal" if f == "cumsum" else "near 1"}, (*FLOATS, "c64", "i64", "i32"), ALONG, 20,
    )  # fmt: skip
case(
    "sort", "sort({x}{axis})", "np.sort({x}{axis})", "torch.sort({x}{dim}).values", "jnp.sort({x}{axis})",
    dtypes=(*FLOATS, "i64", "i32", "u8"), classes=ALONG,
)  # fmt: skip
case(
    "argsort", "argsort({x}{axis})", 'np.argsort({x}{axis}, kind="stable")', "torch.argsort({x}{dim}, stable=True)",
    "jnp.argsort({x}{axis})", dtypes=(*FLOATS, "i64", "i32"), classes=ALONG,
)  # fmt: skip
case(
    "sort part", "sort({x})[..., :8]", "np.sort(np.partition({x}, 7)[..., :8])",
    "torch.sort(torch.topk({x}, 8, largest=False).values).values", "jnp.sort({x})[..., :8]",
    dtypes=(*FLOATS, "i64", "i32"), classes=sizes(rows=(1000, 1000), **{"10^6": (1000000,)}),
)  # fmt: skip
case(
    "roll differences", "{x} - roll({x}, 1, axis = 0)", "{x} - np.roll({x}, 1, axis=0)", "{x} - torch.roll({x}, 1, 0)",
    "{x} - jnp.roll({x}, 1, axis=0)", dtypes=(*FLOATS, "c64"), classes=sizes(large=(700, 900)),
)  # fmt: skip
VECTORS = sizes(**{"16": (16,), "10^3": (1000,), "10^5": (100000,)})
case(
    "sort long",
    "sort(x)",
    "np.sort(x)",
    "torch.sort(x).values",
    "jnp.sort(x)",
    dtypes=(*FLOATS, "i64"),
    classes=VECTORS[2:],
)
case(
    "unique", "unique(x)", "np.unique(x)", "torch.unique(x)", inputs={"x": "few:500"}, dtypes=("i64", "f32"),
    classes=VECTORS,
)  # fmt: skip
case(
    "isin", "isin(x, y)", "np.isin(x, y)", "torch.isin(x, y)", inputs={"x": "few:5000", "y": "few:500"},
    dtypes=("i64", "f32", "f64"), classes=VECTORS,
)  # fmt: skip
# --- shapes
MOVED = ("f32", "f64", "c64", "u8")
COPY = {"numpy": "np.ascontiguousarray({})", "torch": "{}.contiguous()", "jax": "{} + 0"}
TO_COPY = "({x}) + 0"


def moved(name, toy, numpy, torch, jax=None, classes=FLAT, dtypes=MOVED, **options):
    """What is a view elsewhere and must be elements in order here."""
    texts = [text and COPY[k].format(text) for k, text in zip(COPY, (numpy, torch, jax or numpy))]
    case(name, toy, *texts, dtypes=dtypes, classes=classes, **options)


THREE = sizes(small=(2, 3, 4), large=(100, 100, 100), short=(3, 500, 400))
moved("transpose", "transpose(x)", "x.T", "x.mT", classes=FLAT + sizes(tall=(200000, 3), wide=(3, 200000)))
moved("permute", "permute(x, 1, 0, 2)", "np.transpose(x, (1, 0, 2))", "x.permute(1, 0, 2)", classes=THREE)
moved("permute last", "permute(x, 2, 0, 1)", "np.transpose(x, (2, 0, 1))", "x.permute(2, 0, 1)", classes=THREE)
moved("swapaxes", "swapaxes(x, 0, 2)", "np.swapaxes(x, 0, 2)", "x.swapaxes(0, 2)", classes=THREE)
VIEW = sizes(whole=(100, 1, 100))
for name, toy, numpy, torch in (
    ("reshape", "reshape(x, 10, -1)", "x.reshape(10, -1)", "x.reshape(10, -1)"),
    ("squeeze", "squeeze(x)", "x.squeeze()", "x.squeeze()"),
    ("unsqueeze", "unsqueeze(x, 0)", "x[None]", "x.unsqueeze(0)"),
    ("flatten", "flatten(x)", "x.reshape(-1)", "x.flatten()"),
):
    case(name, toy, numpy, torch, dtypes=("f32",), classes=VIEW)
moved(
    "expand", "expand(x, 1000, 1000)", "np.broadcast_to(x, (1000, 1000))", "x.expand(1000, 1000)",
    "jnp.broadcast_to(x, (1000, 1000))", classes=sizes(row=(1, 1000), column=(1000, 1)),
)  # fmt: skip
case(
    "tile",
    "tile(x, 3, 2)",
    "np.tile(x, (3, 2))",
    "x.tile(3, 2)",
    "jnp.tile(x, (3, 2))",
    dtypes=MOVED,
    classes=sizes(small=(4, 4), large=(400, 400)),
)
case(
    "repeat", "repeat(x, 3, axis=-1)", "np.repeat(x, 3, -1)", "x.repeat_interleave(3, -1)", "jnp.repeat(x, 3, -1)",
    dtypes=MOVED, classes=sizes(small=(4, 4), large=(400, 400)),
)  # fmt: skip
for axis in (0, 1):
    case(
        f"cat {axis}", f"cat([x, y, x], axis={axis})", f"np.concatenate([x, y, x], {axis})",
        f"torch.cat([x, y, x], {axis})", f"jnp.concatenate([x, y, x], {axis})", TWO, MOVED, FLAT,
    )  # fmt: skip
    case(
        f"stack {axis}", f"stack([x, y], axis={axis * 2})", f"np.stack([x, y], {axis * 2})",
        f"torch.stack([x, y], {axis * 2})", f"jnp.stack([x, y], {axis * 2})", TWO, MOVED, FLAT,
    )  # fmt: skip
moved(
    "split", "split(x, [1, size(x, 1) - 1], axis=1)[1]", "np.split(x, [1], 1)[1]", "x.split([1, x.shape[1] - 1], 1)[1]"
)
moved("chunk", "chunk(x, 2, axis=1)[1]", "np.split(x, 2, 1)[1]", "x.chunk(2, 1)[1]")
moved("select", "select(x, 1, 2)", "x[:, 2]", "x.select(1, 2)")
for axis in (0, 1):
    case(
        f"flip {axis}", f"flip(x, axis={axis})", f"np.flip(x, {axis}).copy()", f"x.flip({axis})", f"jnp.flip(x, {axis})",
        dtypes=MOVED, classes=FLAT,
    )  # fmt: skip
    case(
        f"roll {axis}", f"roll(x, 3, axis={axis})", f"np.roll(x, 3, {axis})", f"x.roll(3, {axis})",
        f"jnp.roll(x, 3, {axis})", dtypes=MOVED, classes=FLAT,
    )  # fmt: skip
case("pad", "pad(x, 2)", "np.pad(x, 2)", "F.pad(x, (2, 2, 2, 2))", "jnp.pad(x, 2)", dtypes=MOVED, classes=FLAT)
moved("diag", "diag(x)", "np.diagonal(x)", "x.diagonal()")
case("diag of vector", "diag(x)", "np.diag(x)", "x.diag()", "jnp.diag(x)", dtypes=MOVED, classes=sizes(large=(1000,)))
for f in ("tril", "triu"):
    same(f, f"{f}(x)", f"M.{f}(x)", dtypes=MOVED, classes=FLAT)
TAKEN = [Class("small", {"x": (16, 16), "y": (8,)}), Class("large", {"x": (1000, 1000), "y": (1000,)})]
for axis in (0, 1):
    case(
        f"take {axis}", f"take(x, y, axis={axis})", f"np.take(x, y, {axis})", f"x.index_select({axis}, y)",
        f"jnp.take(x, y, {axis})", {"x": "normal", "y": "index:16"}, MOVED, TAKEN,
    )  # fmt: skip
    case(
        f"gather {axis}", f"gather(x, {axis}, y)", f"np.take_along_axis(x, y, {axis})", f"x.gather({axis}, y)",
        f"jnp.take_along_axis(x, y, {axis})", {"x": "normal", "y": "index:4"}, MOVED, FLAT,
    )  # fmt: skip
    case(
        f"scatter {axis}", f"scatter(x, {axis}, y, z)", None, f"x.scatter({axis}, y, z)", None,
        {"x": "normal", "y": f"order:{axis}", "z": "normal"}, MOVED, FLAT,
    )  # fmt: skip
case(
    "nonzero",
    "nonzero(x)",
    "np.argwhere(x)",
    "x.nonzero()",
    inputs={"x": "zeros or ones"},
    dtypes=("f32", "i64", "bool"),
    classes=FLAT,
)
# --- making
for f in ("zeros", "ones"):
    case(
        f,
        f"{f}({{n}}, dtype=x.dtype)",
        f"np.{f}({{n}}, dtype=x.dtype) + (0 * {{n}})",
        f"torch.{f}({{n}}, dtype=x.dtype)",
        dtypes=("f32", "c128", "u8"),
        classes=NEW,
    )
    CASES[-1].numpy = f"np.full({{n}}, {int(f == 'ones')}, dtype=x.dtype)"
    case(
        f"{f}_like",
        f"{f}_like(x)",
        f"np.full_like(x, {int(f == 'ones')})",
        f"torch.{f}_like(x)",
        dtypes=("f32", "c128", "u8"),
        classes=FLAT,
    )
case(
    "full",
    "full([{n}], 3, dtype=x.dtype)",
    "np.full({n}, 3, dtype=x.dtype)",
    "torch.full(({n},), 3, dtype=x.dtype)",
    dtypes=("f32", "c128", "u8"),
    classes=NEW,
)
case(
    "full_like", "full_like(x, 3)", "np.full_like(x, 3)", "torch.full_like(x, 3)", dtypes=("f32", "c128"), classes=FLAT
)
case(
    "eye",
    "eye({n}, dtype=x.dtype)",
    "np.eye({n}, dtype=x.dtype)",
    "torch.eye({n}, dtype=x.dtype)",
    dtypes=("f32", "f64"),
    classes=NEW[:2],
)
case(
    "arange",
    "arange({n}, dtype=x.dtype)",
    "np.arange({n}, dtype=x.dtype)",
    "torch.arange({n}, dtype=x.dtype)",
    dtypes=("f32", "f64", "i64", "i32"),
    classes=NEW,
)
case(
    "linspace",
    "linspace(0, 1, {n}, dtype=x.dtype)",
    "np.linspace(0, 1, {n}, dtype=x.dtype)",
    "torch.linspace(0, 1, {n}, dtype=x.dtype)",
    dtypes=FLOATS,
    classes=NEW,
)
case(
    "rand",
    "rand({n}, dtype=x.dtype)",
    "rng.random({n}, dtype=x.dtype)",
    "torch.rand({n}, dtype=x.dtype)",
    dtypes=FLOATS,
    classes=NEW,
    tolerance=None,
)
case(
    "randn",
    "randn({n}, dtype=x.dtype)",
    "rng.standard_normal({n}, dtype=x.dtype)",
    "torch.randn({n}, dtype=x.dtype)",
    dtypes=FLOATS,
    classes=NEW,
    tolerance=None,
)
case(
    "fftfreq",
    "fftfreq({n})",
    "np.fft.fftfreq({n})",
    "torch.fft.fftfreq({n}, dtype=torch.float64)",
    dtypes=("f64",),
    classes=NEW,
)
case(
    "rfftfreq",
    "rfftfreq({n})",
    "np.fft.rfftfreq({n})",
    "torch.fft.rfftfreq({n}, dtype=torch.float64)",
    dtypes=("f64",),
    classes=NEW,
)
