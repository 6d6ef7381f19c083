# SPDX-License-Identifier: Apache-2.0
"""Arrays by kind, dtype and shape, the same in every run."""
import zlib

import numpy as np

NUMPY = {
    "bool": np.bool_,
    "u8": np.uint8,
    "i32": np.int32,
    "i64": np.int64,
    "bf16": np.float32,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
}


def parts(dtype):
    return {"c64": "f32", "c128": "f64"}.get(dtype, dtype)


def dtype_of(kind, dtype):
    """Positions are i64; turns and spectra complex, whatever the line's dtype is."""
    if kind.startswith(("index", "order")):
        return "i64"
    if kind == "turns":
        return {"f32": "c64", "f64": "c128"}[dtype]
    return dtype


def whole(rng, kind, shape, dtype):
    if kind in ("exponent", "near 1"):
        return rng.integers(0, 3, shape)
    if kind == "zeros":
        return np.zeros(shape, int)
    if kind == "zeros or ones":
        return rng.integers(0, 2, shape)
    low = 1 if kind in ("nonzero", "positive") else 0 if dtype in ("u8", "bool") else -50
    return rng.integers(low, 2 if dtype == "bool" and kind != "nonzero" else 50, shape)


def matrix(rng, kind, x):
    n = x.shape[-1]
    if kind == "definite":
        return x @ np.conj(np.swapaxes(x, -1, -2)) / n + np.eye(n)
    if kind == "dominant":
        return x + 2 * np.sqrt(n) * np.eye(n)
    return np.eye(n) + x * (0.1 if kind == "near identity" else 0.3) / np.sqrt(n)  # well scaled: powers, determinants


def numbers(rng, kind, shape, dtype):
    x = rng.standard_normal(shape)
    if kind in ("definite", "dominant", "well scaled", "near identity"):
        return matrix(rng, kind, x + 1j * rng.standard_normal(shape) if dtype in ("c64", "c128") else x)
    if dtype in ("c64", "c128"):
        if kind == "turns":
            return np.exp(1j * x)
        x = x + 1j * rng.standard_normal(shape)
        if kind == "spectrum":
            x[..., :1], x[..., -1:] = x[..., :1].real, x[..., -1:].real
        return 1 + 1e-4 * x if kind == "near 1" else x
    if kind == "zeros":
        return np.zeros(shape)
    if kind == "zeros or ones":
        return (x > 0).astype(float)
    changes = {
        "positive": lambda: abs(x) + 0.01,
        "nonzero": lambda: np.copysign(abs(x) + 0.1, x),
        "above": lambda: 1 + abs(x),
        "unit": lambda: np.tanh(x) * 0.99,
        "near 1": lambda: 1 + 1e-3 * np.tanh(x),
    }
    return changes.get(kind, lambda: x)()


def array(name, kind, dtype, shape):
    rng = np.random.default_rng(zlib.crc32(f"{name} {kind} {dtype} {shape}".encode()))
    if kind.startswith(("index:", "few:")):
        return rng.integers(0, int(kind.split(":")[1]), shape).astype(NUMPY[dtype_of(kind, dtype)])
    if kind.startswith("order:"):
        return np.argsort(rng.random(shape), axis=int(kind[6:]))
    own = dtype_of(kind, dtype)
    x = whole(rng, kind, shape, own) if own in ("i64", "i32", "u8", "bool") else numbers(rng, kind, shape, own)
    return np.asarray(x).astype(NUMPY[own])
