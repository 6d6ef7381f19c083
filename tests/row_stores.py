# SPDX-License-Identifier: Apache-2.0
"""Random programs of stores of rows and slices in loops: of rows computed from rows of the same tensor or of another
one, with two names for one tensor, rows that change places through a third name or through none, slices that overlap
what is stored, steps of any sign, columns, members of structs that are tensors, sizes from 0 on, rows of 1 that are
broadcast, indices from the end and outside. Compiled code prints what the reference evaluator prints, bit for bit, and
fails with the same message at the same place."""
import random

from loops import cases_of, show

DTYPES = ["f64", "f64", "f64", "i64", "f32", "c128", "bool", "u8"]


class Generator:
    """One program: functions over matrices `a`, `b` (of one shape) and vectors `v` (as long as a row), each of which
    may be a member of a struct."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines, self.depth, self.fresh_names = [], 0, 0
        self.matrices, self.vectors, self.integers = [], [], []
        self.loops = 0
        self.dtype = "f64"

    def emit(self, line):
        self.lines.append("  " * self.depth + line)

    def fresh(self, stem):
        self.fresh_names += 1
        return f"{stem}{self.fresh_names}"

    # --- expressions

    def index(self, size):
        """Mostly inside, sometimes from the end, rarely outside."""
        rng = self.rng
        name = rng.choice(self.integers)
        inside = f"{name} % maximum({size}, 1)"
        forms = [
            inside,
            f"({name} * {rng.randint(2, 3)} + 1) % maximum({size}, 1)",
            f"-({inside}) - 1",
            f"minimum(maximum({name} - {rng.randint(0, 2)}, 0), {size} - 1)",
            f"clip({name}, 0, {size} - 1)",
            name,
            f"{name} + 1",
            str(rng.randint(-1, 1)),
        ]
        return rng.choices(forms, [40, 10, 8, 8, 4, 2, 0.3, 2])[0]

    def slice(self):
        """A slice and the number of elements that it may have: the same text has the same."""
        k = self.rng.choice(self.integers)
        return self.rng.choices(
            [":", "1:", ":-1", "::2", "::-1", f"{k}:", f":{k}", f"{k}::-1", "1:-1", f"{k}:{k} + 2"],
            [50, 8, 8, 6, 6, 6, 4, 3, 3, 3],
        )[0]

    def row(self, part=":"):
        """A row of a matrix, a column where that is square, or a vector."""
        rng = self.rng
        form = rng.random()
        if self.vectors and form < 0.2:
            name = rng.choice(self.vectors)
            return name if part == ":" and rng.random() < 0.5 else f"{name}[{part}]"
        m = rng.choice(self.matrices)
        if form < 0.3:
            return f"{m}[{part}, {self.index(f'{m}.shape[1]')}]"
        at = self.index(f"{m}.shape[0]")
        return f"{m}[{at}]" if part == ":" and rng.random() < 0.7 else f"{m}[{at}, {part}]"

    def number(self):
        rng = self.rng
        dtype = self.dtype
        if rng.random() < 0.3:
            m = rng.choice(self.matrices)
            return f"{m}[{self.index(f'{m}.shape[0]')}, {self.index(f'{m}.shape[1]')}]"
        if dtype == "bool":
            return rng.choice(["true", "false"])
        if dtype in ("i64", "u8"):
            return f"{dtype}({rng.randint(0, 5)})"
        return f"{dtype}({rng.randint(-3, 3)}.25)"

    def value(self, part, depth=0):
        """As long as a row's part, or a number."""
        rng = self.rng
        if depth > 1 or rng.random() < 0.25:
            other = part if rng.random() < 0.8 else self.slice()
            return rng.choice([self.row(other)] * 4 + [self.number()])
        a, b = self.value(part, depth + 1), self.value(part, depth + 1)
        if self.dtype == "bool":
            return rng.choice([f"({a} == {b})", f"where({a}, {b}, {a})", f"not {a}"])
        forms = [f"({a} {rng.choice('+-*')} {b})"] * 5 + [f"where({a} == {b}, {a}, {b})"]
        if self.dtype in ("f64", "f32", "i64"):
            forms += [f"maximum({a}, {b})", f"abs({a})", f"-{a}"]
        if self.dtype in ("f64", "f32"):
            forms += [f"sin({a})", f"({a} / {b})"]
        if self.dtype == "i64":
            forms += [f"({a} // {rng.choice(['3', '-2', b])})", f"({a} % {rng.choice(['3', b])})"]
        if self.dtype == "c128":
            forms += [f"conj({a})", f"({a} * 2i)", f"complex(real({a}), imag({b}))"]
        return rng.choice(forms)

    # --- statements

    def store(self):
        part = self.slice()
        operator = self.rng.choice(["=", "=", "=", "+=", "-=", "*="]) if self.dtype != "bool" else "="
        self.emit(f"{self.row(part)} {operator} {self.value(part)};")

    def several(self):
        """Stores behind each other, into rows that may be one."""
        rng = self.rng
        m, part = rng.choice(self.matrices), rng.choice([":", ":", self.slice()])
        at = [self.index(f"{m}.shape[0]") for _ in range(3)]
        rows = [f"{m}[{i}, {part}]" if part != ":" else f"{m}[{i}]" for i in at]
        t = self.fresh("t")
        form = rng.randint(0, 4)
        if form < 2:
            self.emit(f"var {t} = {rows[0]};")
            self.emit(f"{rows[0]} = {rows[1]};")
            if form:
                self.emit(rng.choice([f"print({rows[0]});", f"{rows[2]} = {rows[1]};", f"var {t}s = sum({rows[1]});"]))
            self.emit(f"{rows[1]} = {t};")
        elif form == 2:
            self.emit(f"({rows[0]}, {rows[1]}) = ({rows[1]}, {rows[0]});")
        elif form == 3:
            self.emit(f"{rows[0]} = {rows[1]};")
            self.emit(f"{rows[1]} = {rows[2]};")
            self.emit(f"{rows[2]} = {self.value(part)};")
        else:
            self.emit(f"var {t} = {rows[0]};")
            self.store()
            self.emit(f"{rows[1]} = {t};")
            self.emit(f"print({t});")

    def element(self):
        m = self.rng.choice(self.matrices)
        self.emit(f"{m}[{self.index(f'{m}.shape[0]')}, {self.index(f'{m}.shape[1]')}] = {self.number()};")

    def name(self):
        """Another name for a tensor, or two that change places."""
        rng = self.rng
        a, b = rng.choice(self.matrices), rng.choice(self.matrices)
        form = rng.randint(0, 3)
        if form == 0:
            c = self.fresh("c")
            self.emit(f"var {c} = {a};")
            self.matrices.append(c)
        elif form == 1:
            self.emit(f"{a} = {b};")
        elif form == 2:
            self.emit(f"({a}, {b}) = ({b}, {a});")
        elif self.vectors:
            v = self.fresh("w")
            self.emit(f"var {v} = {self.row()};")
            self.vectors.append(v)

    def whole(self):
        m = self.rng.choice(self.matrices)
        forms = [f"print({m});", f"{m}[:, 0:1] = {m}[:, 0:1];", f"{m}[:] = {self.row()};", f"{m}[1:] = {m}[:-1];"]
        forms += [f"{m} = {m} + {m};"] if self.dtype != "bool" else [f"{m} = not {m};"]
        self.emit(self.rng.choice(forms))

    def best(self):
        """An index that a loop hands on."""
        rng = self.rng
        m, best, j = rng.choice(self.matrices), self.fresh("best"), self.fresh("j")
        start = rng.choice(["0", "0", rng.choice(self.integers), "-1"])
        self.emit(f"var {best} = {start};")
        self.emit(f"for {j} in range({rng.choice(['', '1, '])}{m}.shape[0]) {{")
        at = rng.choice([j, j, j, f"{j} + 1", f"{j} - 1"])
        test = f"{m}[{j}, 0] != {m}[{best}, 0]" if rng.random() < 0.8 else f"{j} % 2 == 0"
        self.emit(f"  if {test} {{ {best} = {at}; }}")
        self.emit("}")
        self.integers.append(best)

    def loop(self):
        rng = self.rng
        before = list(self.matrices), list(self.vectors), list(self.integers)
        i, size = self.fresh("i"), f"{rng.choice(self.matrices)}.shape[{rng.randint(0, 1)}]"
        ranges = [f"range({size})", f"range(1, {size})", f"range({size} - 1, -1, -1)", f"range({rng.randint(0, 4)})"]
        self.emit(f"for {i} in {rng.choice(ranges)} {{")
        self.depth += 1
        self.loops += 1
        self.integers.append(i)
        self.block(rng.randint(1, 3))
        self.loops -= 1
        self.depth -= 1
        self.emit("}")
        self.matrices, self.vectors, self.integers = before

    def branch(self):
        before = list(self.matrices), list(self.vectors), list(self.integers)
        self.emit(f"if {self.rng.choice(self.integers)} % 2 == {self.rng.randint(0, 1)} {{")
        self.depth += 1
        self.block(self.rng.randint(1, 2))
        if self.loops and self.rng.random() < 0.2:
            self.emit(self.rng.choice(["break;", "continue;"]))
        self.depth -= 1
        self.emit("}")
        self.matrices, self.vectors, self.integers = before

    def block(self, count):
        for _ in range(count):
            nests = self.depth < 4
            self.rng.choices(
                [
                    self.store,
                    self.several,
                    self.element,
                    self.name,
                    self.whole,
                    self.best,
                    self.loop if nests and self.loops < 3 else self.store,
                    self.branch if nests else self.store,
                ],
                [8, 5, 2, 2, 1, 1, 4, 2],
            )[0]()

    def function(self, name):
        """Gives back what it changed: matrices by themselves, or in a struct."""
        rng = self.rng
        inStruct = rng.random() < 0.4
        self.integers = ["n"]
        self.emit(f"def {name}(p, q, n) {{")
        self.depth += 1
        if inStruct:
            self.emit("var s = Pair(p, q, p[0:1].reshape(p.shape[1]));")
            self.matrices, self.vectors = ["s.a", "s.b"], ["s.v"]
        else:
            self.emit("var a = p;")
            self.emit("var b = q;")
            self.emit("var v = q[0:1].reshape(q.shape[1]);")
            self.matrices, self.vectors = ["a", "b"], ["v"]
        self.loop()
        self.block(rng.randint(0, 2))
        self.loop()
        self.emit("return (s.a, s.b, s.v);" if inStruct else "return (a, b, v);")
        self.depth -= 1
        self.emit("}")

    def program(self):
        rng = self.rng
        self.emit("struct Pair { var a; var b; var v; }")
        for number in range(rng.randint(1, 2)):
            self.dtype = rng.choice(DTYPES)
            self.function(f"f{number}")
            for _ in range(2):
                rows, columns = rng.choice([1, 2, 3, 3, 4]), rng.choice([1, 2, 3, 3, 4, 5])
                if rng.random() < 0.1:
                    columns = rng.choice([0, 17, 70])
                if rng.random() < 0.5:
                    columns = rows
                made = f"(arange({rows * columns}) * 7 % 11).reshape({rows}, {columns})"
                made = f"{made} % 2 == 0" if self.dtype == "bool" else f"{self.dtype}({made})"
                x, y = self.fresh("x"), self.fresh("y")
                self.emit(f"var {x} = {made};")
                self.emit(f"var {y} = {x if rng.random() < 0.3 else f'{x}[::-1]'};")
                self.emit(f"print(f{number}({x}, {y}, {rng.randint(0, 3)}));")
                self.emit(f"print({x}, {y});")
        if rng.random() < 0.3:  # at the top level, over variables
            self.dtype, self.matrices, self.vectors, self.integers = "f64", ["g", "h"], ["w"], ["m"]
            self.emit("var g = f64(arange(9).reshape(3, 3));")
            self.emit("var h = g;")
            self.emit("var w = ones(3);")
            self.emit("var m = 1;")
            self.loop()
            self.emit("print(g, h, w);")
        return "\n".join(self.lines)


def all_cases():
    return cases_of("rows", Generator)


if __name__ == "__main__":
    show(Generator)
