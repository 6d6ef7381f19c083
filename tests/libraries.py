# SPDX-License-Identifier: Apache-2.0
"""Linear algebra, einsum, Fourier transforms, convolutions and network layers against NumPy, for real and complex
values of both precisions; and the errors of matrices that have no answer."""
import itertools
import subprocess

import numpy as np

import scenarios


def correlate(x, w, stride=1, padding=0, dilation=1, groups=1):
    """PyTorch's conv of any number of axes, as its definition says."""
    axes = x.ndim - 2
    stride, padding, dilation = (np.broadcast_to(v, axes) for v in (stride, padding, dilation))
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in padding])
    sizes = [(n - (k - 1) * d - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], w.shape[2:], stride, dilation)]
    out = np.zeros((x.shape[0], w.shape[0], *sizes), np.result_type(x, w))
    per_in, per_out = w.shape[1], w.shape[0] // groups
    for o in range(w.shape[0]):
        g = o // per_out
        for at in itertools.product(*map(range, sizes)):
            window = x[
                (slice(None), slice(g * per_in, (g + 1) * per_in))
                + tuple(
                    slice(i * s, i * s + (k - 1) * d + 1, d) for i, s, k, d in zip(at, stride, w.shape[2:], dilation)
                )
            ]
            out[(slice(None), o) + at] = (window * w[o]).reshape(x.shape[0], -1).sum(1)
    return out


def transposed(x, w, stride=1, padding=0, groups=1):
    axes = x.ndim - 2
    stride, padding = (np.broadcast_to(v, axes) for v in (stride, padding))
    full = [(n - 1) * s + k for n, s, k in zip(x.shape[2:], stride, w.shape[2:])]
    per_in, per_out = w.shape[0] // groups, w.shape[1]
    out = np.zeros((x.shape[0], per_out * groups, *full), np.result_type(x, w))
    for c in range(x.shape[1]):
        g = c // per_in
        for at in itertools.product(*map(range, x.shape[2:])):
            place = (slice(None), slice(g * per_out, (g + 1) * per_out)) + tuple(
                slice(i * s, i * s + k) for i, s, k in zip(at, stride, w.shape[2:])
            )
            out[place] += x[(slice(None), c) + at].reshape(-1, *[1] * (axes + 1)) * w[c]
    return out[(slice(None), slice(None)) + tuple(slice(p, n - p) for p, n in zip(padding, full))]


scenarios.np.correlate_nd, scenarios.np.transposed_nd = correlate, transposed


