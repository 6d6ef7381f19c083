# SPDX-License-Identifier: Apache-2.0
"""Functions of elements, operators, reading by index."""
from table import *

# --- elementwise
ARC = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
POSITIVE = ("log", "log2", "log10", "sqrt", "log1p")
for f in "exp expm1 log log1p log2 log10 sqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh".split():
    kind = "positive" if f in POSITIVE else "above" if f == "acosh" else "unit" if f in ARC else "normal"
    named = ARC.get(f, f)
    case(f, f"{f}({{x}})", f"np.{named}({{x}})", f"torch.{f}({{x}})", f"jnp.{named}({{x}})", {"x": kind})
case("rsqrt", "rsqrt({x})", "1 / np.sqrt({x})", "torch.rsqrt({x})", "jax.lax.rsqrt({x})", {"x": "positive"})
case("reciprocal", "reciprocal({x})", "np.reciprocal({x})", "torch.reciprocal({x})", "jnp.reciprocal({x})")
case("erf", "erf({x})", "special.erf({x})", "torch.erf({x})", "jax.scipy.special.erf({x})", dtypes=(*FLOATS, "bf16"))
for f in ("floor", "ceil", "round", "trunc"):
    same(f, f"{f}({{x}})", f"M.{f}({{x}})", dtypes=(*FLOATS, "bf16"))
for f in ("isnan", "isinf", "isfinite"):
    same(f, f"{f}({{x}})", f"M.{f}({{x}})")
for f in ("real", "imag"):
    case(f, f"{f}({{x}}) + 0", f"np.array({{x}}.{f})", f"{{x}}.{f}.contiguous()", f"jnp.{f}({{x}}) + 0", dtypes=COMPLEX)
case("conj", "conj({x})", "np.conj({x})", "torch.conj_physical({x})", "jnp.conj({x})", dtypes=COMPLEX)
case("angle", "angle({x})", "np.angle({x})", "torch.angle({x})", "jnp.angle({x})")
case("abs", "abs({x})", "np.abs({x})", "torch.abs({x})", "jnp.abs({x})", dtypes=NUMBERS)
ABS2 = "{x}.real * {x}.real + {x}.imag * {x}.imag"
case("abs2", "abs2({x})", ABS2, ABS2, ABS2, dtypes=COMPLEX)
case("abs2 real", "abs2({x})", "np.square({x})", "torch.square({x})", "jnp.square({x})", dtypes=(*FLOATS, "i64"))
case("sign", "sign({x})", "np.sign({x})", "torch.sgn({x})", "jnp.sign({x})", dtypes=NUMBERS)
case(
    "complex", "complex({x}, {y})", "{x} + 1j * {y}", "torch.complex({x}, {y})", "jax.lax.complex({x}, {y})",
    {"x": "normal", "y": "normal"}, FLOATS,
)  # fmt: skip
case(
    "polar", "polar({x}, {y})", "{x} * np.exp(1j * {y})", "torch.polar({x}, {y})",
    "jax.lax.complex({x} * jnp.cos({y}), {x} * jnp.sin({y}))", {"x": "positive", "y": "normal"}, FLOATS,
)  # fmt: skip
case(
    "adjoint", "adjoint({x}) + 0", "np.ascontiguousarray({x}.conj().T)", "{x}.mH.contiguous().resolve_conj()",
    "jnp.conj({x}).T + 0", dtypes=(*FLOATS, *COMPLEX),
    classes=sizes(small=(4, 4), large=(1000, 1000), tall=(100000, 3)),
)  # fmt: skip
case(
    "view_as_real", "view_as_real({x})", "{x}.view({x}.real.dtype)", "torch.view_as_real({x})", dtypes=COMPLEX,
    classes=sizes(whole=(100, 100)), tolerance=None,
)  # fmt: skip
case(
    "view_as_complex", "view_as_complex({x})", "{x}.view(np.result_type({x}, np.complex64))",
    "torch.view_as_complex({x})", dtypes=FLOATS, classes=sizes(whole=(100, 2)), tolerance=None,
)  # fmt: skip
for f in ("minimum", "maximum"):
    same(f, f"{f}({{x}}, {{y}})", f"M.{f}({{x}}, {{y}})", inputs={"x": "normal", "y": "normal"}, dtypes=ORDERED)
