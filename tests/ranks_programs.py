# SPDX-License-Identifier: Apache-2.0
"""Random programs on several ranks, beside what one rank computes that holds all parts: pieces of a tensor go through
element-wise functions, sums, exchanges and loops, and come together to the bits of the whole. `ranks_programs.py 7 8`
prints program 7 to 8."""
import pathlib
import random
import sys
import tempfile

from ranks_jobs import MPICH, OPEN, both, job

UNARY = ["x + 1", "x * 3 - 2", "-x", "abs(x)", "x * x", "where(x > 2, x, -x)", "minimum(x, 5)"]
FLOATING = ["exp(x / 9)", "sin(x)", "x / 3"]


class Program:
    """Lines that end in `ok(what)`, a bool that holds on all ranks."""

    def __init__(self, seed, ranks):
        self.rng = random.Random(seed)
        self.ranks = ranks
        self.dtype = self.rng.choice(["i64", "i32", "f64", "f32", "f16", "c64", "c128"])
        axes = self.rng.randint(1, 3)
        self.axis = self.rng.randrange(axes)
        self.shape = [self.rng.randint(0, 7) for _ in range(axes)]
        if self.rng.random() < 0.5:
            self.shape[self.axis] = ranks * self.rng.randint(1, 3)

    def lines(self, n):
        rng, axis, shape = self.rng, self.axis, ", ".join(map(str, self.shape))
        count = 1
        for size in self.shape:
            count *= size
        imaginary = " * (1 - 2i)" if self.dtype[0] == "c" else ""
        yield f"def f{n}(x) {{ return {rng.choice(self.bodies())}; }}"
        yield f"var x{n} = {self.dtype}(reshape(arange({count}) % 7 - 3, [{shape}]){imaginary});"
        yield f"var y{n} = shard(x{n}, axis = {axis});"
        for what in rng.sample(self.claims(n), 3):
            left, right = what.split(" == ")
            yield f"ok({n}, all(same({left}, {right})));"

    def bodies(self):
        chain = self.chain("x")
        return [chain, f"({chain}) + x"]

    def chain(self, x):
        choices = list(UNARY[:3]) + [UNARY[4]]
        if self.dtype[0] in "if":
            choices += [UNARY[3], *UNARY[5:]]
        if self.dtype[0] in "fc":
            choices += FLOATING
        for _ in range(self.rng.randint(1, 3)):
            x = " ".join(f"({x})" if w == "x" else w for w in self.spaced(self.rng.choice(choices)))
        return x

    @staticmethod
    def spaced(text):
        for mark in "(),":
            text = text.replace(mark, f" {mark} ")
        return text.replace("-x", "- x").split()

    def claims(self, n):
        """What holds whatever the number of ranks is; sums of integers are exact."""
        x, y, f, a, p = f"x{n}", f"y{n}", f"f{n}", self.axis, self.ranks
        k = self.rng.randrange(p)
        out = [
            f"unshard({f}({y}), axis = {a}) == {f}({x})",
            f"all_gather({f}({y}), axis = {a}) == {f}({x})",
            f"reduce_scatter({f}({x} * (rank() + 1)), axis = {a}) == shard(all_reduce({f}({x} * (rank() + 1))), axis = {a})",
            f"broadcast({x} * rank(), from = {k}) == {x} * {k}",
            f"shift({x} + rank(), {k}) == {x} + (rank() + {p - k}) % {p}",
            f"all_reduce({x} * 0 + 1) == {p}",
            f"turns({x}, {k + 1}) == {k + 1} * {p} + {x} * 0",
        ]
        if self.dtype in ("i64", "i32"):
            out.append(f"all_reduce(sum({y}, axis = {a})) == sum({x}, axis = {a})")
            out.append(f"all_reduce(sum({f}({y}))) == sum({f}({x}))")
        if self.shape[a] % p == 0:
            out.append(f"all_to_all(all_to_all({x} + rank(), axis = {a}), axis = {a}) == {x} + rank()")
        return out


def text(first, last, ranks):
    head = """
def same(a, b) { return a == b or (a != a and b != b); }
def turns(x, n) { var s = x * 0; for i in range(n) { s += all_reduce(x * 0 + 1); } return s; }
def ok(n, holds) { if not all_reduce(holds, op = "all") { print("program", n, "differs"); } }
"""
    return (
        head + "\n".join(line for n in range(first, last) for line in Program(n, ranks).lines(n)) + '\nprint("done");\n'
    )


def run(toy, launcher, ranks, first, last, flags=()):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "p.toy").write_text(text(first, last, ranks))
        status, out, err, _ = job(toy, launcher, ranks, [*flags, "p.toy"], folder)
    return None if (status, out) == (0, "done\n") else f"{status} {out}{err}"


def all_cases():
    marks = ("release", "host")
    yield "ranks: random programs", lambda toy: run(toy, OPEN, 3, 0, 12, ["--jit=never"]), both(OPEN), *marks
    for i in range(20):
        launcher, flag = (OPEN, MPICH)[i % 2], ("--jit=never", "--jit=always", "--unpack", "--dynamic=on")[i % 4]
        part = lambda toy, m=launcher, p=i % 4 + 2, n=100 * i, f=flag: run(toy, m, p, n, n + 100, [f])
        yield f"ranks: random programs from {100 * i}", part, both(launcher), "nightly", *marks


if __name__ == "__main__":
    print(text(int(sys.argv[1]), int(sys.argv[2]), 3))
