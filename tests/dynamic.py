# SPDX-License-Identifier: Apache-2.0
"""Sequences of calls with exact numbers of compilations, guards, checks and errors; results equal those of code
compiled for every size alone."""
import json
import os
import random
import re
import subprocess
import tempfile

import terminal
from programs import without_signs


def ones(*sizes):
    return f"ones({', '.join(map(str, sizes))})" if sizes else "1.0"


def calls(*shapes):
    """Calls of f with tensors of ones: a shape, or a tuple of shapes."""
    return [
        "f(" + ", ".join(ones(*s) for s in (shape if shape and isinstance(shape[0], tuple) else (shape,))) + ")"
        for shape in shapes
    ]


def lengths(*sizes):
    return calls(*((n,) for n in sizes))


def pairs(*sizes):
    return calls(*(((a,), (b,)) for a, b in sizes))


class Case:
    def __init__(self, definition, sequence, compiles, guards=(), checks=(), errors=0, flags=(), contains=()):
        (
            self.definition,
            self.sequence,
            self.compiles,
            self.guards,
            self.checks,
            self.errors,
            self.flags,
            self.contains,
        ) = (
            definition,
            sequence,
            compiles,
            guards if guards is None else list(guards),
            checks if checks is None else list(checks),
            errors,
            list(flags),
            contains,
        )


