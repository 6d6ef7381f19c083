# SPDX-License-Identifier: Apache-2.0
"""Operations on complex tensors against NumPy: elementwise, shape, reductions with every axis, products, indexing,
chains, layers of networks. Each row is an expression of the language (after `=>` where statements come first) and one
of NumPy over the same inputs; f32 and f64 precision, evaluated, compiled, and unpacked to real tensors."""
import itertools
import os
import re
import subprocess
import tempfile

import numpy as np

import programs

TOLERANCE = {"c64": 2e-6, "c128": 1e-13}
SHAPES = {
    "z": (2, 3, 4),
    "w": (2, 3, 4),
    "m": (4, 4),
    "n": (4, 4),
    "a": (3, 2, 4),
    "b": (3, 4, 5),
    "v": (4,),
    "u": (4,),
    "t": (3, 1),
    "s": (),
}
REAL_SHAPES = {"x": (2, 3, 4), "y": (4,), "p": (5, 2), "q": (2, 4, 8), "h": (2, 4, 2, 6), "ang": (4, 3), "wt": (4, 4)}


def rows():
    """(name, toy, numpy)."""
    for op in "+-*/":
        for left, right in itertools.product(("z", "x", "s", "2.5", "(1-2i)", "v", "t", "y"), repeat=2):
            if left in "xy2.5" and right in "xy2.5" or "z" not in (left, right) and "x" not in (left, right):
                continue
            expression = f"{left} {op} {right}"
            yield expression, expression, expression.replace("i)", "j)")
    for op in ("==", "!="):
        yield f"z {op} w", f"z {op} w", f"z {op} w"
        yield f"z {op} real(z)", f"z {op} real(z)", f"z {op} z.real"
    for toy, peer in {
        "-z": "-z",
        "conj(z)": "np.conj(z)",
        "real(z)": "z.real",
        "imag(z)": "z.imag",
        "abs(z)": "np.abs(z)",
        "abs2(z)": "z.real**2 + z.imag**2",
        "angle(z)": "np.angle(z)",
        "sign(z)": "z / np.abs(z)",
        "reciprocal(z)": "1 / z",
        "square(z)": "z * z",
        "z**2": "z**2",
        "z**3": "z*z*z",
        "z**-1": "1/z",
        "z**0.5": "np.sqrt(z)",
        "z**w": "z**w",
        "2**z": "2**z",
        "complex(real(z), imag(w))": "z.real + 1j*w.imag",
        "complex(x, 1)": "x + 1j",
        "polar(x, y)": "x*np.cos(y) + 1j*x*np.sin(y)",
        "view_as_complex(p)": "p[:, 0] + 1j*p[:, 1]",
        "view_as_real(z)": "np.stack([z.real, z.imag], -1)",
        "view_as_real(view_as_complex(p) * s)": "np.stack([((p[:, 0] + 1j*p[:, 1])*s).real, ((p[:, 0] + 1j*p[:, 1])*s).imag], -1)",
        "where(x > 0, z, w)": "np.where(x > 0, z, w)",
        "where(x > 0, z, 0)": "np.where(x > 0, z, 0)",
        "where(x > 0, x, z)": "np.where(x > 0, x, z)",
        "z'": "np.conj(np.swapaxes(z, -1, -2))",
        "z.T": "np.swapaxes(z, -1, -2)",
        "z.H": "np.conj(np.swapaxes(z, -1, -2))",
        "isnan(z)": "np.isnan(z)",
        "isfinite(z)": "np.isfinite(z)",
        "isinf(z)": "np.isinf(z)",
        "round(z * 4)": "np.round(z * 4)",
        "expm1(z)": "np.expm1(z)",
        "log1p(z)": "np.log1p(z)",
        "sigmoid(z)": "1 / (1 + np.exp(-z))",
        "silu(z)": "z / (1 + np.exp(-z))",
        "rsqrt(z)": "1 / np.sqrt(z)",
        "log2(z)": "np.log(z) / np.log(2)",
        "log10(z)": "np.log(z) / np.log(10)",
    }.items():
        yield toy, toy, peer
    for f in "exp log sqrt sin cos tan sinh cosh tanh".split():
        yield f"{f}(z)", f"{f}(z)", f"np.{f}(z)"
    for f in "asin acos atan asinh acosh atanh".split():
        yield f"{f}(z)", f"{f}(z)", f"np.arc{f[1:]}(z)"
    for f in ("sum", "prod", "mean", "var", "std"):
        yield f"{f}(z)", f"{f}(z)", f"np.{f}(z)"
        for axis in (-3, -2, -1, 0, 1, 2):
            yield f"{f}(z, {axis})", f"{f}(z, axis={axis})", f"np.{f}(z, axis={axis})"
        yield f"{f} keepdims", f"{f}(z, axis=-2, keepdims=true)", f"np.{f}(z, axis=-2, keepdims=True)"
    for axis in (-3, -2, -1, 0, 1, 2):
        for f in ("cumsum", "cumprod"):
            yield f"{f} {axis}", f"{f}(z, axis={axis})", f"np.{f}(z, axis={axis})"
        yield f"norm {axis}", f"norm(z, axis={axis})", f"np.linalg.norm(z, axis={axis})"
        yield f"flip {axis}", f"flip(z, axis={axis})", f"np.flip(z, {axis})"
        yield f"roll {axis}", f"roll(z, 2, axis={axis})", f"np.roll(z, 2, {axis})"
        yield f"cat {axis}", f"cat([z, w, z], axis={axis})", f"np.concatenate([z, w, z], {axis})"
        yield f"stack {axis}", f"stack([z, w], axis={axis})", f"np.stack([z, w], {axis})"
        yield f"cat with real {axis}", f"cat([z, x], axis={axis})", f"np.concatenate([z, x.astype(z.dtype)], {axis})"
        yield f"unsqueeze {axis}", f"unsqueeze(z, {axis})", f"np.expand_dims(z, {axis})"
        yield f"swapaxes {axis}", f"swapaxes(z, {axis}, 0)", f"np.swapaxes(z, {axis}, 0)"
        yield f"select {axis}", f"select(z, {axis}, 1)", f"np.take(z, 1, {axis})"
        yield f"take {axis}", f"take(z, i64([1, 0, 1]), axis={axis})", f"np.take(z, [1, 0, 1], {axis})"
        yield f"split {axis}", f"var (a0, a1) = split(z, [1, {SHAPES['z'][axis] - 1}], axis={axis}); => cat([a1, a0], axis={axis})", f"np.roll(z, -1, {axis})"
        yield f"stack last {axis}", f"stack([z, w], axis=-1) * 2", "np.stack([z, w], -1) * 2"
    yield "stack axis 3", "stack([z, w], axis=3)", "np.stack([z, w], 3)"
    yield "stack axis -4", "stack([z, w], axis=-4)", "np.stack([z, w], -4)"
    for toy, peer in {
        "reshape(z, [4, 6])": "z.reshape(4, 6)",
        "reshape(z, [-1])": "z.reshape(-1)",
        "reshape(z, [2, -1, 2])": "z.reshape(2, -1, 2)",
        "transpose(z)": "z.T",
        "permute(z, [2, 0, 1])": "z.transpose(2, 0, 1)",
        "permute(z, [-1, -3, -2])": "z.transpose(2, 0, 1)",
        "squeeze(unsqueeze(z, 1))": "z",
        "squeeze(reshape(z, [1, 24, 1]), 0)": "z.reshape(24, 1)",
        "flatten(z)": "z.reshape(-1)",
        "expand(v, [3, 4])": "np.broadcast_to(v, (3, 4))",
        "expand(t, [2, 3, 5])": "np.broadcast_to(t, (2, 3, 5))",
        "repeat(v, 3)": "np.repeat(v, 3)",
        "repeat(z, 2, axis=-1)": "np.repeat(z, 2, -1)",
        "tile(v, [2, 2])": "np.tile(v, (2, 2))",
        "pad(v, [1, 2])": "np.pad(v, (1, 2))",
        "pad(m, [[1, 0], [0, 2]])": "np.pad(m, ((1, 0), (0, 2)))",
        "diag(v)": "np.diag(v)",
        "diag(m)": "np.diag(m)",
        "tril(m)": "np.tril(m)",
        "triu(m, 1)": "np.triu(m, 1)",
        "z[..., 0]": "z[..., 0]",
        "z[1, ::-1, 1:3]": "z[1, ::-1, 1:3]",
        "z[:, newaxis, -1]": "z[:, None, -1]",
        "z[0]": "z[0]",
        "z[x > 0]": "z[x > 0]",
        "z[i64([1, 0]), i64([2, 0])]": "z[[1, 0], [2, 0]]",
        "zeros_like(z)": "np.zeros_like(z)",
        "ones_like(z) * s": "np.ones_like(z) * s",
        "full_like(z, 2-1i)": "np.full_like(z, 2-1j)",
        "nonzero(z)": "np.argwhere(z)",
        "size(z)": "z.size",
        "z.shape[1]": "z.shape[1]",
        "trace(m)": "np.trace(m)",
        "m @ n": "m @ n",
        "m @ v": "m @ v",
        "v @ m": "v @ m",
        "v @ u": "v @ u",
        "a @ b": "a @ b",
        "z @ m": "z @ m",
        "m @ wt": "m @ wt",
        "wt @ m": "wt @ m",
        "m' @ n": "m.conj().T @ n",
        "m.T @ n": "m.T @ n",
        "conj(m) @ n'": "m.conj() @ n.conj().T",
        "m @ conj(n)": "m @ n.conj()",
        "a @ b[0]": "a @ b[0]",
        "a[:, :, ::2] @ b[:, ::2]": "a[:, :, ::2] @ b[:, ::2]",
        "dot(v, u)": "np.dot(v, u)",
        "vdot(v, u)": "np.vdot(v, u)",
        "outer(v, u)": "np.outer(v, u)",
        "m @ n @ m": "m @ n @ m",
        "(m + n) @ (m - n)": "(m + n) @ (m - n)",
        "2i * (m @ n) + m": "2j * (m @ n) + m",
        "real(m @ n)": "(m @ n).real",
        "sum(z * conj(z))": "np.sum(z * np.conj(z))",
        "sum(abs2(z), axis=-1)": "np.sum(np.abs(z)**2, -1)",
        "(z * w + v) / (conj(z) + 2) - 2i * z": "(z * w + v) / (np.conj(z) + 2) - 2j * z",
        "exp(1i * angle(z)) * abs(z)": "z",
        "view_as_real(z) * 2": "np.stack([z.real, z.imag], -1) * 2",
        "z": "z",
        "s": "s",
        "z[0, 0, 0]": "z[0, 0, 0]",
        "s * s + 1": "s * s + 1",
        "clip(real(z), -0.5, 0.5)": "np.clip(z.real, -0.5, 0.5)",
        "gather(z, 1, i64(zeros(2, 1, 4)))": "z[:, :1]",
        "any(z)": "np.any(z)",
        "all(z)": "np.all(z)",
        "norm(z)": "np.linalg.norm(z.ravel())",
        "linspace(0, 1+1i, 5)": "np.linspace(0, 1+1j, 5)",
        "arange(4) * s": "np.arange(4) * s",
        "eye(4) * s @ m": "(np.eye(4) * s) @ m",
        "full([2, 2], s)": "np.full((2, 2), s)",
        "chunk(m, 2)[1]": "m[2:]",
    }.items():
        yield toy, toy, peer
    # networks
    softmax = "np.exp(S - S.max(-1, keepdims=True)) / np.exp(S - S.max(-1, keepdims=True)).sum(-1, keepdims=True)"
    yield "attention by magnitude", "var sc = abs(z @ adjoint(w)); => softmax(sc, axis=-1) @ w", f"(lambda S: ({softmax}) @ w)(np.abs(z @ np.conj(np.swapaxes(w, -1, -2))))"
    yield "attention by real part", "var sc = real(z @ adjoint(w)) / sqrt(4.0); => softmax(sc, axis=-1) @ w", f"(lambda S: ({softmax}) @ w)((z @ np.conj(np.swapaxes(w, -1, -2))).real / 2)"
    yield "linear, bias, modrelu", "var y1 = z @ m + v; => relu(abs(y1) - 0.5) * sign(y1)", "(lambda Y: np.maximum(np.abs(Y) - 0.5, 0) * Y / np.abs(Y))(z @ m + v)"
    yield "complex layernorm", "var c0 = z - mean(z, axis=-1, keepdims=true); => c0 / sqrt(mean(abs2(c0), axis=-1, keepdims=true) + 1e-5)", "(lambda C: C / np.sqrt((np.abs(C)**2).mean(-1, keepdims=True) + 1e-5))(z - z.mean(-1, keepdims=True))"
    rotation = "np.exp(1j * ang)[None, :, None, :]"
    pairs = "(lambda P: np.stack([P.real, P.imag], -1).reshape(h.shape))((h[..., 0::2] + 1j*h[..., 1::2]) * {0})"
    yield "rope", "var c1 = view_as_complex(reshape(h, [2, 4, 2, 3, 2])); => reshape(view_as_real(c1 * reshape(polar(1, ang), [4, 1, 3])), [2, 4, 2, 6])", pairs.format(
        rotation
    )
    yield "rope by slices", "var co = reshape(cos(ang), [4, 1, 3]); var si = reshape(sin(ang), [4, 1, 3]); var x0 = h[..., 0::2]; var x1 = h[..., 1::2]; => reshape(stack([x0*co - x1*si, x0*si + x1*co], axis=-1), [2, 4, 2, 6])", pairs.format(
        rotation
    )
    yield "rope, halves", "var e1 = reshape(cat([ang, ang], axis=-1), [4, 1, 6]); => h * cos(e1) + cat([-h[..., 3:], h[..., :3]], axis=-1) * sin(e1)", f"(lambda P: np.concatenate([P.real, P.imag], -1))((h[..., :3] + 1j*h[..., 3:]) * {rotation})"
    yield "two rotated, scores", "var r1 = polar(1, reshape(ang, [4, 1, 3])); var c2 = view_as_complex(reshape(h, [2, 4, 2, 3, 2])) * r1; => real(sum(c2 * conj(c2 + 1), axis=-1))", f"(lambda C: (C * np.conj(C + 1)).sum(-1).real)((h[..., 0::2] + 1j*h[..., 1::2]) * {rotation})"
    yield "two outputs", "var g1 = z * w; var g2 = z + w; => stack([g1, g2])", "np.stack([z * w, z + w])"
    yield "scan in a loop", "var acc = zeros_like(v); for i in range(3) { acc = acc * s + v; } => acc", "((v * s + v) * s + v)"
    yield "power iteration", "var k1 = v; for i in range(4) { k1 = m @ k1; k1 = k1 / norm(k1); } => k1", "(lambda f: f(f(f(f(v)))))(lambda k: (m @ k) / np.linalg.norm(m @ k))"
    yield "update of a row", "var c3 = m; c3[1] = v; c3[:, 2] *= s; => c3", "(lambda c: (c.__setitem__(1, v), c.__setitem__((slice(None), 2), c[:, 2] * s), c)[2])(m.copy())"


