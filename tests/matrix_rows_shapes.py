# SPDX-License-Identifier: Apache-2.0
"""Rows of matrix.py for functions that make, arrange and join tensors."""
import itertools
import math

import numpy as np

from matrix_rows import AXIS, INTEGERS, MATRIX, NEEDS_FLOAT, NUMPY, Refused, axes, library, row, wide


@row(
    *"reshape transpose permute swapaxes squeeze unsqueeze flatten expand tile repeat flip roll pad diag tril triu trace".split()
)
def shapes(name, dtype, shape, x):
    r = len(shape)
    if name == "reshape":
        yield f"reshape(x, [{x.size}])", x.reshape(-1), dtype
        yield f"reshape(x, [1, {x.size}, 1])", x.reshape(1, x.size, 1), dtype
        yield "reshape(x, [-1])", x.reshape(-1), dtype
        yield f"reshape(x, [{x.size + 1}])", Refused("T0307"), None
    elif name in ("transpose", "permute"):
        if name == "transpose":
            yield "transpose(x)", x.T, dtype
        for order in itertools.islice(itertools.permutations(range(r)), 1, 24, 4):
            yield f"{name}(x, {list(order)})", x.transpose(order), dtype
            yield f"{name}(x, {[a - r for a in order]})", x.transpose(order), dtype
        if r > 1:
            yield f"{name}(x, {[0] * r})", Refused("T0306"), None
    elif name == "swapaxes":
        for a, b in itertools.product(axes(shape), axes(shape)):
            yield f"swapaxes(x, {a}, {b})", np.swapaxes(x, a, b), dtype
        yield f"swapaxes(x, 0, {r})", Refused(AXIS), None
    elif name == "squeeze":
        yield "squeeze(x)", np.squeeze(x), dtype
        for axis in axes(shape):
            yield f"squeeze(x, {axis})", np.squeeze(x, axis) if shape[axis] == 1 else Refused("T0354"), dtype
    elif name == "unsqueeze":
        for axis in range(-r - 1, r + 1):
            yield f"unsqueeze(x, {axis})", np.expand_dims(x, axis), dtype
        yield f"unsqueeze(x, {r + 1})", Refused(AXIS), None
    elif name == "flatten":
        yield "flatten(x)", x.reshape(-1), dtype
        if r > 1 and x.size:
            yield "flatten(x, 0, 1)", x.reshape(-1, *shape[2:]), dtype
            yield "flatten(x, -2)", x.reshape(*shape[:-2], -1), dtype
    elif name == "expand":
        yield f"expand(x, {[2, *shape]})", np.broadcast_to(x, (2, *shape)), dtype
        if 1 in shape:
            to = [3 if n == 1 else n for n in shape]
            yield f"expand(x, {to})", np.broadcast_to(x, to), dtype
        if any(n > 1 for n in shape):
            yield f"expand(x, {[n + 1 for n in shape]})", Refused("T0310"), None
    elif name == "tile":
        for count in (0, 1, 2):
            yield f"tile(x, {[count, *[2] * (r - 1)]})", np.tile(x, [count] + [2] * (r - 1)), dtype
    elif name == "repeat":
        yield "repeat(x, 2)", np.repeat(x, 2), dtype
        for axis in axes(shape):
            yield f"repeat(x, 3, axis={axis})", np.repeat(x, 3, axis), dtype
    elif name == "flip":
        yield "flip(x)", np.flip(x), dtype
        for axis in axes(shape):
            yield f"flip(x, axis={axis})", np.flip(x, axis), dtype
    elif name == "roll":
        yield "roll(x, 2)", np.roll(x, 2), dtype
        for axis, n in itertools.product(axes(shape), (-1, 1, 7)):
            yield f"roll(x, {n}, axis={axis})", np.roll(x, n, axis), dtype
    elif name == "pad":
        if r and dtype == "bool":
            yield "pad(x, 1, 2)", Refused("T0347"), None
        yield "pad(x, 1)", np.pad(x, 1) if r else Refused("T0315"), dtype
        if r:
            yield f"pad(x, [1, 2], {dtype}(1))", np.pad(x, (1, 2), constant_values=1), dtype
            yield f"pad(x, {[[i, 1] for i in range(r)]})", np.pad(x, [(i, 1) for i in range(r)]), dtype
    elif name in ("diag", "tril", "triu"):
        for k in (-1, 0, 2):
            if r == 0 or (r == 1 and name != "diag"):
                yield f"{name}(x, {k})", Refused(MATRIX), None
            elif name == "diag":
                yield f"diag(x, {k})", np.diag(x, k) if r == 1 else np.diagonal(x, k, -2, -1), dtype
            else:
                yield f"{name}(x, {k})", library(name)(x, k), dtype
    else:
        yield "trace(x)", Refused("R0132 T0316") if r < 2 else np.trace(
            x.astype(NUMPY[wide(dtype)]), axis1=-2, axis2=-1
        ), wide(dtype)