TWICE = "def f(x) { return x * 2; }"
ADD = "def f(x, y) { return x + y; }"
PRODUCT = "def f(x, y) { return x @ y; }"
CAT = "def f(x, y) { var z = cat([x, y]); if z.shape[0] > 2 { return sum(z) * 2; } return sum(z); }"
TEN = (
    "def f(a, b, c, d, e, g, h, i, j, k) { return sum(a) + sum(b) + sum(c) + sum(d) + sum(e) + sum(g) + sum(h) + sum(i)"
    " + sum(j) + sum(k * k); }"
)
rng = random.Random(4)
TEN_CALLS = ["f(" + ", ".join(ones(rng.choice([0, 1, 2, 9])) for _ in range(10)) + ")" for _ in range(8)]
X, Y = "x.shape[0]", "y.shape[0]"
CASES = {
    # static first, then what changes is as it comes
    "one size": Case(TWICE, lengths(8, 8, 8), 1),
    "8, 9, 10, 11": Case(TWICE, lengths(8, 9, 10, 11), 2),
    "3, 2, 1, 0": Case(TWICE, lengths(3, 2, 1, 0), 2),
    "0, 1, 2": Case(TWICE, lengths(0, 1, 2), 2),
    "1 first": Case(TWICE, lengths(1, 7, 0, 1), 2),
    "exact forms first": Case(TWICE, lengths(3, 5, 7, 3), 2),
    "scalars": Case(TWICE, ["f(1.0)", "f(2.0)", "f(3)"], 2),
    "ranks": Case(TWICE, calls((3,), (3, 4), (5,), (6, 4)), 4),
    "dtypes": Case(TWICE, ["f(ones(3))", "f(ones(3, dtype=f32))", "f(ones(4))", "f(ones(4, dtype=f32))"], 4),
    "only the axis that changes": Case(
        "def f(x) { return sum(x, 1); }", calls((2, 64), (3, 64), (9, 64)), 2, contains=["x.shape[0], 64"]
    ),
    "two axes one after the other": Case("def f(x) { return sum(x, 1); }", calls((2, 64), (3, 64), (3, 65), (7, 9)), 3),
    "two axes at once": Case("def f(x) { return sum(x, 1); }", calls((2, 64), (3, 65), (7, 9)), 2),
    "complex": Case("def f(x) { return x * conj(x) + 1i; }", ["f(ones(3)*1i)", "f(ones(4)*1i)", "f(ones(5)*1i)"], 2),
    "calls of functions": Case(
        "def g(x) { return sum(x * x); } def f(x) { return g(x) + g(x + 1); }", lengths(3, 4, 5, 0), 2
    ),
    "a loop inside": Case("def f(x) { var s = 0.0; for v in x { s += v; } return s; }", lengths(3, 4, 0), 2),
    "a struct": Case(
        "struct P { var a; var b; } def f(p) { return sum(p.a) + sum(p.b); }",
        ["f(P(ones(3), ones(2)))", "f(P(ones(4), ones(2)))", "f(P(ones(5), ones(2)))"],
        2,
        contains=["p.a.shape[0]"],
    ),
    "a tuple": Case(
        "def f(p) { return sum(p[0]) + sum(p[1]); }",
        ["f((ones(3), ones(2)))", "f((ones(4), ones(2)))", "f((ones(5), ones(2)))"],
        2,
    ),
    # broadcasting
    "equal sizes": Case(ADD, pairs((8, 8), (9, 9), (10, 10), (1, 1), (0, 0)), 2, [f"{X} == {Y}"]),
    "no sizes are tied together": Case(
        "def f(x, y) { return sum(x) + sum(y); }", pairs((4, 4), (5, 5), (4, 6), (0, 1)), 2
    ),
    "one operand stretches": Case(ADD, pairs((4, 1), (5, 1), (6, 1)), 2),
    "both forms": Case(ADD, pairs((4, 4), (5, 5), (6, 1), (7, 1), (8, 8)), 3, [f"{X} == {Y}", f"{Y} == 1"]),
    "1 with 1": Case(ADD, pairs((1, 1), (2, 2), (3, 3), (1, 1)), 2, [f"{X} == {Y}"]),
    "one varies": Case(ADD, pairs((4, 1), (1, 1), (7, 1)), 2),
    "sizes that differ": Case(ADD, pairs((4, 4), (5, 5), (5, 6), (6, 6)), 2, [f"{X} == {Y}"], errors=1),
    "differ at once": Case(ADD, pairs((4, 5), (5, 5), (6, 6)), 2, [f"{X} == {Y}"], errors=1),
    "three operands": Case("def f(x, y) { return x * y + x - y; }", pairs((4, 4), (5, 5), (6, 6)), 2, [f"{X} == {Y}"]),
    "two axes": Case(ADD, calls(((3, 4), (4,)), ((5, 6), (6,)), ((7, 8), (8,))), 2, ["x.shape[1] == y.shape[0]"]),
    "constants": Case("def f(x) { return x + [1, 2, 3]; }", lengths(3, 1, 3, 1), 2, [f"{X} == 1"]),
    # errors are checks
    "products": Case(
        PRODUCT,
        calls(((2, 3), (3, 4)), ((5, 3), (3, 4)), ((5, 3), (3, 7)), ((5, 6), (6, 7)), ((8, 9), (9, 10))),
        4,
        [],
        ["x.shape[1] == y.shape[0]"],
    ),
    "a wrong product": Case(
        PRODUCT,
        calls(((2, 3), (3, 4)), ((5, 6), (6, 7)), ((5, 6), (7, 7)), ((8, 9), (9, 10))),
        2,
        [],
        ["x.shape[1] == y.shape[0]"],
        errors=1,
    ),
    "dots": Case(PRODUCT, pairs((3, 3), (4, 4), (0, 0)), 2, [], [f"{X} == {Y}"]),
    "batches": Case(
        PRODUCT, calls(((2, 3, 4), (2, 4, 5)), ((3, 3, 4), (3, 4, 5)), ((4, 3, 4), (4, 4, 5))), 2, [f"{X} == {Y}"]
    ),
    "cat": Case(
        "def f(x, y) { return cat([x, y], axis=1); }",
        calls(((2, 3), (2, 4)), ((5, 3), (5, 4)), ((6, 3), (6, 4))),
        2,
        [],
        [f"{X} == {Y}"],
    ),
    "stack": Case("def f(x, y) { return stack(x, y); }", pairs((2, 2), (3, 3), (4, 4)), 2, [], [f"{X} == {Y}"]),
    "solve": Case(
        "def f(x, y) { return solve(x + eye(x.shape[0]), y); }",
        calls(((2, 2), (2,)), ((3, 3), (3,)), ((4, 4), (4,))),
        2,
        None,
        None,
    ),
    # conditions
    "a condition on a sum of sizes": Case(CAT, pairs((2, 3), (3, 4), (7, 9)), 2, [f"{X} + {Y} >= 3"]),
    "both sides": Case(CAT, pairs((2, 3), (3, 4), (1, 1), (0, 1)), 3, [f"{X} + {Y} >= 3", f"{X} + {Y} <= 2"]),
    "implied conditions": Case(
        "def f(x) { if x.shape[0] > 2 { if x.shape[0] > 1 { return sum(x); } } return 0.0; }",
        lengths(5, 6, 7),
        2,
        [f"{X} >= 3"],
    ),
    "the stronger one": Case(
        "def f(x) { if x.shape[0] > 1 { if x.shape[0] > 2 { return sum(x); } } return 0.0; }",
        lengths(5, 6, 7),
        2,
        [f"{X} >= 3"],
    ),
    "conditions after equal sizes": Case(
        "def f(x, y) { var z = x + y; if x.shape[0] == y.shape[0] { return sum(z); } return 0.0; }",
        pairs((5, 5), (6, 6), (7, 7)),
        2,
        [f"{X} == {Y}"],
    ),
    "even and odd": Case(
        "def f(x) { if x.shape[0] % 2 == 0 { return sum(x); } return -sum(x); }", lengths(4, 6, 8, 5, 7, 10), 3, None
    ),
    "not": Case(
        "def f(x) { if not (x.shape[0] > 3) { return sum(x); } return -sum(x); }",
        lengths(1, 2, 3, 0, 5),
        3,
        [f"{X} <= 3", f"{X} >= 4"],
    ),
    "and": Case(
        "def f(x, y) { if x.shape[0] > 1 and y.shape[0] > 1 { return sum(x); } return sum(y); }",
        pairs((2, 2), (3, 3), (9, 4)),
        2,
        [f"{X} >= 2", f"{Y} >= 2"],
    ),
    "or": Case(
        "def f(x, y) { if x.shape[0] > 1 or y.shape[0] > 1 { return sum(x); } return sum(y); }",
        pairs((2, 2), (3, 3), (9, 0)),
        2,
        [f"{X} >= 2"],
    ),
    "a value of a condition": Case(
        "def f(x) { var big = x.shape[0] > 4; return where(big, sum(x), 0.0); }", lengths(3, 4, 5, 9), 2, []
    ),
    "in a callee": Case(
        "def g(x) { if x.shape[0] > 2 { return sum(x); } return 0.0; } def f(x) { return g(x[1:]); }",
        lengths(5, 6, 7, 9),
        2,
        None,
    ),
    "len": Case("def f(x) { if len(x) > 2 { return sum(x); } return 0.0; }", lengths(5, 6, 7), 2, [f"{X} >= 3"]),
    "while": Case(
        "def f(x) { var i = 0; var s = 0.0; while i < x.shape[0] { s += x[i]; i += 1; } return s; }",
        lengths(3, 4, 0),
        2,
        [],
    ),
    # no guards from these
    "mean": Case("def f(x) { return sum(x) / x.shape[0]; }", lengths(3, 4, 5), 2, []),
    "reshape": Case("def f(x) { return reshape(x, [-1, 2]); }", lengths(4, 6, 8), 2, []),
    "a reshape that cannot be": Case("def f(x) { return reshape(x, [-1, 2]); }", lengths(4, 6, 7, 8), 2, [], errors=1),
    "slices": Case("def f(x) { return x[1:-1] * 2; }", lengths(4, 6, 8, 1, 0), 2, []),
    "every other element": Case("def f(x) { return x[::2] + x[::2]; }", lengths(4, 6, 7), 2, []),
    "fft": Case("def f(x) { return abs(ifft(fft(x)) - x) < 1e-9; }", lengths(4, 6, 7, 1), 2, []),
    "softmax": Case("def f(x) { return softmax(x, 0); }", lengths(4, 6, 7), 2, []),
    "transpose": Case("def f(x) { return x.T; }", calls((2, 3), (4, 5), (1, 0)), 2, []),
    "indices": Case("def f(x) { return x[0] + x[-1]; }", lengths(4, 6, 7), 2, []),
    "an index out of range": Case("def f(x) { return x[3]; }", lengths(4, 5, 2, 6), 2, [], errors=1),
    "masks": Case("def f(x) { return sum(x[x > 0]); }", lengths(4, 5, 6), 2, []),
    "view_as_real": Case("def f(x) { return view_as_real(x * 1i); }", lengths(4, 5, 6), 2, []),
    "zeros": Case("def f(x) { return zeros(x.shape[0], 2); }", lengths(4, 5, 6), 2, []),
    "max": Case("def f(x) { return max(x); }", lengths(4, 5, 6), 2, [], [f"{X} >= 1"]),
    "max of nothing": Case("def f(x) { return max(x); }", lengths(4, 5, 0, 6), 2, [], [f"{X} >= 1"], errors=1),
    "arange": Case("def f(x) { return arange(x.shape[0]) * x; }", lengths(4, 5, 6), 2, []),
    "unused arguments": Case("def f(x, y) { return sum(x); }", pairs((3, 3), (3, 4), (3, 5)), 1),
    "unused and used": Case("def f(x, y) { return sum(x); }", pairs((3, 3), (4, 4), (5, 5)), 2),
    "ten arguments": Case(TEN, TEN_CALLS, 1, [], flags=["--dynamic=on"]),
    # guards that ask for one size
    "pairs of numbers": Case("def f(x) { return view_as_complex(x); }", calls((3, 2), (4, 2), (5, 2)), 2, []),
    "squeeze": Case("def f(x) { return squeeze(x, 0); }", calls((1, 2), (1, 3), (1, 4)), 2, []),
    "squeeze of all": Case("def f(x) { return squeeze(x); }", lengths(3, 4, 5), 2, [f"{X} != 1"]),
    "sizes of data": Case(
        "def f(x) { var u = unique(cumsum(x) % 3); if len(u) > 2 { return sum(u) * 10; } return sum(u) / len(u); }",
        lengths(2, 3, 4, 9, 0 + 1),
        2,
        [],
    ),
    "positions": Case(
        (
            "def f(x) { var p = nonzero(cumsum(x) > 2); assert p.shape[0] <= x.shape[0]; return zeros(p.shape[0], 2) +"
            " sum(p); }"
        ),
        lengths(2, 3, 4, 9),
        2,
        [],
    ),
    "an item as a size": Case("def f(x) { return ones(i64(item(sum(x)))) * 2; }", lengths(2, 3, 4, 0), 2, []),
    "parts": Case(
        "def f(x) { var parts = split(x, 2); return parts[0] * len(parts[-1]); }",
        lengths(6, 5, 6, 3, 4),
        3,
        ["((x.shape[0]+1)//2) == 3", "((x.shape[0]+1)//2) == 2"],
    ),
    # declared sizes
    "declared": Case("def f(x: f64[N]) { return x * 2; }", lengths(10, 20, 0, 1), 1),
    "declared twice": Case(
        "def f(x: f64[N], y: f64[N]) { return x + y; }", pairs((3, 3), (4, 4), (0, 0), (3, 4)), 1, errors=1
    ),
    "both branches": Case("def f(x: f64[N]) { if N > 2 { return sum(x); } return 0.0; }", lengths(1, 5, 0), 1),
    "solved sizes": Case("def f(x: f64[2*N]) { return reshape(x, [N, 2]); }", lengths(4, 6, 5, 0), 1, errors=1),
    "where": Case("def f(x: f64[N]) where N >= 2 { return x[1]; }", lengths(4, 6, 1), 1, errors=1),
    "one axis declared": Case("def f(x: f64[N, _]) { return sum(x, 1); }", calls((2, 3), (4, 3), (4, 5), (6, 7)), 2),
    # attributes and modes
    "@dynamic": Case("@dynamic(x, 0)\n" + TWICE, lengths(10, 20, 30, 40), 1),
    "@dynamic of two axes": Case(
        "@dynamic(x, 0)\n@dynamic(x, -1)\ndef f(x) { return sum(x, 0); }", calls((2, 3), (4, 5), (6, 7)), 1
    ),
    "@dynamic with bounds": Case("@dynamic(x, 0, 4, 10)\n" + TWICE, lengths(4, 10, 7), 1, [f"{X} >= 4", f"{X} <= 10"]),
    "@dynamic out of bounds": Case(
        "@dynamic(x, 0, 4, 10)\n" + TWICE, lengths(4, 11, 12, 5), 2, [f"{X} >= 4", f"{X} <= 10"]
    ),
    "@dynamic that cannot be": Case("@dynamic(x, 0)\ndef f(x) { return view_as_complex(x); }", lengths(2), 0, errors=1),
    "@static": Case("@static(x, 0)\n" + TWICE, lengths(10, 20, 30, 10), 3),
    "--dynamic=off": Case(TWICE, lengths(10, 20, 30, 10), 3, flags=["--dynamic=off"]),
    "--dynamic=on": Case(TWICE, lengths(10, 20, 30, 10), 1, flags=["--dynamic=on"]),
    "--dynamic=on, size 1": Case(TWICE, lengths(1, 20, 0), 1, flags=["--dynamic=on"]),
    "many forms end in one for all": Case("@static(x, 0)\n" + TWICE, lengths(*range(1, 13)), 12),
    "a generic form": Case(
        "def f(x) { "
        + " ".join(f"if x.shape[0] == {i} {{ return sum(x) + {i}; }}" for i in range(1, 14))
        + " return 0.0; }",
        lengths(*range(1, 14), 20, 21),
        9,
        None,
        contains=["for all sizes"],
    ),
    "redefinition": Case(TWICE, [*lengths(3, 4), "def f(x) { return x * 3; }", *lengths(5, 6)], 4),
    "a callee is redefined": Case(
        "def g(x) { return x * 2; } def f(x) { return g(x) + 1; }",
        [*lengths(3, 4, 5), "def g(x) { return x * 4; }", *lengths(6, 3)],
        None,
    ),
    "fail_on_recompile": Case(TWICE, [*lengths(3), ":set fail_on_recompile on", *lengths(3, 4)], 1, errors=1),
}


