# SPDX-License-Identifier: Apache-2.0
"""Random programs of rows of unknown length in loops: rows of matrices and vectors, rows that turns hand on, that
several others are computed from, that are folded to a number, of which elements are read, that are multiplied by
small matrices, added up along themselves, that are needed as tensors (by a print, a list or a store) on some ways
only, with loops in loops, `break`, branches and stores into what rows were read from. Sizes are around those that rows
in registers have. Compiled code prints what the reference evaluator prints, bit for bit."""
import os
import pathlib
import random
import subprocess

from loops import cases_of, show

DTYPES = ["f64", "f64", "f64", "f32", "i64", "c128", "c64", "u8", "bool"]
SIZES = [0, 1, 2, 3, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40]
SIZES_OF_PRODUCTS = [0, 1, 2, 3, 4]  # whose sums have one order everywhere


class Generator:
    """One program: functions over a matrix `a`, vectors `v` and `w` as long as its rows, as many such rows in `b`, and
    a number `k`."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines, self.depth = [], 0
        self.rows, self.integers, self.fresh = [], [], 0
        self.dtype, self.has_products = "f64", False

    def emit(self, line):
        self.lines.append("  " * self.depth + line)

    def kind(self):
        return "complex" if self.dtype in ("c64", "c128") else "bool" if self.dtype == "bool" else "real"

    def index(self):
        return f"{self.rng.choice(self.integers)} % maximum(len(a), 1)"

    def row(self):
        rng = self.rng
        forms = [rng.choice(self.rows), f"a[{self.index()}]", "v", "w", f"a[{self.index()}, ::-1]"]
        forms.append(f"{rng.choice(self.rows)}[::-1]")
        return rng.choices(forms, [50, 25, 8, 8, 4, 5])[0]

    def scalar(self):
        forms = {"complex": ["1.5i", "c"], "bool": ["true", "c"]}.get(self.kind(), ["3", "c"])
        return self.rng.choice(forms)

    def products(self, x):
        if not self.has_products:
            return []
        return [f"(0.1 * ({x} @ b))", f"(0.1 * (b @ {x}))", f"(0.01 * ({x} @ (b @ transpose(b))))", f"(b' @ {x})"]

    def value(self, depth=0):
        rng = self.rng
        if depth > 2 or rng.random() < 0.25:
            return self.row()
        x, y = self.value(depth + 1), self.value(depth + 1)
        if self.kind() == "bool":
            return rng.choice([f"({x} and {y})", f"({x} or {y})", f"(not {x})", f"({x} == {y})"])
        if rng.random() < 0.06:
            return f"cumsum({x})"
        if self.kind() == "complex":
            forms = [f"({x} + {y})", f"({x} - {y})", f"(0.1 * {x} * {y})", f"conj({x})", f"({self.scalar()} * {x})"]
            return rng.choice(forms)
        forms = [f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"minimum({x}, {y})", f"maximum({x}, {self.scalar()})"]
        forms += [f"abs({x})", f"where({x} < {y}, {x}, {y})", f"({self.scalar()} * {x})", "zeros_like(v)"]
        if self.dtype in ("f64", "f32"):
            forms += self.products(x)
            forms += [f"({x} / {y})", f"sqrt(abs({x}))", f"({x} * 0.25)", f"exp(-abs({x}))"]
        if self.dtype == "i64":
            forms += [f"({x} // 3)", f"({x} % 7)", f"({x} // {y})"]
        return rng.choice(forms)

    def number(self, name=None):
        """A fold of a row, as a float."""
        rng, x = self.rng, name or self.value(1)
        if self.kind() == "bool":
            return rng.choice([f"f64(sum({x}))", f"f64(any({x}))", f"f64(all({x}))"])
        if self.kind() == "complex":
            return rng.choice([f"real(sum({x}))", f"imag(prod({x}))", f"norm({x})"])
        forms = [f"sum({x})"] * 3 + [f"prod({x})", f"sum({x} > {self.row()})", f"dot({self.row()}, {x})"]
        if rng.random() < 0.2:
            forms += [f"max({x})", f"min({x})", f"argmax({x})", f"argmin({x})"]  # of no elements: an error
        return f"f64({rng.choice(forms)})"

    def statement(self, room):
        rng = self.rng
        kind = rng.choices(
            ["pair", "new", "again", "fold", "if", "loop", "store", "element", "break", "tensor", "size"],
            [25, 10, 25, 18, 8 if room else 0, 8 if room > 1 else 0, 6, 8, 2, 3, 3],
        )[0]
        if kind == "pair":  # of which a fold and a row that is handed on are computed
            self.fresh += 1
            name, value = f"r{self.fresh}", self.value()
            self.emit(f"var {name} = {value};")
            self.rows += [name] * 2
            self.emit(f"s = s * 0.5 + {self.number(name)};")
            carried = rng.choice(["y", "z"])
            joined = {"bool": "(Y or R)", "complex": "(0.5 * Y + R)"}.get(self.kind(), "maximum(Y, R)")
            self.emit(f"{carried} = {joined.replace('Y', carried).replace('R', name)};")
        elif kind == "new":
            self.fresh += 1
            name, value = f"r{self.fresh}", self.value()
            self.emit(f"var {name} = {value};")
            self.rows.append(name)
        elif kind == "again":
            name = rng.choice(self.rows)
            self.emit(f"{name} = {self.dtype}({self.value()});" if self.dtype == "u8" else f"{name} = {self.value()};")
        elif kind == "fold":
            self.emit(f"s = s * 0.5 + {self.number()};")
        elif kind == "element":
            x = f"{rng.choice(self.rows)}[{rng.choice(['0', '-1', f'{rng.choice(self.integers)} % len(v)'])}]"
            self.emit(f"if len(v) > 0 {{ s += f64(real({x})); }}")
        elif kind == "store":
            at = rng.choice([f"a[{self.index()}] = {self.row()};", f"a[{self.index()}, 0] = c;"])
            at = rng.choice([at, at, f"{rng.choice(self.rows)}[{rng.choice(self.integers)} % len(v)] = c;"])
            self.emit(f"if len(a) > 0 and len(v) > 0 {{ {at} }}")
        elif kind == "break":
            way = rng.choice(["break;", f"return {rng.choice(['y', 'z'])};"])
            self.emit(f"if s > {rng.randint(1, 9)}00.0 {{ {way} }}")
        elif kind == "tensor":
            name = rng.choice(self.rows)
            self.emit(rng.choice([f"if k == 3 {{ print({name}); }}", f"if k == 2 {{ kept = {name}; }}"]))
        elif kind == "size":
            self.emit(f"s += f64(len({rng.choice(self.rows)}));")
        elif kind == "if":
            self.emit(f"if {rng.choice(['s > 2.0', f'{rng.choice(self.integers)} % 2 == 0', 'k > 1'])} {{")
            self.block(room - 1, rng.randint(1, 3))
            if rng.random() < 0.5:
                self.emit("} else {")
                self.block(room - 1, rng.randint(1, 2))
            self.emit("}")
        else:
            self.loop(room - 1)

    def block(self, room, number):
        self.depth += 1
        known = len(self.rows)
        for _ in range(number):
            self.statement(room)
        del self.rows[known:]
        self.depth -= 1

    def loop(self, room):
        self.fresh += 1
        name = f"i{self.fresh}"
        self.emit(f"for {name} in range({self.rng.choice(['m', 'k', '3', 'len(a)'])}) {{")
        self.integers.append(name)
        self.block(room, self.rng.randint(2, 5))
        self.integers.pop()
        self.emit("}")

    def function(self, name):
        declared = self.rng.random() < 0.7
        types = [f": {self.dtype}{sizes}" if declared else "" for sizes in ("[M, D]", "[D]", "[D]", "[D, D]")]
        self.emit(f"def {name}(a{types[0]}, v{types[1]}, w{types[2]}, b{types[3]}, c: {self.dtype}, k: i64) {{")
        self.rows, self.integers = ["y", "z"], ["k"]
        self.depth = 1
        self.emit("var m = len(a) + 1; var s = 0.0; var y = v; var z = w; var kept = v;")
        for _ in range(self.rng.randint(1, 2)):
            self.loop(2)
        result = self.rng.choice(["y", "z", "y", "y + z" if self.kind() != "bool" else "y"])
        self.emit(f"print(s, kept); return {result};")
        self.depth = 0
        self.emit("}")

    def program(self):
        rng = self.rng
        self.dtype = rng.choice(DTYPES)
        self.has_products = self.dtype in ("f64", "f32") and rng.random() < 0.25
        self.function("f")
        made = {"real": f"{self.dtype}(sin(f64(arange(N))) * 4)", "bool": "arange(N) % 3 == 0"}
        made["complex"] = f"{self.dtype}(complex(sin(f64(arange(N))), cos(0.7 * f64(arange(N)))))"
        text = "u8(arange(N) * 7 % 251)" if self.dtype == "u8" else made[self.kind()]
        if self.dtype == "f64" and rng.random() < 0.2:
            text = f"where(arange(N) % 13 == 5, {rng.choice(['nan', 'inf', '-0.0'])}, {text})"
        number = {"bool": "false", "complex": f"{self.dtype}(0.5)"}.get(self.kind(), f"{self.dtype}(2)")
        self.emit("def run(n: i64, m: i64, k: i64) {")
        matrix = f"({text.replace('N', 'n * m')}).reshape(m, n)"
        square = f"({text.replace('N', 'n * n')}).reshape(n, n)"
        self.emit(f"  return f({matrix}, {text.replace('N', 'n')}, {text.replace('N', 'n')}, {square}, {number}, k);")
        self.emit("}")
        for _ in range(3):
            size = rng.choice(SIZES_OF_PRODUCTS if self.has_products else SIZES)
            self.emit(f"print(run({size}, {rng.randint(0, 4)}, {rng.randint(0, 4)}));")
        return "\n".join(self.lines)


def used_again(toy):
    """What is stored behind a row's end is seen where memory is used again, which it is not while elements that nobody
    wrote are filled."""
    path = pathlib.Path(__file__).parent / "e2e/short-rows.toy"
    kept = {name: value for name, value in os.environ.items() if name != "TOY_FILL_FRESH"}
    done = subprocess.run([toy, "--no-cache", path], env=kept, capture_output=True, text=True, timeout=300)
    return done.stderr if done.returncode else None


def all_cases():
    return [*cases_of("short rows", Generator, 2000), ("short rows: memory that is used again", used_again)]


if __name__ == "__main__":
    show(Generator)