def rows():
    for m in ("m", "wt"):  # complex and real
        h = f"({m} @ {m}' + 4 * eye(4))"
        peer = f"({m} @ {m}.conj().T + 4 * np.eye(4))"
        batch, batch_peer = f"stack([{m}, {m} + 1])", f"np.stack([{m}, {m} + 1])"
        yield from [
            (f"det({m})",) * 2 + (f"np.linalg.det({m})",),
            (f"inv({m})",) * 2 + (f"np.linalg.inv({m})",),
            (f"det batch {m}", f"det({batch})", f"np.linalg.det({batch_peer})"),
            (f"inv batch {m}", f"inv({batch})", f"np.linalg.inv({batch_peer})"),
            (f"solve vector {m}", f"solve({m}, v)", f"np.linalg.solve({m}, v)"),
            (f"solve matrix {m}", f"solve({m}, n[:, :3])", f"np.linalg.solve({m}, n[:, :3])"),
            (f"solve batch {m}", f"solve({batch}, n)", f"np.linalg.solve({batch_peer}, np.stack([n, n]))"),
            (f"solve many {m}", f"solve({m}, stack([n, n * 2]))", f"np.linalg.solve({m}, np.stack([n, n * 2]))"),
            (f"cholesky {m}", f"cholesky({h})", f"np.linalg.cholesky({peer})"),
            (f"qr {m}", f"var (q1, r1) = qr({m}[:, :3]); => q1 @ r1", f"{m}[:, :3]"),
            (f"qr orthonormal {m}", f"var (q1, r1) = qr({m}[:3]); => q1' @ q1", f"np.eye(3, dtype={m}.dtype)"),
            (f"qr triangle {m}", f"var (q1, r1) = qr({m}); => tril(abs(r1), -1)", f"np.zeros((4, 4), {m}.real.dtype)"),
            (f"svd {m}", f"var (u1, s1, vh1) = svd({m}[:3]); => u1 @ diag(s1) @ vh1[:3]", f"{m}[:3]"),
            (f"singular values {m}", f"svd({m})[1]", f"np.linalg.svd({m})[1]"),
            (
                f"thin svd {m}",
                f"var (u1, s1, vh1) = svd({m}[:, :2], full_matrices = false); => (u1 * s1) @ vh1",
                f"{m}[:, :2]",
            ),
            (f"svd unitary {m}", f"var (u1, s1, vh1) = svd({m}[:, :2]); => u1 @ u1'", f"np.eye(4, dtype={m}.dtype)"),
            (f"eigvals {m}", f"sort(abs(eigvals({m})))", f"np.sort(np.abs(np.linalg.eigvals({m})))"),
            (f"eig {m}", f"var (w1, v1) = eig({m}); => {m} @ v1 - v1 * w1", f"np.zeros((4, 4), complex)"),
            (f"eigh {m}", f"var (w1, v1) = eigh({h}); => w1", f"np.linalg.eigvalsh({peer})"),
            (f"eigh vectors {m}", f"var (w1, v1) = eigh({h}); => v1 @ diag(w1) @ v1'", peer),
            (f"lstsq {m}", f"lstsq({m}[:, :2], v)[0]", f"np.linalg.lstsq({m}[:, :2], v, rcond=None)[0]"),
            (f"lstsq residuals {m}", f"lstsq({m}[:, :2], n)[1]", f"np.linalg.lstsq({m}[:, :2], n, rcond=None)[1]"),
            (f"lstsq wide {m}", f"lstsq({m}[:2], v[:2])[0]", f"np.linalg.lstsq({m}[:2], v[:2], rcond=None)[0]"),
            (f"lstsq rank {m}", f"lstsq({m}[:, i64([0, 0])], v)[2]", "np.int64(1)"),
            (f"roots {m}", f"sort(abs(roots({m}[0])))", f"np.sort(np.abs(np.roots({m}[0])))"),
            (f"matrix_power {m}", f"matrix_power({m}, 5)", f"np.linalg.matrix_power({m}, 5)"),
            (f"matrix_power inverse {m}", f"matrix_power({m}, -2)", f"np.linalg.matrix_power({m}, -2)"),
            (f"kron {m}", f"kron({m}[:2], n[:, :3])", f"np.kron({m}[:2], n[:, :3])"),
        ]
    yield "roots with zeros", "roots(cat([zeros(2), real(v), zeros(1)])).shape[0]", "4"
    for spec, operands in [
        ("ij,jk->ik", "m, n"),
        ("ij,jk", "m, n"),
        ("ij,kj->ik", "m, wt"),
        ("ij,ij->", "m, n"),
        ("ij->ji", "m"),
        ("ii", "m"),
        ("ii->i", "m"),
        ("ij->j", "wt"),
        ("i,j", "v, y"),
        ("i,i", "v, u"),
        ("i,i->i", "v, u"),
        ("bij,bjk->bik", "a, b"),
        ("bij,bjk->ik", "a, b"),
        ("bij,bjk->kbi", "a, b"),
        ("bij,jk->bik", "z, m"),
        ("...ij,...jk->...ik", "a, b"),
        ("...j,jk", "z, m"),
        ("i...,i...->...", "z, w"),
        ("ijk,ijk->k", "z, w"),
        ("ij,jk,kl->il", "m, n, m"),
        ("ij,jk,kl,lm", "m, n, wt, m"),
        ("ij,j,i->", "m, v, u"),
        ("ba,cb->ca", "m, n"),
        ("iij->j", "stack([m, n, m, n])"),
        ("a,b,c->cab", "v, u, y"),
        ("...->...", "z"),
        ("...i->i...", "z"),
        ("ij , jk -> ik", "m, n"),
    ]:
        peers = operands.replace("stack([m, n, m, n])", "np.stack([m, n, m, n])")
        yield f"einsum {spec}", f'einsum("{spec}", {operands})', f'np.einsum("{spec}", {peers})'
    yield "einsum conjugated", 'einsum("ij,kj->ik", m, conj(n))', "m @ n.conj().T"
    for x in ("z", "x"):
        for axis in (-3, -2, -1, 0, 1, 2):
            for f in ("fft", "ifft"):
                yield f"{f} {x} {axis}", f"{f}({x}, axis={axis})", f"np.fft.{f}({x}, axis={axis})"
            yield f"irfft {x} {axis}", f"irfft({x}, 5, axis={axis})", f"np.fft.irfft({x}, 5, axis={axis})"
        for n in (1, 2, 3, 5, 7, 8, 11, 16, 101):
            yield f"fft {x} {n}", f"fft({x}, {n})", f"np.fft.fft({x}, {n})"
        for norm in ("backward", "ortho", "forward"):
            for f in ("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn"):
                yield f"{f} {x} {norm}", f'{f}({x}, norm="{norm}")', f'np.fft.{f}({x}, norm="{norm}")'
        yield f"fftn axes {x}", f"fftn({x}, axes=[0, 2])", f"np.fft.fftn({x}, axes=(0, 2))"
        yield f"fft2 axes {x}", f"fft2({x}, axes=[0, 1])", f"np.fft.fft2({x}, axes=(0, 1))"
        for f in ("fftshift", "ifftshift"):
            yield f"{f} {x}", f"{f}({x})", f"np.fft.{f}({x})"
            yield f"{f} {x} axes", f"{f}({x}, axes=[1])", f"np.fft.{f}({x}, axes=(1,))"
    for axis in (-1, 0, 1):
        yield f"rfft {axis}", f"rfft(x, axis={axis})", f"np.fft.rfft(x, axis={axis})"
    for norm in ("backward", "ortho", "forward"):
        yield f"rfft {norm}", f'rfft(x, norm="{norm}")', f'np.fft.rfft(x, norm="{norm}")'
        yield f"irfft {norm}", f'irfft(z, norm="{norm}")', f'np.fft.irfft(z, norm="{norm}")'
    yield "fftfreq", "fftfreq(5, 0.5)", "np.fft.fftfreq(5, 0.5)"
    yield "rfftfreq", "rfftfreq(6)", "np.fft.rfftfreq(6)"
    for mode in ("full", "same", "valid"):
        for left, right in (("v", "u[:2]"), ("v[:2]", "u"), ("y", "v[:3]"), ("y", "y")):
            yield f"convolve {left} {right} {mode}", f'convolve({left}, {right}, "{mode}")', f'np.convolve({left}, {right}, "{mode}")'
    for options in ("", ", stride=2", ", padding=2", ", stride=2, padding=1, dilation=2", ", dilation=3, padding=3"):
        yield f"conv1d{options}", f"conv1d(z, w[:, :, :2]{options})", f"np.correlate_nd(z, w[:, :, :2]{options})"
        yield f"conv1d real{options}", f"conv1d(x, w[:, :, :2]{options})", f"np.correlate_nd(x, w[:, :, :2]{options})"
        yield f"conv2d{options}", f"conv2d(h, h[:, :, :1, :2]{options})", f"np.correlate_nd(h, h[:, :, :1, :2]{options})"
    yield "conv1d groups", "conv1d(q, reshape(a, [4, 2, 3]), groups=2)", "np.correlate_nd(q, a.reshape(4, 2, 3), groups=2)"
    yield "conv1d without batch", "conv1d(z[0], w[:, :, :3], bias=s * ones(2))", "np.correlate_nd(z[:1], w[:, :, :3])[0] + s"
    yield "conv2d two strides", "conv2d(h, h[:, :, :1, :2], stride=[2, 3], padding=[0, 1])", "np.correlate_nd(h, h[:, :, :1, :2], (2, 3), (0, 1))"
    for options in ("", ", stride=2", ", stride=3, padding=1"):
        yield f"conv_transpose{options}", f"conv_transpose(z, reshape(b, [3, 4, 5])[:, :2, :3]{options})", f"np.transposed_nd(z, b.reshape(3, 4, 5)[:, :2, :3]{options})"
    yield "conv_transpose 2d", "conv_transpose(h, reshape(real(b)[:, :, :4], [4, 3, 2, 2]), stride=2)", "np.transposed_nd(h, b.real[:, :, :4].reshape(4, 3, 2, 2), 2)"
    yield "conv_transpose groups", "conv_transpose(q, reshape(a, [4, 2, 3]), groups=2)", "np.transposed_nd(q, a.reshape(4, 2, 3), groups=2)"
    yield "rmsnorm", "rmsnorm(x, y)", "x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * y"
    yield "rmsnorm complex", "rmsnorm(z, v)", "z / np.sqrt((np.abs(z)**2).mean(-1, keepdims=True) + 1e-5) * v"
    yield "layernorm", "layernorm(x, y, y)", "(x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * y + y"
    yield "layernorm complex", "layernorm(z)", "(z - z.mean(-1, keepdims=True)) / np.sqrt(z.var(-1, keepdims=True) + 1e-5)"
    softmax = (
        "(lambda S: np.exp(S - S.max(-1, keepdims=True)) / np.exp(S - S.max(-1, keepdims=True)).sum(-1, keepdims=True))"
    )
    yield "attention", "attention(x, x + 1, x * 2)", f"{softmax}(x @ np.swapaxes(x + 1, -1, -2) / 2) @ (x * 2)"
    yield "attention causal", "attention(wt, wt + 1, wt, causal=true)", f"{softmax}(np.where(np.tri(4, dtype=bool), wt @ (wt + 1).T / 2, -np.inf)) @ wt"
    yield "attention scale", "attention(wt, wt + 1, wt, scale=0.25)", f"{softmax}(wt @ (wt + 1).T / 4) @ wt"
    rotation = "np.exp(1j * ang)[:, None, :]"
    yield "rope interleaved", "rope(h, polar(1, ang))", f"(lambda P: np.stack([P.real, P.imag], -1).reshape(h.shape))((h[..., 0::2] + 1j*h[..., 1::2]) * {rotation})"
    yield "rope half", 'rope(h, polar(1, ang), layout="half")', f"(lambda P: np.concatenate([P.real, P.imag], -1))((h[..., :3] + 1j*h[..., 3:]) * {rotation})"