# Every kind of operation on a tensor [n, m]: two compilations for three shapes, and no guard.
SWEEP = """x + 1; x * x; x / 2; x ** 2; x // 2; x % 3; -x; x > 1; not (x > 1); abs(x); exp(x); log(x + 1); sqrt(x);
sin(x); cos(x); tanh(x); floor(x); round(x); sign(x); square(x); reciprocal(x + 1);
sigmoid(x); relu(x); gelu(x); silu(x); x * 1i; conj(x * 1i); real(x * 1i); imag(x * 1i); angle(x * 1i); abs2(x * 1i);
polar(x, x); complex(x, x); view_as_real(x * 1i); c64(x); f32(x); i64(x);
sum(x); sum(x, 0); sum(x, 1); sum(x, axis=[0, 1]); sum(x, 1, keepdims=true); prod(x); mean(x); mean(x, 0); std(x, 1);
norm(x); norm(x, 1); max(x); max(x, 0); min(x, 1); argmax(x); argmax(x, 0); any(x > 0); all(x > 0, 1);
cumsum(x, 0); cumprod(x, 1); softmax(x, 1); softmax(x, 0); logsumexp(x); x.T; transpose(x); permute(x, [1, 0]);
swapaxes(x, 0, 1); reshape(x, [-1]); flatten(x); reshape(x, [x.shape[1], x.shape[0]]); unsqueeze(x, 0);
unsqueeze(x, -1);
x[0]; x[-1]; x[:, 0]; x[1:]; x[:, ::2]; x[::-1]; x[..., 0]; x[newaxis]; x[0, 1]; x[[0, 1]]; x[x > 0]; flip(x, 0);
roll(x, 1, 0); tile(x, [2, 1]); repeat(x, 2, 0); pad(x, [[1, 1], [0, 2]]); cat([x, x]); cat([x, x], axis=1);
stack(x, x);
x @ x.T; x.T @ x; x @ x[0]; einsum("ij,ij->i", x, x); einsum("ij,kj->ik", x, x); dot(x[0], x[0]); outer(x[0], x[0]);
kron(x, x); trace(x @ x.T); diag(x[0]); tril(x); triu(x);
fft(x); ifft(x * 1i); rfft(x); fft(x, axis=0); fft2(x); fftshift(x[0]); det(x @ x.T + eye(x.shape[0]));
inv(x @ x.T + eye(x.shape[0])); solve(x @ x.T + eye(x.shape[0]), x); cholesky(x @ x.T + eye(x.shape[0]));
eigh(x @ x.T)[0]; svd(x)[1]; qr(x)[1];
sort(x); sort(x, 0); argsort(x); nonzero(x); where(x > 0, x, 0); clip(x, 0, 2); minimum(x, 2); maximum(x, x.T.T);
isnan(x); isfinite(x); zeros(x.shape[0]); ones(x.shape[0], x.shape[1]); eye(x.shape[0]); arange(x.shape[1]);
linspace(0, 1, x.shape[0]); full([x.shape[0], 2], 3); zeros_like(x); ones_like(x);
rmsnorm(x, x[0]); layernorm(x, x[0], x[0]); x.shape[0]; len(x); x.shape; convolve(x[0], x[0]);
expand(x, [3, x.shape[0], x.shape[1]])"""


