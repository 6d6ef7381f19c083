# SPDX-License-Identifier: Apache-2.0
"""Functions that compute sizes, with large numbers: either the shape that exact arithmetic gives, or an error about
sizes; never another shape, and no crash. Sizes are written in the program, given to functions, or come from declared
sizes; programs are evaluated and compiled."""
import math
import re

import pytest

import programs

LIMIT = 2**47
WAYS = [
    "--memory-limit=100000000 " + way
    for way in ("--jit=never", "--jit=always", "--jit=always --dynamic=on", "--jit=always -O2 --unpack")
]
ERRORS = {"R0105", "R0106", "R0108", "R0125", "T0307", "T0308", "T0323", "T0360"}
NUMBERS = [2**31, 2**46, LIMIT - 1, LIMIT, 2**62, 6148914691236517206, 2**63 - 1]

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
    ("sum(zeros({n}, 0), 0)", lambda n: (0,) if n < LIMIT else None),
    ("zeros({n}, 0) + ones({n}, 0)", lambda n: (n, 0)),
    ("cumsum(sort(zeros({n}, 0), 1), 1)", lambda n: (n, 0)),
    ("zeros({n}, {n}, 0) @ zeros({n}, 0, 0)", lambda n: (n, n, 0)),
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
    ("pad(ones(4), [{n}, 0])", lambda n: (n + 4,)),
    ("diag(zeros(0, 0), {n})", lambda n: (0,)),
    ("diag(zeros(0), {n})", lambda n: (n, n)),
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
    ("x[N * N * N * N:]", lambda n: (0, 0) if n ** 4 < 2**63 else None),
    ("x[N - 3::N]", lambda n: (1, 0)),
]


def outcome(done):
    if done.status:
        return re.findall(r"error\[(\w+)\]", done.stderr)[:1] or [done.stderr]
    return [done.stdout.strip()]


def problems(toy, cases, others=2):
    """Cases are texts and the sizes that they print, or None; each is evaluated, and compiled in some other ways."""
    found = []
    parts = [(text, programs.in_turn(WAYS, number, others)) for number, (text, _) in enumerate(cases)]
    for (text, want), (_, ways), runs in zip(cases, parts, programs.run_parts(toy, parts)):
        has_shape = want is not None and want != "any"
        is_small = has_shape and all(size < LIMIT for size in want)
        for way, done in zip(ways, runs):
            [got] = outcome(done)
            shape = got.strip("()[]").replace(" ", "").strip(",")
            if is_small:
                is_right = shape == ",".join(map(str, want)) or got == "R0108" and math.prod(want) > 10**7
            else:
                is_right = got in ERRORS or want == "any" and re.fullmatch(r"[\d,]*", shape)
            if not is_right:
                found.append(f"{way}: {text}\n  got {got}, wanted {want}")
    return "\n".join(found)


def test_written(toy):
    cases = [(f"print(({row.format(n=n)}).shape);", want(n)) for row, want in ROWS + CONSTANT_ROWS for n in NUMBERS]
    assert not (found := problems(toy, cases)), found


def test_given(toy):
    text = 'def f(n) {{ return ({}).shape; }}\nprint(f(i64("{}")));'
    cases = [(text.format(row.format(n="n"), n), want(n)) for row, want in ROWS for n in NUMBERS]
    assert not (found := problems(toy, cases, 1)), found


@pytest.mark.parametrize(
    "text",
    [
        "def f(x: f64[N, M]) {{ return ({}).shape; }}\nprint(f(zeros({}, 0)));",
        "def f(x) {{ var N = x.shape[0]; var M = x.shape[1]; return ({}).shape; }}\n"
        "f(zeros(3, 0)); f(zeros(5, 0)); print(f(zeros({}, 0)));",
    ],
    ids=["declared", "read"],
)
def test_declared(toy, text):
    numbers = [n for n in NUMBERS if n < LIMIT]
    cases = [(text.format(row, n), want(n)) for row, want in DECLARED_ROWS for n in numbers]
    assert not (found := problems(toy, cases)), found