ERRORS = {
    "inv([[1, 2], [2, 4]])": "R0116",
    "solve([[0, 0], [0, 1]], [1, 2])": "R0116",
    "cholesky([[1, 2], [2, 1]])": "R0117",
    "eigvals([[nan, 0], [0, 1]])": "R0118",
    "svd([[inf, 0], [0, 1]])": "R0118",
    "inv(ones(2, 3))": "T0348",
    "det([1, 2])": "T0348",
    "solve(eye(3), [1, 2])": "T0349",
    "lstsq(ones(3, 2), ones(2))": "T0349",
    "fft(2.0)": "T0348",
    "fft([1, 2], 0)": "T0350",
    "rfft([1i])": "T0202",
    'fft([1], norm="x")': "T0104",
    "fft2([1, 2])": "T0348",
    'einsum("ij,jk", eye(2))': "T0352",
    'einsum("ij", [1])': "T0352",
    'einsum("ij,jk->ik", eye(2), eye(3))': "T0352",
    'einsum("i->ii", [1])': "T0352",
    'einsum("i->j", [1])': "T0352",
    'einsum("i1->i", eye(2))': "T0352",
    "conv1d(ones(1, 2, 3), ones(1, 3, 1))": "T0351",
    "conv1d(ones(1, 2, 3), ones(1, 2, 5))": "T0351",
    "conv2d(ones(3, 3), ones(1, 1, 2, 2))": "T0351",
    "conv1d(ones(1, 1, 3), ones(1, 1, 1), stride=0)": "T0104",
    'rope(ones(2, 1, 4), polar(1, ones(2, 2)), layout="other")': "R0132",
    'convolve([1], [2], "none")': "R0132",
    "roots(eye(2))": "T0348",
}


def errors(toy):
    problems = []
    for source, code in ERRORS.items():
        for mode in ("never", "always"):
            done = subprocess.run(
                [toy, f"--jit={mode}", "-e", f"print({source});"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
            )
            if done.returncode != 1 or not done.stderr.startswith(f"error[{code}]"):
                problems.append(f"{source} {mode}: expected {code}, status {done.returncode}\n{done.stderr}")
    return "\n".join(problems) or None


def all_cases():
    everything = list(rows())
    yield "library errors", errors
    for dtype in scenarios.TOLERANCE:
        for flags in (["--jit=never"], ["--jit=always", "-O2"], ["--jit=always", "-O2", "--unpack"]):
            for start in range(0, len(everything), 64):
                part = everything[start : start + 64]
                yield f"libraries {start} to {start + len(part) - 1} on {dtype} {' '.join(flags)}", (
                    lambda toy, d=dtype, f=flags, p=part: scenarios.check(toy, d, f, p, 50)
                ), *scenarios.slow_compiled(dtype, flags, start // 64)