def swept(toy, expression, reference):
    isOrdered = re.search(r"\b(max|min|argmax)\(x", expression)  # they ask for elements
    case = Case(
        f"def f(x) {{ return {expression}; }}", calls((2, 6), (3, 8), (4, 10)), 2, checks=None if isOrdered else ()
    )
    CASES[expression] = case
    return check(toy, expression, reference)


def run(toy, case, flags):
    """Output, errors and compilations; every call is an input of its own, in a session that errors do not end."""
    with tempfile.TemporaryDirectory() as folder:
        stats = os.path.join(folder, "stats.json")
        text = "\n".join(line if line.startswith((":", "def ")) else f"print({line});" for line in case.sequence)
        outputs, errors = [], 0
        # The prompt stops at the first error when it is piped; a call that is an error is one that is wrong in `try`
        # order, so it is taken out and counted.
        lines = [case.definition, *text.split("\n"), ":guards f"]
        while True:
            done = subprocess.run(
                [toy, "--no-cache", f"--stats={stats}", *flags],
                input="\n".join(lines) + "\n",
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                timeout=120,
            )
            if done.returncode == 0:
                break
            found = re.search(r"<stdin from line (\d+)>", done.stderr)
            if done.returncode != 1 or not found or errors > 9:
                raise AssertionError(done.stdout + done.stderr)
            number = int(found.group(1)) - 1 - case.definition.count("\n")
            errors += 1
            del lines[number]
            outputs.append(done.stderr)
        told = json.load(open(stats))
        compiles = [c for c in told["compiles"] if c["function"] == "f"]
        shown = sorted(re.findall(r"  (guard|check) (.*?)  at ", done.stdout))
        if shown != sorted((g["kind"], g["condition"]) for g in told["guards"] if g["function"] == "f"):
            raise AssertionError(f"--stats has other guards: {told['guards']}\n{done.stdout}")
        return done.stdout, errors, compiles, outputs


