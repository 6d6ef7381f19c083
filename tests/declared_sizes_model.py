# SPDX-License-Identifier: Apache-2.0
"""What declared sizes mean, in NumPy: which sizes names get, which values fit, and what the generator of
declared_sizes.py knows of sizes and functions that it wrote."""
import re

import numpy as np


class Mismatch(Exception):
    """The model's error: sizes that do not fit, or an index out of range."""


def solve(env, items, clauses=()):
    """Names of sizes from (shape, [texts]); what follows is checked: every size, every name >= 0, every clause."""
    sizes = [(text, size) for shape, texts in items for text, size in zip(texts, shape, strict=True)]
    for text, size in sizes:
        if text.isidentifier():
            env.setdefault(text, size)
    left = True
    while left:
        left = False
        for text, size in sizes:
            unknown = {name for name in re.findall(r"[A-Z]\w*", text) if name not in env}
            if len(unknown) == 1:
                (name,) = unknown
                ends = [eval(text, {**env, name: k}) for k in (0, 1)]
                if (size - ends[0]) % (ends[1] - ends[0]):
                    raise Mismatch(f"{text} is {size}")
                env[name], left = (size - ends[0]) // (ends[1] - ends[0]), True
    for text, size in sizes:
        if eval(text, dict(env)) != size:
            raise Mismatch(f"{text} is not {size}: {env}")
    if min(env.values(), default=0) < 0 or not all(eval(clause, dict(env)) for clause in clauses):
        raise Mismatch(f"{env}, {clauses}")


late_sizes = False  # of the call at hand


def of_late_sizes(call):
    global late_sizes
    late_sizes = True
    try:
        return call()
    finally:
        late_sizes = False


def same(x, y):
    if x.shape != y.shape:
        raise Mismatch(f"{x.shape} and {y.shape}")
    return x


def stretched(x, y):
    """The left one of operands that fit; sizes that only the data decides do so where they are equal."""
    if late_sizes:
        return same(x, y)
    try:
        return np.broadcast_shapes(x.shape, y.shape) and x
    except ValueError:
        raise Mismatch(f"{x.shape} and {y.shape}") from None


def stored(x, where, value):
    x = x.copy()
    try:
        x[where] = np.array(value)
    except ValueError:
        raise Mismatch("store") from None
    return x


def at(env, text):
    return eval(text, dict(env))


def element(x, i):
    if not -len(x) <= i < len(x):
        raise Mismatch("index")
    return x[i]


class Size:
    """A sum of names with whole coefficients: what the generator knows of a size, so that bodies are provable."""

    def __init__(self, constant=0, terms=()):
        self.constant, self.terms = constant, {name: k for name, k in dict(terms).items() if k}

    def __eq__(self, other):
        return (self.constant, self.terms) == (other.constant, other.terms)

    def __add__(self, other):
        if isinstance(other, int):
            return Size(self.constant + other, self.terms)
        return Size(
            self.constant + other.constant,
            {n: self.terms.get(n, 0) + other.terms.get(n, 0) for n in {*self.terms, *other.terms}},
        )

    def times(self, k):
        return Size(self.constant * k, {n: k * c for n, c in self.terms.items()})

    def replaced(self, values):
        total = Size(self.constant)
        for name, k in self.terms.items():
            total = total + values.get(name, Size(0, {name: 1})).times(k)
        return total

    def text(self, rng):
        parts = [
            name if k == 1 else rng.choice([f"{k}*{name}", f"{name}*{k}"]) for name, k in sorted(self.terms.items())
        ]
        if self.constant > 0 or not parts:
            parts.append(str(self.constant))
        rng.shuffle(parts)
        return rng.choice(["+", " + "]).join(parts) + (
            f" - {-self.constant}" if self.constant < 0 and self.terms else ""
        )

    def hidden(self):
        """Whether a name in it cannot be written (the size of something that only the run knows)."""
        return any(name.startswith("_") for name in self.terms)


class Function:
    """Text, model, declared parameters [Size], names that they bind, and the result's size in these names (None: a
    scalar; names with `_`: unknown)."""

    def __init__(self, name, parameters, names, result, integers=0, members=False):
        self.name, self.parameters, self.names, self.result, self.integers, self.members = (
            name,
            parameters,
            names,
            result,
            integers,
            members,
        )

    def call(self, toy, model):
        """Of arguments; a struct holds them, if they are its members."""
        toy, model = ", ".join(toy), ", ".join(model)
        return (
            (f"{self.name}(S({toy}))", f"{self.name}(({model}))")
            if self.members
            else (f"{self.name}({toy})", f"{self.name}({model})")
        )
