# SPDX-License-Identifier: Apache-2.0
"""Random programs of loops over elements: reads and stores by index in `for` and `while`, with `break`, `continue` and
early `return`, other names for the same tensor (assigned, swapped, passed to functions, kept in structs, returned by
recursion), indices from the end and outside, sizes from 0 on, ranks 1 to 3, all dtypes. Compiled code prints what the
reference evaluator prints, bit for bit, and fails with the same message at the same place."""
import random
import sys

from programs import of_this_build, run_parts

#: what is evaluated, and what must do the same
MODES = {
    "--jit=never": ["--jit=always", "--jit=always -O0", "--jit=always -O3", "--jit=always --unpack", "--jit=auto"],
    "--jit=never --dynamic=on": ["--jit=always --dynamic=on"],
}
#: what is asked of every program each day, and what of one program in four
DAILY = {"--jit=never": ["--jit=always"], "--jit=never --dynamic=on": ["--jit=always --dynamic=on"]}
IN_TURN = ["--jit=always -O0", "--jit=always -O3", "--jit=always --unpack", "--jit=auto"]
DTYPES = ["f64", "f64", "i64", "i64", "f32", "c128", "c64", "bool", "i32", "u8"]


class Generator:
    """One program. Statements are made with the names that are in scope; a loop has at most a few turns, nests are
    shallow."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines, self.depth, self.fresh_names = [], 0, 0
        self.arrays, self.integers, self.scalars = {}, [], {}  # name: (dtype, rank); names; name: dtype
        self.loops, self.functions = 0, []
        self.ways_out = []  # of each loop around
        self.tiny = {}  # name: (dtype, shape)

    def emit(self, line):
        self.lines.append("  " * self.depth + line)

    def fresh(self, stem):
        self.fresh_names += 1
        return f"{stem}{self.fresh_names}"

    # --- expressions

    def index(self, array, axis):
        """Mostly inside, sometimes from the end, rarely outside."""
        rng = self.rng
        name = rng.choice(self.integers) if self.integers else str(rng.randint(0, 5))
        inside = f"{name} % maximum({array}.shape[{axis}], 1)"
        return rng.choices(
            [
                inside,
                f"-({inside}) - 1",
                f"({name} * {rng.randint(2, 3)} + 1) % maximum({array}.shape[{axis}], 1)",
                name,
                f"{name} - 1",
                f"{name} + 1",
                str(rng.randint(-1, 1)),
            ],
            [60, 8, 10, 1, 0.2, 0.2, 0.3],
        )[0]

    def element(self, array):
        dtype, rank = self.arrays[array]
        return f"{array}[{', '.join(self.index(array, axis) for axis in range(rank))}]"

    def literal(self, dtype):
        rng = self.rng
        if dtype == "bool":
            return rng.choice(["true", "false"])
        if dtype in ("i64", "i32", "u8"):
            return str(rng.randint(0, 5))
        if dtype in ("c64", "c128"):
            return f"({rng.randint(-3, 3)}.5 + {rng.randint(-3, 3)}i)"
        return f"{rng.randint(-3, 3)}.25"

    def value(self, dtype, depth=0):
        rng = self.rng
        sources = [self.element(a) for a, (d, _) in self.arrays.items() if d == dtype]
        sources += [s for s, d in self.scalars.items() if d == dtype]
        sources += [self.of_tiny(t) for t, (d, _) in self.tiny.items() if d == dtype]
        if dtype == "i64":
            sources += self.integers
        if depth > 1 or rng.random() < 0.3:
            return rng.choice(sources + [self.literal(dtype)])
        a, b = self.value(dtype, depth + 1), self.value(dtype, depth + 1)
        if dtype == "bool":
            return rng.choice([f"({a} and {b})", f"({a} or {b})", f"not {a}", self.condition()])
        forms = [f"({a} {rng.choice('+-*')} {b})"] * 4
        if dtype in ("i64", "i32", "f64", "f32"):
            divisor = rng.choice([rng.randint(2, 7), rng.randint(2, 7), -3, f"maximum({b}, 1)", b])
            forms.append(f"({a} {rng.choice(['//', '%'])} {divisor})")
        if dtype in ("f64", "f32", "i64"):
            forms += [f"minimum({a}, {b})", f"maximum({a}, {b})", f"abs({a})"]
        if dtype in ("c64", "c128"):
            forms += [f"conj({a})", f"({a} * {b} + {a})"]
        return rng.choice(forms)

    # --- tensors of a few elements

    def of_tiny(self, name):
        """A scalar from one: an element, a sum, a product with itself."""
        rng = self.rng
        dtype, shape = self.tiny[name]
        forms = [f"{name}[{', '.join(str(rng.randrange(-n, n)) for n in shape)}]"]
        if self.integers:
            forms.append(f"{name}[{', '.join(f'{rng.choice(self.integers)} % {n}' for n in shape)}]")
        if dtype in ("f64", "f32", "c64", "c128", "i64"):
            forms.append(f"sum({name})")
        if dtype in ("f64", "f32", "i64"):
            forms += [f"max({name})", f"min({name})", f"prod({name} % 3)"]
        if dtype == "bool":
            forms += [f"any({name})", f"all({name})"]
        elif len(shape) == 1 and dtype not in ("u8", "i32"):
            forms.append(f"({name} @ {name})")
        return rng.choice(forms)

    def brackets(self, dtype, shape):
        """A tensor of that shape from scalars."""
        if not shape:
            return self.cast(dtype)
        return "[" + ", ".join(self.brackets(dtype, shape[1:]) for _ in range(shape[0])) + "]"

    def tiny_value(self, dtype, shape, depth=0):
        rng = self.rng
        same = [t for t, kind in self.tiny.items() if kind == (dtype, shape)]
        forms = [lambda: self.brackets(dtype, shape)]
        forms += [lambda: rng.choice(same)] * 4 if same else []
        if depth < 2 and dtype != "bool":
            inner = lambda: self.tiny_value(dtype, shape, depth + 1)
            forms += [lambda: f"({inner()} {rng.choice('+-*')} {inner()})"] * 3
            forms.append(lambda: f"where({inner()} == {inner()}, {inner()}, {self.cast(dtype)})")
        if depth < 2:
            if len(shape) == 2:
                square = shape[0] == shape[1] and dtype in ("f64", "f32", "c64", "c128", "i64")
                forms.append(lambda: f"transpose({self.tiny_value(dtype, shape[::-1], depth + 1)})")
                forms += [lambda: f"({inner()} @ {inner()})"] if square else []
            else:
                forms.append(lambda: f"{self.tiny_value(dtype, shape, depth + 1)}[::-1]")
                if shape[0] > 1:
                    forms.append(
                        lambda: f"cat([{self.tiny_value(dtype, (shape[0] - 1,), depth + 1)}, [{self.cast(dtype)}]])"
                    )
                matrices = [t for t, kind in self.tiny.items() if kind[0] == dtype and len(kind[1]) == 2]
                fit = [t for t in matrices if self.tiny[t][1][1] == shape[0]]
                if fit:
                    forms.append(lambda: f"{rng.choice(fit)}[{self.some_index(self.tiny[fit[0]][1][0])}]")
        return rng.choice(forms)()

    def some_index(self, size):
        rng = self.rng
        return (
            f"{rng.choice(self.integers)} % 2"
            if self.integers and size > 1
            else str(rng.randrange(size) if size == 1 else 0)
        )

    def tiny_statement(self):
        rng = self.rng
        if not self.tiny or (self.loops == 0 and rng.random() < 0.4):
            name, dtype = self.fresh("d"), rng.choice(DTYPES)
            shape = rng.choice([(1,), (2,), (3,), (3,), (4,), (5,), (2, 2), (2, 3), (3, 3), (4, 4), (1, 3)])
            self.emit(f"var {name} = {self.brackets(dtype, shape)};")
            self.tiny[name] = (dtype, shape)
            return
        name = rng.choice(list(self.tiny))
        dtype, shape = self.tiny[name]
        kind = rng.random()
        if kind < 0.55:
            self.emit(f"{name} = {self.tiny_value(dtype, shape)};")
        elif kind < 0.75:
            at = ", ".join(rng.choice([str(rng.randrange(-n, n)), self.some_index(n)]) for n in shape)
            self.emit(f"{name}[{at}] = {self.cast(dtype)};")
        elif kind < 0.85:
            self.emit(f"{name}[{rng.choice(['0', '-1', '0:1', '::2', ':'])}] = {self.cast(dtype)};")
        elif kind < 0.92:
            self.emit(f"print({name});")
        else:
            rows = [a for a, (d, r) in self.arrays.items() if d == dtype and r == 2]
            if rows and len(shape) == 1:
                a = rng.choice(rows)
                self.emit(f"if {a}.shape[0] > 0 and {a}.shape[1] == {shape[0]} {{ {a}[{self.index(a, 0)}] = {name}; }}")
            else:
                self.emit(f"{name} = {name} + {name};" if dtype != "bool" else f"{name} = not {name};")

    def condition(self):
        rng = self.rng
        dtype = rng.choice(["i64", "f64"])
        test = f"{self.value(dtype, 1)} {rng.choice(['<', '<=', '>', '>=', '==', '!='])} {self.value(dtype, 1)}"
        if rng.random() < 0.2:
            test += f" {rng.choice(['and', 'or'])} {self.value('i64', 1)} < {self.value('i64', 2)}"
        return test

    # --- statements

    def store(self):
        array = self.rng.choice(list(self.arrays))
        dtype = self.arrays[array][0]
        operator = self.rng.choice(["=", "=", "=", "+=", "*="]) if dtype != "bool" else "="
        self.emit(f"{self.element(array)} {operator} {self.value(dtype)};")

    def scalar(self):
        dtype = self.rng.choice(["i64", "f64", self.rng.choice(DTYPES)])
        if self.scalars and self.rng.random() < 0.5:
            name = self.rng.choice(list(self.scalars))
            self.emit(f"{name} = {self.cast(self.scalars[name])};")
            return
        name = self.fresh("s")
        self.emit(f"var {name} = {self.cast(dtype)};")
        self.scalars[name] = dtype

    def cast(self, dtype):
        return f"{dtype}({self.value(dtype)})"

    def name(self):
        """Another name for a tensor, or two that change places."""
        rng = self.rng
        a = rng.choice(list(self.arrays))
        same = [b for b, kind in self.arrays.items() if kind == self.arrays[a] and b != a]
        kind = rng.randint(0, 3)
        if kind == 0 or not same:
            b = self.fresh("v")
            self.emit(f"var {b} = {a};")
            self.arrays[b] = self.arrays[a]
        elif kind == 1:
            self.emit(f"{a} = {rng.choice(same)};")
        else:
            b, t = rng.choice(same), self.fresh("t")
            self.emit(f"var {t} = {a}; {a} = {b}; {b} = {t};")

    def whole(self):
        """Operations on whole tensors between those on elements."""
        a = self.rng.choice(list(self.arrays))
        dtype, rank = self.arrays[a]
        forms = [f"{a} = {a} + {a};" if dtype != "bool" else f"{a} = not {a};", f"print({a});"]
        if rank > 1:
            forms += [f"{a}[{self.index(a, 0)}] = {a}[{self.index(a, 0)}];"]
        else:
            forms += [f"{a} = {a}[::-1];", f"{a}[:] = {self.literal(dtype)};"]
        self.emit(self.rng.choice(forms))

    def call(self):
        callee = [f for f in self.functions if any(kind == f[1] for kind in self.arrays.values())]
        if not callee:
            return self.store()
        name, kind = self.rng.choice(callee)
        a = self.rng.choice([a for a, k in self.arrays.items() if k == kind])
        target = self.rng.choice([a] + [b for b, k in self.arrays.items() if k == kind])
        self.emit(f"{target} = {name}({a}, {self.rng.choice(self.integers or ['1'])});")

    def loop(self):
        rng = self.rng
        array = rng.choice(list(self.arrays))
        dtype, rank = self.arrays[array]
        i = self.fresh("i")
        size = f"{array}.shape[{rng.randrange(rank)}]"
        kind = rng.randint(0, 5)
        before = dict(self.arrays), list(self.integers), dict(self.scalars), dict(self.tiny)
        long = not self.loops and rng.random() < 0.02
        if long:
            size = str(rng.randint(16380, 33000))  # more than one strip
        if kind == 0:
            self.emit(f"for {i} in range({size}) {{")
        elif kind == 1:
            self.emit(f"for {i} in range({size} - 1, -1, -1) {{")
        elif kind == 2:
            self.emit(f"for {i} in range({rng.randint(0, 2)}, {rng.randint(0, 6)}, {rng.randint(1, 2)}) {{")
        else:
            self.emit(f"var {i} = {rng.randint(0, 1)};")
            self.emit(f"while {i} < {size} {{" if kind < 5 else "while true {")
        self.depth += 1
        self.loops += 1
        self.ways_out.append(["break;"] if kind == 5 else ["break;", "continue;"])
        self.integers.append(i)
        if kind in (3, 4):
            self.emit(f"{i} += {rng.randint(1, 2)};")
        self.block(rng.randint(1, 3), quick=long)
        if kind == 5:  # the test is behind the body
            self.emit(f"if {i} < {size} {{ {i} += 1; continue; }}")
            self.emit("break;")
        self.loops -= 1
        self.depth -= 1
        self.ways_out.pop()
        self.arrays, self.integers, self.scalars, self.tiny = before
        self.emit("}")

    def branch(self, quick=False):
        before = dict(self.arrays), list(self.integers), dict(self.scalars), dict(self.tiny)
        self.emit(f"if {self.condition()} {{")
        self.depth += 1
        self.block(self.rng.randint(1, 2), quick)
        if self.loops and self.rng.random() < 0.3:
            self.emit(self.rng.choice(self.ways_out[-1]))
        self.depth -= 1
        self.arrays, self.integers, self.scalars, self.tiny = before
        self.emit("}")

    def block(self, count, quick=False):
        """Some statements; quick ones where they run some ten thousand times."""
        for _ in range(count):
            if quick:
                self.rng.choice([self.store, self.store, self.scalar, lambda: self.branch(quick)])()
                continue
            nests = self.depth < 4
            self.rng.choices(
                [
                    self.store,
                    self.scalar,
                    self.name,
                    self.whole,
                    self.call,
                    self.tiny_statement,
                    self.loop if nests else self.store,
                    self.branch if nests else self.store,
                ],
                [8, 3, 2, 1, 2, 5, 4 if self.loops < 3 else 0, 3],
            )[0]()

    def function(self):
        rng = self.rng
        name, dtype, rank = self.fresh("f"), rng.choice(DTYPES), rng.choice([1, 1, 1, 2, 2, 3])
        second = rng.choice([dtype, rng.choice(DTYPES)])
        self.arrays = {"x": (dtype, rank), "y": (second, 1)}
        self.integers, self.scalars, self.tiny = ["n"], {}, {}
        recursive = rng.random() < 0.25
        self.emit(f"def {name}(a, n) {{")
        self.depth += 1
        self.emit("var x = a;")
        self.emit(f"var y = {second}(arange(4));" if second != "bool" else "var y = arange(4) > 1;")
        if recursive:
            self.emit("if n <= 0 {")
            self.emit("  return x;")
            self.emit("}")
        self.block(rng.randint(2, 4))
        if rng.random() < 0.3:
            self.emit(f"if {self.condition()} {{")
            self.emit("  return x;")
            self.emit("}")
            self.block(1)
        if recursive:
            self.emit(f"x = {name}(x, n - 1);")
            self.store()
        if rng.random() < 0.3:
            self.emit("print(y);")
        self.emit("return x;")
        self.depth -= 1
        self.emit("}")
        self.functions.append((name, (dtype, rank)))

    def program(self):
        rng = self.rng
        for _ in range(rng.randint(1, 3)):
            self.function()
        for name, (dtype, rank) in self.functions:
            for _ in range(2):
                shape = [0 if rng.random() < 0.03 else rng.choice([1, 2, 2, 3, 3, 3, 4]) for _ in range(rank)]
                count = 1
                for n in shape:
                    count *= n
                made = f"arange({count}).reshape({', '.join(map(str, shape))})"
                made = f"{made} % 2 == 0" if dtype == "bool" else f"{dtype}({made})"
                variable = self.fresh("g")
                self.emit(f"var {variable} = {made};")
                self.emit(f"print({name}({variable}, {rng.randint(0, 3)}));")
                self.emit(f"print({variable});")
        if rng.random() < 0.5:  # a loop at the top level, over variables
            self.arrays = {"w": ("f64", 1), "v": ("i64", 2)}
            self.integers, self.scalars, self.tiny = [], {}, {}
            self.emit("var w = f64(arange(5)) * 0.5;")
            self.emit("var v = arange(6).reshape(2, 3);")
            self.loop()
            self.emit("print(w, v);")
        return "\n".join(self.lines)


def modes_of_today(seed):
    return DAILY | {"--jit=never": DAILY["--jit=never"] + [IN_TURN[seed % 4]]}


def check(toy, seeds, modes=lambda seed: MODES, generator=Generator):
    made = [(seed, generator(seed).program(), modes(seed)) for seed in seeds]
    orders = [[m for reference, others in modes.items() for m in [reference, *others]] for _, _, modes in made]
    problems, parts = [], [(text, order) for (_, text, _), order in zip(made, orders)]
    for (seed, text, modes), order, results in zip(made, orders, run_parts(toy, parts, flags=["--timeout=60"])):
        done = {mode: (d.status, d.stdout, d.stderr) for mode, d in zip(order, results)}
        wrong = [
            (mode, reference) for reference, others in modes.items() for mode in others if done[mode] != done[reference]
        ]
        if wrong:
            shown = "\n".join(f"--- {mode}: {done[mode][0]}\n{done[mode][1]}{done[mode][2]}" for mode in wrong[0])
            problems.append(f"{seed}\n{shown}\n{text}")
    return f"{len(problems)} of {len(made)} programs\n" + "\n\n".join(problems[:4]) if problems else None


def cases_of(name, generator, nightly=4000, shard=50, daily=20):
    """Programs of a generator: by day in some modes, in turn, at night in all."""
    today = of_this_build(daily)
    yield f"{name}: {today[0]} to {today[-1]}", lambda toy: check(toy, today, modes_of_today, generator)
    for first in range(0, nightly, shard):
        run = lambda toy, s=range(first, first + shard): check(toy, s, generator=generator)
        yield f"{name}: {first} to {first + shard - 1} in every mode", run, "nightly"


def show(generator):
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        print("# -----", number, generator(number).program(), sep="\n")


def all_cases():
    return cases_of("loops", Generator)


if __name__ == "__main__":
    show(Generator)