def check(toy, name, reference):
    """What the case says, and the results that the reference gives: code for every size alone, or the evaluator."""
    case = CASES[name]
    text, errors, compiles, messages = run(toy, case, case.flags)
    shown = text[text.index("f(") :] if "f(" in text else ""
    results = text[: len(text) - len(shown)]
    problems = []
    if case.compiles is not None and len(compiles) != case.compiles:
        problems.append(f"{len(compiles)} compilations, not {case.compiles}: {compiles}")
    if errors != case.errors:
        problems.append(f"{errors} errors, not {case.errors}: {messages}")
    guards = re.findall(r"  guard (.*?)  at ", shown)
    checks = re.findall(r"  check (.*?)  at ", shown)
    if case.guards is not None and sorted(set(guards)) != sorted(set(case.guards)):
        problems.append(f"guards {guards}, not {case.guards}")
    if case.checks is not None and sorted(set(checks)) != sorted(case.checks):
        problems.append(f"checks {checks}, not {case.checks}")
    problems += [f"no {part!r}" for part in case.contains if part not in shown]
    if case.compiles and "fail_on_recompile" not in name:
        static, static_errors, _, _ = run(toy, case, [reference])
        static = static[: static.index("f(")] if "f(" in static else static
        results, static = (without_signs(text) for text in (results, static))
        if results != static or errors != static_errors:
            problems.append(f"results differ from {reference}\n{results}\n{static}")
    return "\n".join(problems + [case.definition, *case.sequence, shown]) if problems else None


