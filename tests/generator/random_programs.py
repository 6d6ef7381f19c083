# SPDX-License-Identifier: Apache-2.0
"""Random well-typed programs: the reference evaluator and compiled code at every setting print the same bits."""
import os
import random

from programs import of_this_build, run_parts

INTEGERS, FLOATS = ("bool", "u8", "i32", "i64"), ("bf16", "f16", "f32", "f64")
REAL_UNARY = ["exp", "exp2", "sin", "cos", "sqrt", "abs", "tanh", "floor", "sign", "expm1", "square", "sigmoid", "atan"]
COMPLEX_UNARY = ["exp", "sin", "conj", "sqrt", "log", "tanh", "sign", "square"]


FUNCTIONS = """struct Held { var call; var value; }
def twice(f, x) { return f(f(x)); }
def holder(v) { return t => t + v; }
"""


class Generator:
    """Keeps a list of variables with (name, kind, dtype, shape) and adds statements."""

    def __init__(self, seed, functions=False):
        self.random = random.Random(seed)
        self.functions = functions
        self.lines = []
        self.variables = []
        self.count = 0

    def choose(self, items):
        return self.random.choice(items)

    def literal(self, dtype):
        value = self.choose(
            [
                "0.0",
                "-0.0",
                "1.0",
                "2.5",
                "-3.25",
                "0.1",
                "7.0",
                "1e-3",
                "inf",
                "nan",
                "-1e4" if dtype == "f16" else "-1e10",
            ]
            if self.random.random() < 0.3
            else [f"{self.random.uniform(-4, 4):.3f}"]
        )
        return value

    def constant(self, dtype, shape):
        n = 1
        for s in shape:
            n *= s
        if dtype in ("i64", "i32", "u8"):
            items = [str(self.random.randint(0 if dtype == "u8" else -9, 9)) for _ in range(n)]
        elif dtype in ("c64", "c128"):
            items = [f"complex({self.literal(dtype)}, {self.literal(dtype)})" for _ in range(n)]
        else:
            items = [self.literal(dtype) for _ in range(n)]
        if not shape:
            return f"{dtype}({items[0]})"
        if n == 0:
            return f"zeros({list(shape)}, dtype={dtype})"
        return f"reshape({dtype}([{', '.join(items)}]), {list(shape)})"

    def new(self, text, dtype, shape):
        name = f"v{self.count}"
        self.count += 1
        self.lines.append(f"var {name} = {text};")
        self.variables.append((name, dtype, tuple(shape)))
        return name

    def pick(self, condition=lambda d, s: True):
        fitting = [v for v in self.variables if condition(v[1], v[2])]
        return self.choose(fitting) if fitting else None

    def step(self):
        kind = self.choose(
            [
                "unary",
                "binary",
                "binary",
                "binary",
                "reduce",
                "reduce",
                "shape",
                "slice",
                "where",
                "matmul",
                "scalar",
                "store",
                "loop",
                "cumulate",
                "complexparts",
                "concat",
                "hidden",
                "hidden",
                *["function", "function", "try"] * 3 * self.functions,
            ]
        )
        getattr(self, "step_" + kind)()

    def step_unary(self):
        name, d, s = self.pick()
        if d in ("c64", "c128"):
            f = self.choose(COMPLEX_UNARY)
            self.new(f"{f}({name})", d, s)
        elif d in FLOATS:
            self.new(f"{self.choose(REAL_UNARY)}({name})", d, s)
        elif d in ("i64", "i32"):
            self.new(f"-{name}", d, s)

    def step_binary(self):
        a = self.pick(lambda d, s: d != "bool")
        b = self.pick(lambda d, s: d == a[1] and (s == a[2] or s == ()))
        op = self.choose(["+", "-", "*", "/"]) if a[1] in (*FLOATS, "c64", "c128") else self.choose(["+", "-", "*"])
        self.new(f"{a[0]} {op} {b[0]}", a[1], a[2])

    def step_reduce(self):
        name, d, s = self.pick(lambda d, s: len(s) > 0 and d != "bool")
        axis = self.random.randrange(len(s))
        f = self.choose(
            ["sum", "prod"] + (["max", "min", "argmax"] if d not in ("c64", "c128") and s[axis] > 0 else [])
        )
        rest = s[:axis] + s[axis + 1 :]
        self.new(f"{f}({name}, {axis})", "i64" if f == "argmax" or d in INTEGERS else d, rest)
        if self.random.random() < 0.5:
            self.new(f"sum({name})", "i64" if d in INTEGERS else d, ())

    def step_shape(self):
        name, d, s = self.pick(lambda d, s: len(s) == 2)
        self.new(f"{name}.T", d, s[::-1])

    def step_slice(self):
        name, d, s = self.pick(lambda d, s: len(s) > 0 and s[0] > 1)
        if self.random.random() < 0.5:
            self.new(f"flip({name}, 0)", d, s)
        else:
            self.new(f"{name}[1:]", d, (s[0] - 1,) + s[1:])

    def step_where(self):
        name, d, s = self.pick(lambda d, s: d in (*FLOATS, "i64"))
        self.new(f"where({name} > 0, {name}, -{name})", d, s)

    def step_matmul(self):
        a = self.pick(lambda d, s: len(s) == 2 and d in ("f64", "c128", "i64"))
        if a and a[1] == "i64":  # exact, so that any order of summation agrees
            self.new(f"{a[0]} @ {a[0]}.T", a[1], (a[2][0], a[2][0]))

    def step_scalar(self):
        name, d, s = self.pick(lambda d, s: d in (*FLOATS, "c128", "c64"))
        self.new(f"{name} * {self.random.uniform(-2, 2):.3f} + 1", d, s)

    def step_store(self):
        name, d, s = self.pick(lambda d, s: len(s) > 0 and s[0] > 1 and d != "bool")
        self.lines.append(f"{name}[0] = {name}[1];")
        self.lines.append(f"{name}[1:] *= 2;" if d != "u8" else f"{name}[1:] = 2;")

    def step_loop(self):
        name, d, s = self.pick(lambda d, s: d in (*FLOATS, "c64", "c128"))
        acc = self.new(f"{name} * 0", d, s)
        self.lines.append(
            f"for i in range({self.random.randint(1, 4)}) {{ if i % 2 == 0 {{ {acc} = {acc} + {name}; }} else {{ {acc} -= {name} * 0.5; }} }}"
        )

    def step_try(self):
        """A block that comes to its end or fails, which leaves its variable as it was."""
        name, d, s = self.pick(lambda d, s: len(s) > 0 and s[0] > 0 and d != "bool")
        kept = self.new(name, d, s)
        index = self.random.choice([0, s[0] - 1, s[0] + 2])
        tried, caught = f"{kept} = {kept} + {name}; {kept}[0] = {name}[{index}];", f"{kept}[0] = {name}[{s[0] - 1}];"
        self.lines.append(f"try {{ {tried} }} catch {{ {caught} }}")
        self.new(f"try {kept}[{index}] else {name}[0]", d, s[1:])

    def step_cumulate(self):
        name, d, s = self.pick(lambda d, s: len(s) > 0 and d != "bool")
        self.new(f"cumsum({name}, 0)", "i64" if d in INTEGERS else d, s)

    def step_complexparts(self):
        v = self.pick(lambda d, s: d in ("c64", "c128"))
        if v:
            d = "f32" if v[1] == "c64" else "f64"
            a = self.new(f"{v[0]}.real", d, v[2])
            b = self.new(f"imag({v[0]})", d, v[2])
            self.new(f"complex({b}, {a}) * conj({v[0]})", v[1], v[2])

    def step_concat(self):
        name, d, s = self.pick(lambda d, s: len(s) > 0 and s[0] < 40)
        self.new(f"cat({name}, {name})", d, (2 * s[0],) + s[1:])

    def step_function(self):
        """A function value with what it has captured: called, passed on, over rows."""
        name, d, s = self.pick(lambda d, s: d in (*FLOATS, "c64", "c128"))
        w = self.pick(lambda e, t: e == d and (t == s or t == ()))[0]
        way = self.choose(["direct", "passed", "member", "rows", "joined"])
        f = f"f{self.count}"
        body = self.choose(
            [f"t * {w} - t", f"where({w} == {w}, t, -t) + {w}", f"{{ var u = t + {w}; return u * 0.5; }}"]
        )
        self.lines.append(f"var {f} = t => {body};")
        if way == "direct":
            self.new(f"{f}({name})", d, s)
        elif way == "passed":
            self.new(f"twice({f}, {name})", d, s)
        elif way == "member":
            self.lines.append(f"var m{f} = Held({f}, {name});")
            self.new(f"m{f}.call(m{f}.value)", d, s)
        elif way == "joined":
            self.lines.append(f"var h{f} = holder({name});")
            self.lines.append(f"for i in range(3) {{ if i == 1 {{ h{f} = holder({f}({name})); }} }}")
            self.new(f"h{f}({name} * 0)", d, s)
        elif s and s[0] > 0:
            row = self.new(f"{name}[0]", d, s[1:])
            self.new(f"map(r => r + {row}, {name})", d, s)
            self.new(f"fold((a, r) => a * 0.5 - r, {row}, {name})", d, s[1:])

    def step_hidden(self):
        """Complex products written in real arithmetic, exactly or with one mistake."""
        dtype, shape = self.choose([("f64", (3, 3)), ("f32", (4,)), ("f64", (2, 3)), ("f32", ())])
        a, b, c, d = (self.new(self.constant(dtype, shape), dtype, shape) for _ in range(4))
        times = "@" if shape == (3, 3) and self.random.random() < 0.5 else "*"
        order = (
            (lambda x, y: f"{x}{times}{y}") if times == "@" else (lambda x, y: self.choose([f"{x}*{y}", f"{y}*{x}"]))
        )
        re, im = self.choose([("-", "+"), ("+", "-"), ("-", "+")])
        if self.random.random() < 0.35:  # a near miss: a sign, an operand, or an order
            re, a, c = self.choose([(im, a, c), (re, d, c), (re, c, a)])
        first, second = (f"{order(a, c)} {re} {order(b, d)}", f"{order(a, d)} {im} {order(b, c)}")
        if self.random.random() < 0.2:
            first, second = f"0.5 * ({first})", f"{a} - ({second})"
        x, y = self.new(first, dtype, shape), self.new(second, dtype, shape)
        if self.random.random() < 0.3:
            self.new(f"complex({x}, {y})", "c64" if dtype == "f32" else "c128", shape)

    @staticmethod
    def printed(i, name, dtype):
        """Every third one by a format string."""
        if i % 3 or dtype == "bool":
            return f'print("{name}", {name});'
        return f'print(f"{{{name} = }} {{{name}:+.5e}}");'

    def program(self):
        for _ in range(5):
            dtype = self.choose(["f64", "f64", "f32", "c128", "c64", "i64", "i32", "f16", "bf16"])
            shape = self.choose([(), (3,), (4,), (2, 3), (3, 3), (2, 2, 2), (0,), (1,), (37,), (5, 34)])
            self.new(self.constant(dtype, shape), dtype, shape)
        self.new(self.constant("f64", (3, 3)), "f64", (3, 3))
        self.new(self.constant("i64", (2, 3)), "i64", (2, 3))
        self.new(self.constant("c64", (4,)), "c64", (4,))
        for _ in range(self.random.randint(5, 14)):
            self.step()
        inside = "\n  ".join(self.lines)
        prints = "\n  ".join(self.printed(i, name, dtype) for i, (name, dtype, _) in enumerate(self.variables))
        return f"{FUNCTIONS * self.functions}def main() {{\n  {inside}\n  {prints}\n}}\n"