def check(toy, dtype, flags, scenarios, looser=1):
    real = {"c64": np.float32, "c128": np.float64}[dtype]
    rng = np.random.default_rng(7)
    values = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, shape in SHAPES.items():
            values[name] = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(
                np.result_type(real, np.complex64) if dtype == "c64" else np.complex128
            )
        for name, shape in REAL_SHAPES.items():
            values[name] = np.asarray(rng.standard_normal(shape)).astype(real)
        lines = []
        for name, value in values.items():
            np.save(os.path.join(folder, f"{name}.npy"), value)
        lines.append("".join(f'var {name} = load("{name}.npy");\n' for name in values))
        for i, (_, expression, _) in enumerate(scenarios):
            statements, _, result = expression.rpartition(" => ")
            read = ", ".join(
                name for name in values if name in set(re.findall(r"\w+", expression))
            )  # what is not read costs compile time: see `unread`
            lines.append(f'def f{i}({read}) {{ {statements} return {result}; }}\nsave("o{i}.npy", f{i}({read}));\n')
        path = os.path.join(folder, "p.toy")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines)
        done = subprocess.run(
            [toy, *flags, path],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
        )
        if done.returncode != 0:
            return done.stderr[:3000]
        programs.count(len(scenarios))
        problems = []
        for i, (name, expression, peer) in enumerate(scenarios):
            got = np.load(os.path.join(folder, f"o{i}.npy"))
            want = np.asarray(eval(peer, {"np": np, **values}))
            if got.shape != want.shape:
                problems.append(f"{name}: {expression} has shape {got.shape}, expected {want.shape}")
            elif np.iscomplexobj(got) != np.iscomplexobj(want):
                problems.append(f"{name}: {expression} is {got.dtype}, expected {want.dtype}")
            elif not np.allclose(
                got,
                want,
                rtol=looser * TOLERANCE[dtype],
                atol=looser * TOLERANCE[dtype] * max(1.0, float(np.abs(want).max(initial=0))),
            ):
                problems.append(f"{name}: {expression}\n{got}\nexpected\n{want}")
        return "\n".join(problems) or None