def profile(toy):
    """What changed in one run is as it comes from the first call of the next one; a damaged file is no profile;
    processes side by side leave a whole file."""
    program = "def f(x) { return x * 2; }\n" + "".join(f"print(sum({c}));\n" for c in lengths(8, 9, 10))
    with tempfile.TemporaryDirectory() as folder:
        path, stats = os.path.join(folder, "profile"), os.path.join(folder, "stats.json")

        def compiles(text=program):
            done = subprocess.run(
                [toy, "--no-cache", f"--size-profile={path}", f"--stats={stats}"],
                input=text,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
            )
            return (
                (done.stdout.split(), len(json.load(open(stats))["compiles"])) if done.returncode == 0 else done.stderr
            )

        counts = [compiles(), compiles(), compiles(program.replace("* 2", "* 3"))]
        with open(path, "ab") as file:
            file.write(b"\xff\x00 damaged 99999999999999999999\n7 -1 x\n")
        counts.append(compiles())
        # the function of another text: blanks, brackets and comments are no part of it
        counts.append(compiles(program.replace("return x * 2;", "# doubled\n  return (x*2);")))
        side = [
            subprocess.Popen([toy, "--no-cache", f"--size-profile={path}", "-e", program], stdout=subprocess.DEVNULL)
            for _ in range(6)
        ]
        ends = [process.wait(60) for process in side]
        counts.append(compiles())
    want = [
        (["16.0", "18.0", "20.0"], 2),
        (["16.0", "18.0", "20.0"], 1),
        (["24.0", "27.0", "30.0"], 2),
        *[(["16.0", "18.0", "20.0"], 1)] * 3,
    ]
    return None if counts == want and not any(ends) else f"{counts} {ends}"


