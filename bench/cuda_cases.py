# SPDX-License-Identifier: Apache-2.0
"""What bench/gpu.py measures, the most telling first. `{n}` and so on stand for sizes: those of a device, and small
ones, with which the cases are tried without one. Bytes are those that must be read and written, operations real ones.
PyTorch's expressions are its own; CuPy and JAX share one, with `xp` for the module."""
import collections

Case = collections.namedtuple("Case", "name sizes small toy call bytes operations torch torch_call xp xp_call flags")

CHAIN = "({0} * b + a) * {1} - a * (0.5+0.5{2}) + b * b"


def case(name, sizes, small, toy, call, torch, xp, bytes=0, operations=0, flags=()):
    """`torch` and `xp`: what is set up, then the call."""
    return Case(name, sizes, small, toy, call, bytes, operations, *torch, *xp, list(flags))


def same(set_up, call):
    """For PyTorch and for the others, where both spell it alike."""
    torch = (
        set_up.replace("xp.ones(", "ones(").replace("xp.", "torch.").replace("ones(", "torch.ones(device='cuda', size=")
    )
    return (torch, call.replace("xp.", "torch.")), (set_up, call)


def product(name, dtype, precision="ieee", n=4096):
    torch, xp = same(
        "a = xp.ones(({n}, {n}), dtype=xp.%s) * 0.01" % {"f32": "float32", "c64": "complex64"}[dtype], "a @ a"
    )
    toy = f"def f(a: {dtype}[N, N]) {{ return a @ a; }} var a = {dtype}(ones([{{n}}, {{n}}]) * 0.01);"
    work = (8 if dtype == "c64" else 2) * n**3
    return case(
        name, {"n": n}, {"n": 12}, toy, "f(a)", torch, xp, operations=work, flags=[f"--matmul-precision={precision}"]
    )


ROPE = "def f(x, w) { return rope(x, w); } var x = {dtype}(ones(1, {n}, {h}, 128)); var w = c64(polar(1.0, reshape(arange({n}) * 1.0, [{n}, 1]) * reshape(arange(64) * 0.01, [1, 64])));"
ROPE_TORCH = "x = torch.ones(1, {n}, {h}, 128, device='cuda', dtype=torch.{long}); c = torch.rand({n}, 1, 64, device='cuda'); s = torch.rand({n}, 1, 64, device='cuda')"
ROPE_XP = "x = xp.ones((1, {n}, {h}, 128), dtype=xp.float32); c = xp.ones(({n}, 1, 64), dtype=xp.float32); s = c * 0.5"
TURN = "{m}.stack([x[..., 0::2]{up} * c - x[..., 1::2]{up} * s, x[..., 0::2]{up} * s + x[..., 1::2]{up} * c], -1).reshape(x.shape)"


def rope(dtype, long, width):
    up = "" if dtype == "f32" else ".float()"
    return case(
        f"rope, {dtype}[1, 8192, 32, 128]",
        {"n": 8192, "h": 32},
        {"n": 4, "h": 2},
        ROPE.replace("{dtype}", dtype),
        "f(x, w)",
        (ROPE_TORCH.replace("{long}", long), TURN.replace("{m}", "torch").replace("{up}", up) + f".to(torch.{long})"),
        (ROPE_XP, TURN.replace("{m}", "xp").replace("{up}", "")) if dtype == "f32" else ("", ""),
        bytes=2 * width * 8192 * 32 * 128,
    )


SOFTMAX = ("torch.softmax(a, 1)", "(lambda e: e / e.sum(1, keepdims=True))(xp.exp(a - a.max(1, keepdims=True)))")


def rows(name, n, m, declared="N, M"):
    torch, xp = same("a = xp.ones(({n}, {m}), dtype=xp.float32)", "")
    toy = "def f(x: f32[%s]) { return softmax(x, axis=1); } var a = f32(ones([{n}, {m}]));" % declared
    small = {"n": min(n, 3), "m": m if declared[-1].isdigit() else 40}
    return case(
        name, {"n": n, "m": m}, small, toy, "f(a)", (torch[0], SOFTMAX[0]), (xp[0], SOFTMAX[1]), bytes=8 * n * m
    )