def unread(toy):
    """Parameters that nothing reads, real and complex ones of all ranks, change no result."""
    values = {**SHAPES, **REAL_SHAPES}
    parameters, arguments = ", ".join(values), ", ".join(
        f"complex(ones({list(shape)}), 1)" if name in SHAPES else f"ones({list(shape)})"
        for name, shape in values.items()
    )
    text = "".join(
        f"def f{i}({parameters}) {{ return {result}; }}\nprint(f{i}({arguments}));\n"
        for i, result in enumerate(("z[0, 0, 0]", "x[0, 0] + y", "sum(v) * s", "7"))
    )
    ways = ["--jit=never", "--jit=auto", "--jit=always", "--jit=always -O2 --unpack", "--jit=always --dynamic=on"]
    results = programs.run_parts(toy, [(text, ways)])[0]
    want = "1.0+1.0i\n[2.0, 2.0, 2.0, 2.0]\n0.0+8.0i\n7\n"
    wrong = [
        f"{flags}: {done.stdout}{done.stderr}"
        for flags, done in zip(ways, results)
        if (done.status, done.stdout) != (0, want)
    ]
    return "\n".join(wrong) or None


def slow_compiled(dtype, flags, number):
    """Compiled scenarios have one precision each, and another one unpacked; of these one is under sanitizers."""
    if "--jit=never" in flags:
        return []
    if (dtype == "c128") != (number + ("--unpack" in flags)) % 2:
        return ["nightly"]
    return ["release"] if "--unpack" in flags and dtype == "c128" else []


def all_cases():
    scenarios = list(rows())
    assert len(scenarios) >= 175
    yield "unread parameters", unread
    for dtype in TOLERANCE:
        for flags in (["--jit=never"], ["--jit=always", "-O2"], ["--jit=always", "-O2", "--unpack"]):
            for start in range(0, len(scenarios), 64):
                part = scenarios[start : start + 64]
                yield f"scenarios {start} to {start + len(part) - 1} on {dtype} {' '.join(flags)}", (
                    lambda toy, d=dtype, f=flags, p=part: check(toy, d, f, p)
                ), *slow_compiled(dtype, flags, start // 64)