def remarks(toy):
    """Another specialization is told with its reason and its guards, at their places."""
    done = subprocess.run(
        [toy, "--no-cache", "--remarks", "-e", f"{ADD} f(ones(3), ones(3)); f(ones(4), ones(4)); f(ones(5), ones(5));"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    found = [line for line in done.stderr.splitlines() if line.startswith(("remark", "note"))]
    want = ["remark[M0103]: another specialization of `f`: x.shape[0] is 4, not 3", f"note: it is for {X} == {Y}"]
    return None if done.returncode == 0 and found == want else done.stderr


def failed_calls(toy):
    """What a failed call was given is forgotten: each call ends as it does in a session of its own."""
    programs = {
        "@dynamic(x, 0) def f(x, y) { return x * y; }": [
            "f(ones(6), ones(6))",
            "f(ones(5), ones(5))",
            "f(ones(3), 2.0)",
        ],
        "def f(x, y) { return x[:4] + y; }": ["f(ones(6), ones(6))", "f(ones(5), ones(4))", "f(ones(7), ones(5))"],
        "def f(x) { var h = x.shape[0]//2; return x[:h] + x[h:]; }": ["f(ones(5))", "f(ones(6))", "f(ones(7))"],
        "def g(x: f64[2*N], y: f64[N]) { return N; } def f(x, y) { return g(x, y) + x[0]; }": [
            "f(ones(6), ones(2))",
            "f(ones(5), ones(2))",
            "f(ones(4), ones(2))",
            "f(ones(8), ones(4))",
        ],
    }

    def outcomes(definition, calls, flags):
        session = terminal.Session(toy, ["--no-cache", *flags])
        try:
            session.line(definition)
            answers = [session.line(call) for call in calls]
        finally:
            session.close()
        return [re.findall(r"error\[(\w+)\]", answer) or answer.strip() for answer in answers]

    problems = []
    for definition, calls in programs.items():
        for flags in (["--jit=always"], ["--jit=always", "--dynamic=on"], ["--jit=never"]):
            alone = {call: outcomes(definition, [call], flags)[0] for call in calls}
            for order in (calls * 2, calls[::-1] * 2):
                if (found := outcomes(definition, order, flags)) != [alone[call] for call in order]:
                    problems.append(f"{flags} {definition} {order}: {found}, alone {alone}")
    return "\n".join(problems[:5]) or None


def all_cases():
    yield "sizes: failed calls", failed_calls, "release"
    yield "sizes: profile", profile
    yield "sizes: remarks", remarks, "host"
    for name in list(CASES):
        yield f"sizes: {name}", lambda toy, n=name: check(toy, n, "--dynamic=off")
    for i, expression in enumerate(filter(None, (e.strip() for e in SWEEP.split(";")))):
        name = f"sizes: sweep of {expression}"
        night = ["nightly"] if i % 2 else []
        yield name, lambda toy, e=expression: swept(toy, e, "--jit=never"), "release", *night
        yield f"{name} beside static code", lambda toy, e=expression: swept(
            toy, e, "--dynamic=off"
        ), "release", "nightly"