SETTINGS = [
    "--jit=never",
    "--jit=always -O2 --unpack",
    "--jit=always -O2",
    "--jit=always -O2 --no-recognize",
    "--jit=always -O0",
    "--jit=always -O2 --no-fuse",
    "--jit=always -O3 --threads=1",
    "--jit=always",
    "",
]


def differs(got, want):
    if (
        os.environ.get("TOY_TEST_DEVICE") == "fake"
    ):  # extraordinary arguments have other bits there; tests/device.py compares bits
        import device

        return got.status != want.status or not device.close(got.stdout, want.stdout, 1e-5)
    return got[:2] != want[:2]


def settings_of(seed, everywhere):
    """The evaluator and all others, or a third of them."""
    return SETTINGS if everywhere else [SETTINGS[0], *SETTINGS[1 + seed % 3 :: 3]]


def check(toy, seeds, everywhere):
    """A program of each seed without function values and one with them."""
    texts = [Generator(seed, functions).program() for functions in (False, True) for seed in seeds]
    settings = [settings_of(seed, everywhere) for seed in seeds] * 2
    products = near_misses = 0
    for text, ways, results in zip(
        texts, settings, run_parts(toy, list(zip(texts, settings)), flags=["--precision=full"])
    ):
        want = results[0]
        if want.status != 0:
            return f"the evaluator fails: {want.stderr}\n{text}"
        for flags, got in zip(ways, results):
            if differs(got, want):
                lines = [
                    f"  {a!r}\n  {b!r}" for a, b in zip(want.stdout.splitlines(), got.stdout.splitlines()) if a != b
                ][:3]
                return f"{flags} differs (evaluator, compiled):\n" + "\n".join(lines) + f"\n{got.stderr}\n{text}"
        products += len(results[-1].recognized)
        near_misses += results[-1].missed
    return (
        None
        if products and near_misses
        else f"{products} products recognised, {near_misses} near misses reported: the programs test nothing"
    )


def all_cases(daily=26, many=50):  # of fewer than 26 programs there are some without a near miss
    today = of_this_build(daily)
    yield f"random programs {today[0]} to {today[-1]}", lambda toy: check(toy, today, False), "long"
    for first in range(0, 2000, many):
        name = f"random programs {first} to {first + many - 1} in all settings"
        yield name, lambda toy, first=first: check(toy, range(first, first + many), True), "nightly"