case("atan2", "atan2({x}, {y})", "np.arctan2({x}, {y})", "torch.atan2({x}, {y})", "jnp.arctan2({x}, {y})", TWO, FLOATS)
same("hypot", "hypot({x}, {y})", "M.hypot({x}, {y})", inputs=TWO, dtypes=FLOATS)
CLIP = "({x}, -1, 1)"
case("clip", "clip" + CLIP, "np.clip" + CLIP, "torch.clamp" + CLIP, "jnp.clip" + CLIP, dtypes=(*FLOATS, "i64", "i32"))
for name, power in (("**", "{x} ** {y}"), ("pow", "pow({x}, {y})")):
    case(
        name, power, "{x} ** {y}", "{x} ** {y}", "{x} ** {y}", {"x": "positive", "y": "normal"}, (*FLOATS, *COMPLEX),
        PAIRS if name == "**" else MAP,
    )  # fmt: skip
for n in (2, 3, -1, 0.5, 1.7):
    case(
        f"** {n}", f"{{x}} ** {n}", *[f"{{x}} ** {n}"] * 3, inputs={"x": "positive"}, classes=only(MAP, "10^3", "10^6")
    )
case("** integers", "{x} ** {y}", *["{x} ** {y}"] * 3, inputs={"x": "normal", "y": "exponent"}, dtypes=("i64", "i32"))
case(
    "where", "where({x} > 0, {x}, {y})", "np.where({x} > 0, {x}, {y})", "torch.where({x} > 0, {x}, {y})",
    "jnp.where({x} > 0, {x}, {y})", TWO, ORDERED, PAIRS,
)  # fmt: skip
# --- operators
for op in "+ - *".split():
    case(op, f"{{x}} {op} {{y}}", *[f"{{x}} {op} {{y}}"] * 3, inputs=TWO, dtypes=NUMBERS, classes=PAIRS)
QUOTIENT = {"x": "normal", "y": "nonzero"}
case("/", "{x} / {y}", *["{x} / {y}"] * 3, inputs=QUOTIENT, classes=PAIRS)
case("/ integers", "{x} / {y}", *["{x} / {y}"] * 3, inputs=QUOTIENT, dtypes=("i64", "i32"), classes=only(MAP, "10^6"))
for op in ("//", "%"):
    case(op, f"{{x}} {op} {{y}}", *[f"{{x}} {op} {{y}}"] * 3, inputs=QUOTIENT, dtypes=ORDERED, classes=PAIRS)
    case(f"{op} constant", f"{{x}} {op} 7", *[f"{{x}} {op} 7"] * 3, dtypes=("i64", "i32"), classes=only(MAP, "10^6"))
for op in "== != < <= > >=".split():
    dtypes = EVERY if op in ("==", "!=") else ORDERED
    classes = PAIRS if op in ("==", "<") else only(MAP, "10^6", "16")
    case(op, f"{{x}} {op} {{y}}", *[f"{{x}} {op} {{y}}"] * 3, inputs=TWO, dtypes=dtypes, classes=classes)
BITS = only(MAP, "16", "10^6")
case("and", "{x} and {y}", *["{x} & {y}"] * 3, inputs=TWO, dtypes=("bool",), classes=BITS)
case("or", "{x} or {y}", *["{x} | {y}"] * 3, inputs=TWO, dtypes=("bool",), classes=BITS)
case("not", "not {x}", *["~{x}"] * 3, dtypes=("bool",), classes=BITS)
case("- unary", "-{x}", *["-{x}"] * 3, dtypes=NUMBERS)
# --- conversions: a name of a dtype as a function. Random elements are not negative where bytes are asked for: what
# lies beyond an integer's ends is not the same everywhere.
for dtype, numpy in (
    ("f16", "float16"), ("f32", "float32"), ("f64", "float64"),
    ("i32", "int32"), ("i64", "int64"), ("u8", "uint8"), ("bool", "bool"),
):  # fmt: skip
    jnp = "bool_" if dtype == "bool" else numpy
    case(
        f"{dtype} conversion", f"{dtype}({{x}} * 3)", f"({{x}} * 3).astype(np.{numpy})",
        f"({{x}} * 3).to(torch.{numpy})", f"({{x}} * 3).astype(jnp.{jnp})", {"x": "positive"},
        tuple(d for d in ORDERED if d not in (dtype, "bf16")),
        only(MAP, "16", "10^6"),
    )  # fmt: skip