@row(
    "cat",
    "append",
    "stack",
    "split",
    "chunk",
    "take",
    "gather",
    "scatter",
    "select",
    "nonzero",
    "unique",
    "shape",
    "size",
    "rank",
    "len",
)
def joined(name, dtype, shape, x):
    r = len(shape)
    if name in ("cat", "stack"):
        for axis in axes(shape) if name == "cat" else range(-r - 1, r + 1):
            yield f"{name}([x, x], axis={axis})", (np.concatenate if name == "cat" else np.stack)([x, x], axis), dtype
        yield f"{name}([x, x], axis={r + 1})", Refused(AXIS), None
    elif name == "append":
        if shape and shape[0]:
            yield "append(append(x, x[0]), x[-1])", np.concatenate([x, x[:1], x[-1:]]), dtype
        else:
            yield "append(x, x)", Refused("T0373"), None
    elif name in ("split", "chunk"):
        for axis in axes(shape):
            if shape[axis] >= 2 and name == "split":
                yield f"split(x, [1, {shape[axis] - 1}], axis={axis})[1]", np.split(x, [1], axis)[1], dtype
            if shape[axis] % 2 == 0 and shape[axis] and name == "chunk":
                yield f"chunk(x, 2, axis={axis})[1]", np.split(x, 2, axis)[1], dtype
    elif name in ("take", "select"):
        for axis in axes(shape):
            if shape[axis]:
                yield f"take(x, i64([-1, 0]), axis={axis})" if name == "take" else f"select(x, {axis}, -1)", np.take(
                    x, [-1, 0] if name == "take" else -1, axis
                ), dtype
                yield f"take(x, {shape[axis]}, axis={axis})" if name == "take" else f"select(x, {axis}, {shape[axis]})", Refused(
                    "R0101 T0324"
                ), None
    elif name in ("gather", "scatter"):
        for axis in range(r):
            index = np.zeros_like(x, np.int64) + (np.arange(math.prod(shape)).reshape(shape) % max(shape[axis], 1))
            source = f"reshape(arange({x.size}), {list(shape)}) % {max(shape[axis], 1)}"
            if not x.size:
                continue
            if name == "gather":
                yield f"gather(x, {axis}, {source})", np.take_along_axis(x, index, axis), dtype
            else:
                out = x.copy()
                np.put_along_axis(out, index, x, axis)
                yield f"scatter(x, {axis}, {source}, x)", out, dtype
    elif name == "nonzero":
        yield "nonzero(x)", np.argwhere(x), "i64"
    elif name == "unique":
        yield "unique(x)", np.unique(x), dtype
    elif name == "shape":
        for axis in range(r):
            yield f"shape(x)[{axis}]", np.int64(shape[axis]), "i64"
    elif name == "size":
        yield "size(x)", np.int64(x.size), "i64"
        for axis in axes(shape):
            yield f"size(x, {axis})", np.int64(shape[axis]), "i64"
    elif name == "rank":
        yield "rank(x)", np.int64(r), "i64"
    else:
        yield "len(x)", np.int64(shape[0]) if r else Refused(AXIS), "i64"


@row("zeros_like", "ones_like", "full_like", "zeros", "ones", "full", "eye", "arange", "linspace", "item", "str")
def made(name, dtype, shape, x):
    if name in ("zeros_like", "ones_like", "full_like"):
        yield f"{name}(x, 1)" if name == "full_like" else f"{name}(x)", {
            "zeros_like": np.zeros_like(x),
            "ones_like": np.ones_like(x),
            "full_like": np.ones_like(x),
        }[name] if name != "full_like" or dtype != "bool" else Refused("T0321"), dtype
    elif name in ("zeros", "ones"):
        yield f"{name}({list(shape)}, dtype={dtype})", getattr(np, name)(shape, NUMPY[dtype]), dtype
    elif name == "full":
        yield f"full({list(shape)}, {dtype}(1))", np.ones(shape, NUMPY[dtype]), dtype
    elif name == "eye" and len(shape) == 2:
        yield f"eye({shape[0]}, {shape[1]}, dtype={dtype})", np.eye(*shape, dtype=NUMPY[dtype]), dtype
    elif name == "arange" and len(shape) == 1:
        yield f"arange({shape[0]}, dtype={dtype})", np.arange(shape[0]).astype(NUMPY[dtype]), dtype
    elif name == "linspace" and len(shape) == 1:
        yield f"linspace(0, 1, {shape[0]}, dtype={dtype})", np.linspace(0, 1, shape[0]).astype(
            NUMPY[dtype]
        ) if dtype not in INTEGERS else Refused(NEEDS_FLOAT), dtype
    elif name == "item":
        yield "item(x)", x.reshape(()) if x.size == 1 else Refused("T0307"), dtype
    elif name == "str" and not shape:
        yield "len(str(x)) > 0", np.bool_(True), "bool"
