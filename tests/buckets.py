#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Sizes padded to buckets on a device (the fake one): random functions, whose rows are independent or not, print what
they print without buckets, within rounding; and products are captured once a bucket, not once a size. By hand:
buckets.py TOY FIRST LAST."""
import os
import pathlib
import random
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import device  # noqa: E402
from programs import of_this_build  # noqa: E402

SIZES = [0, 1, 2, 3, 5, 7, 8, 9, 13]


class Function:
    """Steps on a tensor `h` whose shape is known, with one axis of size N; what padding holds is never zero for long,
    so that it is seen if it leaks."""

    def __init__(self, rng, name):
        self.rng, self.name, self.complex = rng, name, rng.random() < 0.3
        self.lines, self.shape = [], ["N", 4]
        if rng.random() < 0.3:
            self.shape = [3, "N", 4]
        self.parameters = list(self.shape)
        self.product()
        for _ in range(rng.randint(2, 6)):
            rng.choice(self.steps())()

    def text(self, buckets):
        dtype = "c128" if self.complex else "f64"
        lead = f"@buckets(N, {buckets})\n" if buckets else ""
        return (
            f"{lead}def {self.name}(x: {dtype}[{', '.join(map(str, self.parameters))}]) {{\n  var h = x;\n"
            + "".join(f"  {line}\n" for line in self.lines)
            + "  return h;\n}\n"
        )

    def axis(self, kind=None):
        """An axis; of kind `row`, one that is N; of kind `other`, one that is not."""
        fitting = [i for i, s in enumerate(self.shape) if kind is None or (s == "N") == (kind == "row")]
        return self.rng.choice(fitting) if fitting else None

    def any_axis(self):  # seldom the one that mixes rows
        axis = self.axis("row" if self.rng.random() < 0.1 else "other")
        return self.axis() if axis is None else axis

    def do(self, line, shape=None):
        self.lines.append(line if line.endswith("}") else f"h = {line};")
        if shape is not None:
            self.shape = shape

    def steps(self):
        return [
            self.product,
            self.map,
            self.map,
            self.normalize,
            self.permute,
            self.reduce,
            self.slice,
            self.double,
            self.scan,
            self.move,
            self.merge,
            self.positions,
            self.count,
            self.transform,
            self.gram,
            self.branch,
        ]

    def product(self):
        if not self.shape or self.shape[-1] == "N" or len(self.shape) < 2:
            return
        k, n = self.shape[-1], self.rng.randint(1, 5)
        self.do(
            f"h @ ({'(0.5-1i) * ' if self.complex else ''}reshape(cos(arange({k * n}) * 1.0), [{k}, {n}]))",
            [*self.shape[:-1], n],
        )

    def map(self):
        self.do(
            self.rng.choice(
                ["exp(h * 0.1) + 1", "tanh(h) + 0.5", "h * h - 2", "where(abs(h) > 0.3, h, 1 + h)", "h / (abs(h) + 1)"]
            )
        )

    def normalize(self):
        axis = self.axis("other")  # there is no largest one of no rows
        if axis is not None:
            self.do(self.rng.choice([f"h - mean(h, {axis}, true)", f"h * softmax(abs(h), {axis})"]))

    def permute(self):
        order = self.rng.sample(range(len(self.shape)), len(self.shape))
        if len(order) > 1:
            self.do(f"permute(h, {order})", [self.shape[i] for i in order])

    def reduce(self):
        axis = self.any_axis()
        if axis is not None and len(self.shape) > 2:
            self.do(f"sum(h, {axis})", [s for i, s in enumerate(self.shape) if i != axis])

    def slice(self):
        axis = self.axis("other")
        if axis is not None and self.shape[axis] > 1:
            self.do(
                f"h[{', '.join(':' if i != axis else f'1:{s}' for i, s in enumerate(self.shape))}]",
                [s - 1 if i == axis else s for i, s in enumerate(self.shape)],
            )

    def double(self):
        axis = self.axis("other")
        if axis is not None and self.shape[axis] < 6:
            self.do(f"cat([h, 2 * h], axis={axis})", [2 * s if i == axis else s for i, s in enumerate(self.shape)])

    def scan(self):
        if (axis := self.any_axis()) is not None:
            self.do(
                self.rng.choice(
                    [f"cumsum(h, {axis})", f"h + cumprod(tanh(h), {axis})"]
                    + ([] if self.complex else [f"sort(h, axis={axis})"])
                )
            )

    def move(self):
        if (axis := self.any_axis()) is not None:
            self.do(self.rng.choice([f"flip(h, {axis})", f"h + roll(h, 1, {axis})"]))

    def merge(self):
        for i in range(len(self.shape) - 1):
            if self.rng.random() < 0.5 and "N" not in self.shape[i : i + 2]:
                shape = [*self.shape[:i], self.shape[i] * self.shape[i + 1], *self.shape[i + 2 :]]
                return self.do(f"reshape(h, [{', '.join(map(str, shape))}])", shape)
        self.do("unsqueeze(h, 0)", [1, *self.shape])

    def positions(self):
        if "N" in self.shape:
            after = ", ".join(["1"] * (len(self.shape) - 1 - self.shape.index("N")))
            self.do(f"h + reshape(arange(N) * 0.1, [N{', ' + after if after else ''}])")

    def count(self):
        self.do("h / (N + 1)")

    def transform(self):
        if (axis := self.any_axis()) is not None and self.shape[axis] != "N":
            self.do(f"abs(fft(h, axis={axis}))")

    def branch(self):
        self.do(
            self.rng.choice(
                [
                    "for i in range(3) { h = tanh(h) + 0.1 * i; }",
                    "if N > 3 { h = 1 + h * 2; } else { h = exp(h * 0.1); }",
                    "for i in range(N) { h = h * 0.5 + 1; }",
                    "while sum(ones([N])) > N { h = h + 1; }",
                ]
            )
        )

    def gram(self):
        if self.rng.random() < 0.2 and len(self.shape) == 2:
            self.do("h @ h.T", [self.shape[0], self.shape[0]])


def functions_of(seed, count=10):
    rng = random.Random(seed)
    functions = [Function(rng, f"f{i}") for i in range(count)]
    buckets = sorted(rng.sample(range(1, 20), rng.randint(1, 4)))

    def text(with_buckets):
        calls = ""
        for f in functions:
            scale = "(1+0.3i)" if f.complex else "1.0"
            sizes, count = ", ".join("n" if s == "N" else str(s) for s in f.parameters), " * ".join(
                "n" if s == "N" else str(s) for s in f.parameters
            )
            calls += f"  print({f.name}(reshape(sin(arange({count}) * 0.7) + 0.3, [{sizes}]) * {scale}));\n"
        return (
            "".join(f.text(buckets if with_buckets else None) for f in functions)
            + f"for n in {SIZES} {{\n  var n = i64(n);\n{calls}}}\n"
        )

    return text(True), text(False), len(functions)


def outcome(toy, text, seed, *flags):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "program.toy")
        path.write_text(text)
        return device.run(toy, [*device.EVERYWHERE, "--precision=full", *flags, str(path)], seed)


def random_functions(toy, seed):
    """Padded and unpadded agree; some functions are padded, and those that may not be are reported."""
    padded, plain, count = functions_of(seed)
    got, want = outcome(toy, padded, seed, "--remarks"), outcome(toy, plain, seed)
    if problem := got.problem() or want.problem():
        return f"{problem}\n{padded}"
    if not device.close(
        got.stdout, want.stdout, 1e-12
    ):  # what the host multiplies is rounded in another order for other sizes
        return f"without buckets:\n{want.stdout[:1500]}\nwith buckets:\n{got.stdout[:1500]}\n{padded}"
    refused = len(re.findall(r"M0105", got.stderr))
    return None if refused < count else f"none of the functions is padded\n{padded}"


PERCEPTRON = """{0}def f(x: f32[N, 3], w: f32[3, 5], v: f32[5, 2]) {{ return softmax(tanh(x @ w) @ v); }}
var w = f32(reshape(arange(15), [3, 5])) / 10; var v = f32(reshape(arange(10), [5, 2])) / 7;
for round in range(0, 3) {{ for n in range(1, {1}) {{ print(sum(f(f32(reshape(arange(3 * n), [n, 3])), w, v)[-1])); }} }}"""


def captures(toy):
    """Two products are captured for each bucket that comes back (8 and 16; what is larger stays as it is), again where
    their operands lie elsewhere, and no graph is made for sizes in between."""
    got, want = (
        outcome(toy, PERCEPTRON.format(lead, 17), 1, "--cuda-graphs=full") for lead in ("@buckets(N, [8, 16])\n", "")
    )
    if problem := got.problem() or want.problem():
        return problem
    if got.stdout != want.stdout:
        return f"{got.stdout} instead of {want.stdout}"
    few = got.stats["products"] <= 16 and got.stats["graphs"] <= 5
    return None if few and want.stats["products"] > 48 else f"with buckets {got.stats}\nwithout {want.stats}"


def waste(toy):
    """More than half of padding (of more than 256 rows) is not allowed, and sizes above all buckets stay: then every
    size is captured."""
    for sizes, padded in (
        ([1, 2, 3, 4], True),
        ([500, 501, 998, 999, 1000], True),
        ([400, 401, 402, 410, 420, 499], False),
        ([1001, 1002, 1003, 1004, 1005, 1006], False),
    ):
        text = (
            "@buckets(N, [4, 1000])\ndef f(x: f64[N, 2], w: f64[2, 2]) { return x @ w + 1; }\nvar w = reshape(arange(4) * 1.0, [2, 2]);\n"
            + f"for n in {sizes} {{ print(sum(f(ones([i64(n), 2]), w))); }}"
        )
        done = outcome(toy, text, 1, "--cuda-graphs=full")
        if problem := done.problem():
            return problem
        if (
            done.stdout.split() != [f"{n * 8}.0" for n in sizes] or (done.stats["products"] <= 3) != padded
        ):  # once for the bucket, and when a larger arena moves it
            return f"{sizes}: {done.stdout} {done.stats}"
    return None


REFUSED = [
    ("@buckets(N)", "a list of numbers are wanted"),
    ("@buckets(M, [8])", "`M` is no size in the signature of `f`"),
    ("@buckets(N, [8, 4])", "positive and in ascending order"),
    ("@buckets(N, [0, 4])", "positive and in ascending order"),
    ("@buckets(N, [])", "positive and in ascending order"),
    ("@buckets(N, [4, 4])", "positive and in ascending order"),
    ("@buckets(N, [4])\n@buckets(N, [8])", "`N` has buckets already"),
]


def refused(toy):
    """Wrong attributes are errors wherever values live."""
    for lead, text in REFUSED:
        done = device.run(
            toy, ["--device=cpu", "-e", f"{lead}\ndef f(x: f64[N]) {{ return x; }}\nprint(f([1.0, 2.0]));"]
        )
        if done.status != 1 or text not in done.stderr or "T0355" not in done.stderr:
            return f"{lead}: {done.status} {done.stdout}{done.stderr}"
    return None


MARKERS = ("device", "host")


def all_cases(count=24, daily=4):
    return [
        *(
            (
                f"device: buckets, random functions {seed}",
                lambda toy, seed=seed: random_functions(toy, seed),
                *([] if seed in of_this_build(daily) else ["nightly"]),
            )
            for seed in range(count)
        ),
        ("device: buckets, captures", captures),
        ("device: buckets, waste", waste),
        ("device: buckets, errors", refused),
    ]


if __name__ == "__main__":
    toy, first, last = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    bad = [f"{seed}: {problem}" for seed in range(first, last) if (problem := random_functions(toy, seed))]
    print("\n".join(bad + [f"{last - first - len(bad)} passed, {len(bad)} failed"]))