def reduction(name, sizes, small, toy, call, bytes, set_up="a = xp.ones(({n}, {m}), dtype=xp.float32)"):
    torch, xp = same(set_up, call)
    return case(name, sizes, small, toy, "f(a)", torch, xp, bytes=bytes)


CASES = [
    case(
        "copy, f32[2^28]",
        {"n": 2**28},
        {"n": 2**10},
        "def f(x: f32[N]) { return x + 0; } var a = zeros([{n}], dtype=f32);",
        "f(a)",
        *same("a = xp.ones(({n},), dtype=xp.float32)", "a + 0"),
        bytes=2**31,
    ),
    case(
        "8 operations, c64[2^25]",
        {"n": 2**25},
        {"n": 2**10},
        f"def f(a: c64[N], b: c64[N]) {{ return {CHAIN.format('a', 'conj(b)', 'i')}; }} var a = c64(arange({{n}})) * c64(1e-7i); var b = a + c64(1);",
        "f(a, b)",
        *same("a = xp.ones(({n},), dtype=xp.complex64) * 0.5j; b = a + 1", CHAIN.format("a", "b.conj()", "j")),
        bytes=3 * 2**28,
    ),
    rope("f32", "float32", 4),
    rope("bf16", "bfloat16", 2),
    rows("softmax, f32[8192, 4096]", 8192, 4096, "N, 4096"),
    case(
        "rmsnorm and residual, bf16[8192, 4096]",
        {"n": 8192, "m": 4096},
        {"n": 3, "m": 40},
        "def f(x: bf16[N, M], r: bf16[N, M]) { var h = x + r; return (rmsnorm(h, 1), h); } var a = bf16(ones([{n}, {m}]));",
        "f(a, a)",
        (
            "a = torch.ones({n}, {m}, device='cuda', dtype=torch.bfloat16)",
            "(lambda h: (torch.nn.functional.rms_norm(h, ({m},)), h))(a + a)",
        ),
        ("", ""),
        bytes=4 * 2**26,
    ),
    case(
        "rmsnorm, f32[1, 4096]",
        {"n": 1, "m": 4096},
        {"n": 1, "m": 600},
        "def f(x: f32[N, M]) { return rmsnorm(x, 1); } var a = f32(ones([{n}, {m}]));",
        "f(a)",
        (
            "a = torch.ones({n}, {m}, device='cuda')",
            "torch.nn.functional.rms_norm(a, ({m},))",
        ),
        ("a = xp.ones(({n}, {m}), dtype=xp.float32)", "a / xp.sqrt((a * a).mean(1, keepdims=True) + 1e-5)"),
        bytes=8 * 4096,
    ),
    product("c64 product, 4096", "c64"),
    product("c64 product, 4096, high", "c64", "high"),
    product("f32 product, 4096", "f32"),
    product("f32 product, 4096, medium", "f32", "medium"),
    case(
        "64 small operations",
        {"n": 256},
        {"n": 8},
        "def f(x: f32[N, N]) { var y = x; for i in range(64) { y = sum(y, axis=1, keepdims=true) * x; } return y; } var a = f32(zeros([{n}, {n}]) + 0.004);",
        "f(a)",
        *same(
            "a = xp.ones(({n}, {n}), dtype=xp.float32) * 0.004",
            "functools.reduce(lambda y, _: y.sum(1, keepdims=True) * a, range(64), a)",
        ),
    ),
    rows("softmax, f32[32, 128256]", 32, 128256),
    rows("softmax of declared sizes, f32[N, M], 8192 x 4096", 8192, 4096),
    reduction(
        "argmax, f32[1, 128256]",
        {"n": 1, "m": 128256},
        {"n": 1, "m": 300},
        "def f(x: f32[N, M]) { return argmax(x, axis=1); } var a = f32(ones([{n}, {m}]));",
        "xp.argmax(a, 1)",
        4 * 128256,
    ),
    reduction(
        "argmax, f32[2^26]",
        {"n": 2**26},
        {"n": 300},
        "def f(x: f32[N]) { return argmax(x); } var a = f32(ones([{n}]));",
        "xp.argmax(a)",
        2**28,
        "a = xp.ones(({n},), dtype=xp.float32)",
    ),
    reduction(
        "argmax of the leading axis, f32[2^20, 16]",
        {"n": 2**20, "m": 16},
        {"n": 300, "m": 4},
        "def f(x: f32[N, M]) { return argmax(x, axis=0); } var a = f32(ones([{n}, {m}]));",
        "xp.argmax(a, 0)",
        2**26,
    ),
    reduction(
        "sum of the leading axis, f32[2^20, 16]",
        {"n": 2**20, "m": 16},
        {"n": 300, "m": 4},
        "def f(x: f32[N, M]) { return sum(x, axis=0); } var a = f32(ones([{n}, {m}]));",
        "xp.sum(a, 0)",
        2**26,
    ),
    reduction(
        "sum, f64[2^26]",
        {"n": 2**26},
        {"n": 2**10},
        "def f(x: f64[N]) { return x * sum(x); } var a = ones([{n}]);",
        "a * xp.sum(a)",
        3 * 2**29,
        "a = xp.ones(({n},), dtype=xp.float64)",
    ),
    reduction(
        "transpose, f32[8192, 8192]",
        {"n": 8192, "m": 8192},
        {"n": 20, "m": 30},
        "def f(x: f32[N, M]) { return x.T * 2; } var a = f32(ones([{n}, {m}]));",
        "a.T * 2 + 0",
        2**29,
    ),
    case(
        "fft, c64[256, 65536]",
        {"n": 256, "m": 65536},
        {"n": 3, "m": 16},
        "def f(x: c64[N, M]) { return fft(x); } var a = c64(ones([{n}, {m}]));",
        "f(a)",
        *same("a = xp.ones(({n}, {m}), dtype=xp.complex64)", "xp.fft.fft(a)"),
        bytes=2**28,
    ),
    case(
        "fft of a middle axis, c64[64, 1024, 256]",
        {"n": 1024, "m": 256},
        {"n": 12, "m": 10},
        "def f(x: c64[K, N, M]) { return fft(x, axis=1); } var a = c64(ones([64, {n}, {m}]));",
        "f(a)",
        (
            "a = torch.ones(64, {n}, {m}, device='cuda', dtype=torch.complex64)",
            "torch.fft.fft(a, dim=1)",
        ),
        ("a = xp.ones((64, {n}, {m}), dtype=xp.complex64)", "xp.fft.fft(a, axis=1)"),
        bytes=2**28,
    ),
    case(
        "bf16 product read as bf16, 4096",
        {"n": 4096},
        {"n": 12},
        "def f(a: bf16[N, N]) { return bf16(a @ a); } var a = bf16(ones([{n}, {n}]) * 0.01);",
        "f(a)",
        ("a = torch.ones({n}, {n}, device='cuda', dtype=torch.bfloat16) * 0.01", "a @ a"),
        ("", ""),
        operations=2 * 4096**3,
    ),
    case(
        "write of rows, f32[8192, 4096]",
        {"n": 8192, "m": 4096},
        {"n": 8, "m": 16},
        "def f(x: f32[N, M], y: f32[K, M]) { x[2:, :] = y; return x; } var a = f32(ones([{n}, {m}])); var b = a[2:] * 2;",
        "f(a, b)",
        ("a = torch.ones({n}, {m}, device='cuda'); b = a[2:] * 2", "(lambda c: (c[2:].copy_(b), c))(a.clone())"),
        ("", ""),
        bytes=4 * 2**27,
    ),
]


def formatted(text, sizes):
    """Braces are parts of programs: names of sizes alone are replaced."""
    for name, value in sizes.items():
        text = text.replace("{%s}" % name, str(value))
    return text
