# SPDX-License-Identifier: Apache-2.0
"""Random programs of loops over elements: reads and stores by index in `for` and `while`, with `break`, `continue` and early `return`, other names for
the same tensor (assigned, swapped, passed to functions, kept in structs, returned by recursion), indices from the end and outside, sizes from 0 on, ranks
1 to 3, all dtypes. Compiled code prints what the reference evaluator prints, bit for bit, and fails with the same message at the same place."""
import random
import sys

from programs import run_parts

#: what is evaluated, and what must do the same
MODES = {
    "--jit=never": ["--jit=always", "--jit=always -O0", "--jit=always -O3", "--jit=always --unpack", "--jit=auto"],
    "--jit=never --dynamic=on": ["--jit=always --dynamic=on"],
}
DTYPES = ["f64", "f64", "i64", "i64", "f32", "c128", "c64", "bool", "i32", "u8"]


class Generator:
    """One program. Statements are made with the names that are in scope; a loop has at most a few turns, nests are shallow."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines, self.depth, self.fresh_names = [], 0, 0
        self.arrays, self.integers, self.scalars = {}, [], {}  # name: (dtype, rank); names; name: dtype
        self.loops, self.functions = 0, []
        self.ways_out = []  # of each loop around

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
        before = dict(self.arrays), list(self.integers), dict(self.scalars)
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
        self.arrays, self.integers, self.scalars = before
        self.emit("}")

    def branch(self, quick=False):
        before = dict(self.arrays), list(self.integers), dict(self.scalars)
        self.emit(f"if {self.condition()} {{")
        self.depth += 1
        self.block(self.rng.randint(1, 2), quick)
        if self.loops and self.rng.random() < 0.3:
            self.emit(self.rng.choice(self.ways_out[-1]))
        self.depth -= 1
        self.arrays, self.integers, self.scalars = before
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
                    self.loop if nests else self.store,
                    self.branch if nests else self.store,
                ],
                [8, 3, 2, 1, 2, 4 if self.loops < 3 else 0, 3],
            )[0]()

    def function(self):
        rng = self.rng
        name, dtype, rank = self.fresh("f"), rng.choice(DTYPES), rng.choice([1, 1, 1, 2, 2, 3])
        second = rng.choice([dtype, rng.choice(DTYPES)])
        self.arrays = {"x": (dtype, rank), "y": (second, 1)}
        self.integers, self.scalars = ["n"], {}
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
                shape = [rng.choice([0, 1, 2, 2, 3, 3, 3, 4]) for _ in range(rank)]
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
            self.integers, self.scalars = [], {}
            self.emit("var w = f64(arange(5)) * 0.5;")
            self.emit("var v = arange(6).reshape(2, 3);")
            self.loop()
            self.emit("print(w, v);")
        return "\n".join(self.lines)


def check(toy, seeds, modes=MODES):
    texts = [Generator(seed).program() for seed in seeds]
    order = [mode for reference, others in modes.items() for mode in [reference, *others]]
    problems = []
    for seed, text, results in zip(seeds, texts, run_parts(toy, [(t, order) for t in texts], flags=["--timeout=60"])):
        done = {mode: (d.status, d.stdout, d.stderr) for mode, d in zip(order, results)}
        wrong = [
            (mode, reference) for reference, others in modes.items() for mode in others if done[mode] != done[reference]
        ]
        if wrong:
            shown = "\n".join(f"--- {mode}: {done[mode][0]}\n{done[mode][1]}{done[mode][2]}" for mode in wrong[0])
            problems.append(f"{seed}\n{shown}\n{text}")
    return f"{len(problems)} of {len(texts)} programs\n" + "\n\n".join(problems[:4]) if problems else None


def all_cases(shard=50, daily=100, nightly=20000):
    for first in range(0, nightly, shard):
        yield f"loops: {first} to {first + shard - 1}", lambda toy, first=first: check(
            toy, range(first, first + shard)
        ), *(["nightly"] if first >= daily else [])


if __name__ == "__main__":
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        print("# -----", number, Generator(number).program(), sep="\n")