for dtype, numpy in (("c64", "complex64"), ("c128", "complex128")):
    case(
        f"{dtype} conversion", f"{dtype}({{x}})", f"{{x}}.astype(np.{numpy})", f"{{x}}.to(torch.{numpy})",
        f"{{x}}.astype(jnp.{numpy})", dtypes=tuple(d for d in NUMBERS if d not in (dtype, "bf16")),
        classes=only(MAP, "16", "10^6"),
    )  # fmt: skip
case(
    "bf16 conversion", "f32(bf16({x}))", None, "{x}.bfloat16().to(torch.float32)",
    "{x}.astype(jnp.bfloat16).astype(jnp.float32)", dtypes=(*FLOATS, "i32"), classes=only(MAP, "16", "10^6"),
    tolerance=1e9,  # torch rounds f64 twice
)  # fmt: skip
MATRICES = sizes(**{"4": (4, 4), "32": (32, 32), "64": (64, 64), "256": (256, 256), "1000": (1000, 1000)}) + [
    Class("vector", {"x": (1000, 1000), "y": (1000,)}),
    Class("row by matrix", {"x": (1000,), "y": (1000, 1000)}),
    Class("tall", {"x": (20000, 16), "y": (16, 16)}),
    Class("short rows", {"x": (100000, 16), "y": (16,)}),
    Class("transposed", {"*": (256, 256)}, {"y": "y.T"}),
    Class("batch of 4", {"*": (4096, 4, 4)}),
    Class("batch of 8", {"*": (1024, 8, 8)}),
    Class("batch of 32", {"*": (128, 32, 32)}),
]
case("@", "{x} @ {y}", *["{x} @ {y}"] * 3, inputs=TWO, dtypes=(*FLOATS, *COMPLEX), classes=MATRICES)
INTEGER_PRODUCT = only(MATRICES, "4", "64", "256")
case("@ integers", "{x} @ {y}", *["{x} @ {y}"] * 3, inputs=TWO, dtypes=("i64", "i32"), classes=INTEGER_PRODUCT)
case("@ halves", "{x} @ {y}", *["{x} @ {y}"] * 3, inputs=TWO, dtypes=("bf16",), classes=INTEGER_PRODUCT, tolerance=4)
CHAIN = "({x} * {y} + {x}) * M.conj({y}) - 2j * {x}"
case(
    "+ chain", "({x} * {y} + {x}) * conj({y}) - 2i * {x}", CHAIN.replace("M", "np").replace("2j", "np.complex64(2j)"),
    CHAIN.replace("M", "torch"), CHAIN.replace("M", "jnp"), TWO, COMPLEX, only(MAP, "16", "10^3", "10^6"),
)  # fmt: skip
# --- reading and writing by index
ROWS = (*FLOATS, "c64", "i64", "u8")
INDEXED = {"x": "normal", "y": "index:1000"}
case(
    "[] by index", "x[y]", *["x[y]"] * 3, inputs=INDEXED, dtypes=ROWS,
    classes=[Class("16", {"x": (1000,), "y": (16,)}), Class("10^6", {"x": (1000,), "y": (1000000,)}),
             Class("rows", {"x": (1000, 64), "y": (10000,)})],
)  # fmt: skip
case(
    "[] mask",
    "x[x > 0]",
    "x[x > 0]",
    "x[x > 0]",
    dtypes=(*FLOATS, "i64", "u8"),
    classes=only(MAP, "16", "10^3", "10^6"),
)
case(
    "[] slice", "x[1:-1, 2:-2] + 0", "x[1:-1, 2:-2].copy()", "x[1:-1, 2:-2].clone()", "x[1:-1, 2:-2] + 0", dtypes=ROWS,
    classes=sizes(small=(4, 8), large=(1000, 1000)),
)  # fmt: skip
