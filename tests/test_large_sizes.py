# SPDX-License-Identifier: Apache-2.0
"""Functions that compute sizes, with large numbers: either the shape that exact arithmetic gives, or an error about sizes; never another shape, and no
crash. Sizes are written in the program, given to functions, or come from declared sizes; programs are evaluated and compiled."""
import re

import pytest

import programs

LIMIT = 2**47
WAYS = ["--jit=never", "--jit=auto", "--jit=always", "--jit=always --dynamic=on", "--jit=always -O2 --unpack"]
ERRORS = {"R0105", "R0106", "R0108", "R0125", "T0307", "T0308", "T0360"}
NUMBERS = [2**31, 2**32, 2**46, LIMIT - 1, LIMIT, 2**62 - 1, 2**62, 6148914691236517206, 2**63 - 1]

# The expression, and the sizes of its result for n; None where no n gives a result.
ROWS = [
    ("zeros(0, {n})", lambda n: (0, n)),
    ("zeros({n}, 0, {n})", lambda n: (n, 0, n)),
    ("full([{n}, 0], 1.5)", lambda n: (n, 0)),
    ("rand({n}, 0)", lambda n: (n, 0)),
    ("reshape(zeros(0), [0, {n}])", lambda n: (0, n)),
    ("reshape(zeros(0), [{n}, {n}])", lambda n: None),
    ("reshape(ones(4), [{n}, 4])", lambda n: None),
    ("reshape(zeros(0, 3), [{n}, 0, {n}])", lambda n: (n, 0, n)),
    ("expand(zeros(0, 1), 0, {n})", lambda n: (0, n)),
    ("tile(zeros(0, 3), [1, {n}])", lambda n: (0, 3 * n)),
    ("tile(zeros(0, 3), [{n}, 1])", lambda n: (0, 3) if n < LIMIT else None),
    ("tile(zeros(0, 3), [{n}, {n}])", lambda n: (0, 3 * n)),
    ("repeat(zeros(0, 3), {n}, axis=1)", lambda n: (0, 3 * n)),
    ("cat([zeros(0, {n}), zeros(0, {n})], axis=1)", lambda n: (0, 2 * n)),
    ("flatten(zeros(0, {n}, {n}), start=1, end=2)", lambda n: (0, n * n)),
    ("flatten(zeros(0, {n}, {n}))", lambda n: (0,) if n < LIMIT else None),
    ("unsqueeze(zeros(0, {n}), 1)", lambda n: (0, 1, n)),
    ("zeros(0, {n}).T", lambda n: (n, 0)),
    ("zeros({n}, 0) @ zeros(0, {n})[:, :0]", lambda n: (n, 0)),
    ("sum(zeros(0, {n}), 0)[:2]", lambda n: None if n >= LIMIT else "any"),
    ("ones(3)[::{n}]", lambda n: (1,)),
    ("ones(3)[::-{n}]", lambda n: (1,)),
    ("ones(0)[::{n}]", lambda n: (0,)),
    ("ones(3)[{n}:]", lambda n: (0,)),
    ("ones(3)[:{n}]", lambda n: (3,)),
    ("ones(3)[-{n}:]", lambda n: (3,)),
    ("ones(3)[{n}:-{n}:-{n}]", lambda n: (1,)),
    ("ones(3)[-{n}:{n}:{n}]", lambda n: (1,)),
    ("roll(ones(3), {n})", lambda n: (3,)),
    ("arange(-{n}, {n})[:0]", lambda n: "any"),
    ("arange(0, {n}, {n})", lambda n: (1,)),
    ("arange({n}, 0)", lambda n: (0,)),
    ("zeros({n} * 2, 0)", lambda n: (2 * n, 0) if 2 * n < 2**63 else "any"),
]
# Widths of `pad` and offsets of diagonals are constants.
CONSTANT_ROWS = [
    ("pad(zeros(0, 4), [[0, 0], [{n}, 0]])", lambda n: (0, n + 4)),
    ("pad(zeros(0, 4), [[0, 0], [{n}, {n}]])", lambda n: (0, 2 * n + 4)),
    ("pad(ones(4), [{n}, 0])", lambda n: None),
    ("diag(zeros(0, 0), {n})", lambda n: (0,)),
    ("diag(zeros(0), {n})", lambda n: None),
    ("split(zeros(0, 4), [4, {n}], axis=1)[0]", lambda n: None),
]
# Sizes that a signature names: the argument is zeros(n, 0).
DECLARED_ROWS = [
    ("zeros(N * N, M)", lambda n: (n * n, 0)),
    ("reshape(x, [M, N * 4])", lambda n: (0, 4 * n)),
    ("reshape(x, [N * N, M])", lambda n: (n * n, 0)),
    ("cat([x, x, x])", lambda n: (3 * n, 0)),
    ("tile(x, [N, 1])", lambda n: (n * n, 0)),
    ("pad(x, [[1, 5], [0, 0]])[6:]", lambda n: (n, 0) if n + 6 < LIMIT else None),
    ("x[N * N * N * N:]", lambda n: (0, 0) if n**4 < 2**63 else None),
    ("x[N - 3::N]", lambda n: (1, 0)),
]


def outcome(done):
    if done.status:
        return re.findall(r"error\[(\w+)\]", done.stderr)[:1] or [done.stderr]
    return [done.stdout.strip()]


def problems(toy, cases):
    """Cases are texts and the sizes that they print, or None."""
    found = []
    for (text, want), runs in zip(cases, programs.run_parts(toy, [(text, WAYS) for text, _ in cases])):
        fits = want is not None and want != "any" and all(size < LIMIT for size in want)
        for way, done in zip(WAYS, runs):
            [got] = outcome(done)
            shape = got.strip("()[]").replace(" ", "").strip(",")
            if not (got in ERRORS and not fits or (fits or want == "any") and shape == ",".join(map(str, want if fits else ())) or want == "any" and got not in ERRORS and re.fullmatch(r"[\d,]+", shape)):
                found.append(f"{way}: {text}\n  got {got}, wanted {want}")
    return found


@pytest.mark.parametrize("row", ROWS + CONSTANT_ROWS, ids=lambda row: row[0])
def test_written(toy, row):
    assert not problems(toy, [(f"print(({row[0].format(n=n)}).shape);", row[1](n)) for n in NUMBERS])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_given(toy, row):
    assert not problems(toy, [(f'def f(n) {{ return ({row[0].format(n="n")}).shape; }}\nprint(f(i64("{n}")));', row[1](n)) for n in NUMBERS])


@pytest.mark.parametrize("row", DECLARED_ROWS, ids=lambda row: row[0])
def test_declared(toy, row):
    numbers = [n for n in NUMBERS if n < LIMIT]
    assert not problems(toy, [(f"def f(x: f64[N, M]) {{ return ({row[0]}).shape; }}\nprint(f(zeros({n}, 0)));", row[1](n)) for n in numbers])
    assert not problems(toy, [(f"def f(x) {{ var N = x.shape[0]; var M = x.shape[1]; return ({row[0]}).shape; }}\nprint(f(zeros(3, 0)));\nf(zeros(5, 0)); print(f(zeros({n}, 0)));".replace("print(f(zeros(3, 0)));", "f(zeros(3, 0));"), row[1](n)) for n in numbers])
