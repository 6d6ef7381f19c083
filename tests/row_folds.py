# SPDX-License-Identifier: Apache-2.0
"""Random programs of sums, products and extrema of rows, columns and windows in loops, of every type and of sizes
around the lanes and blocks of the order of sums, with stores into what is read between a row and its fold. Compiled
code prints what the reference evaluator prints, bit for bit."""
import random

from loops import cases_of, show

DTYPES = ["f64", "f64", "f64", "f32", "i64", "i32", "u8", "bool", "c128", "c64"]
SIZES = [0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 96, 130]
LONG = [8191, 8192, 8193, 8192 + 31, 16384, 20011]


class Generator:
    """One program: a function with a loop over the rows of `a` (of a dtype) and elements of `v`, as long as a row."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.dtype = "f64"
        self.held = None  # the name of a row
        self.width = self.rng.choice([1, 2, 3, 8, 15, 16, 17, 40, 64, 65, 90])  # of a window

    def kind(self):
        return "complex" if self.dtype in ("c64", "c128") else "bool" if self.dtype == "bool" else "real"

    def part(self):
        """A slice: of everything that is as long as a row, as many elements."""
        texts = [":", "1:", ":-1", ":k", "k:", "k:k + 5", "::2", "::-1", "1::3", "k::-1"]
        return self.rng.choices(texts, [40, 8, 8, 8, 8, 6, 6, 5, 3, 3])[0]

    def row(self, part):
        if self.held and self.rng.random() < 0.7:
            return self.held
        rows = [
            f"a[i, {part}]",
            f"a[(i + 1) % m, {part}]",
            f"v[{part}]",
            f"b[{part}, i % 3]",
            f"transpose(b)[1, {part}]",
        ]
        return (
            self.rng.choices(rows, [40, 10, 20, 10, 5])[0] if part != ":" else self.rng.choice(["a[i]", "v", rows[3]])
        )

    def scalar(self):
        return self.rng.choice(
            {"complex": ["2.5", "v[0]", "1.5i"], "bool": ["true", "v[0]"]}.get(self.kind(), ["3", "v[0]"])
        )

    def window(self):
        """Of `v`, as long as a vector that is computed before the loop, in a sum or in a product."""
        whole = {"complex": "real(W) * 2", "bool": "(W == W)"}.get(self.kind(), "W")
        x = f"v[(i % 2):(i % 2) + {self.rng.choice(['len(w)', str(self.width)])}]"
        forms = [f"sum({whole.replace('W', x)} * f64(w))", f"max(abs({x} * {x}) + abs(f64(w)))", f"sum({x})"]
        forms[1:2] = [] if self.kind() == "bool" else forms[1:2]
        if self.dtype in ("f64", "f32", "i64"):
            forms += [f"dot({x}, {self.dtype}(w))", f"dot({x}, w)"]
        if self.kind() != "complex":
            forms += [f"argmax({x})", f"argmin({x})"]
        return f"f64(real({self.rng.choice(forms)}))"

    def value(self, part, depth=0):
        rng = self.rng
        if depth > 2 or rng.random() < 0.35:
            return self.row(part)
        x, y = self.value(part, depth + 1), self.value(part, depth + 1)
        if self.kind() == "bool":
            return rng.choice([f"({x} and {y})", f"({x} or {y})", f"(not {x})", f"({x} == {y})"])
        if self.kind() == "complex":
            forms = [f"({x} + {y})", f"({x} * {y})", f"conj({x})", f"({x} - {self.scalar()})", f"(real({x}) * {y})"]
            return rng.choice(forms)
        forms = [f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"minimum({x}, {y})", f"maximum({x}, {self.scalar()})"]
        forms += [f"abs({x})", f"(-{x})", f"where({x} < {y}, {x}, {y})", f"({self.scalar()} * {x})"]
        if self.dtype in ("f64", "f32"):
            forms += [f"({x} / {y})", f"sqrt(abs({x}))", f"({x} ** {rng.choice([2, 3, 4, 5, 0.5, -1])})"]
        return rng.choice(forms)

    def fold(self, part):
        rng, x = self.rng, self.value(part)
        if self.kind() == "bool":
            return rng.choice([f"f64(sum({x}))", f"f64(any({x}))", f"f64(all({x}))"])
        if self.kind() == "complex":
            z = rng.choice([f"sum({x})", f"prod({x})", f"sum({x})", f"mean({x})"])
            return rng.choice([f"real({z})", f"imag({z})", f"norm({x})", f"sum(abs2({x}))"])
        forms = [f"sum({x})"] * 4 + [f"prod({x})", f"max({x})", f"min({x})", f"sum({x} > {self.value(part)})"]
        forms += [f"argmax({x})", f"argmin({x})", f"max(cumsum({x}))"]
        forms += [f"any({x} > {self.scalar()})", f"all({x} == {x})"]
        if self.dtype in ("f64", "f32"):
            forms += [f"norm({x})", f"mean({x})", f"sum(exp({x}))", f"max(-abs({x}))"]
            forms += [f"dot({self.row(part)}, {self.row(part)})"] * 2 + [f"dot({x}, {self.row(part)})"]
        return f"f64({rng.choice(forms)})"

    def function(self, name):
        rng = self.rng
        lines = [f"def {name}(a, b, v, k) {{", "  var m = len(a); var s = 0.0;"]
        if has_window := rng.random() < 0.4:
            number = "i64" if self.dtype == "i64" else "f32" if self.dtype == "f32" else "f64"
            lines.append(f"  var w = {number}(arange({self.width}) % 3 - 1) * {number}(2);")
        lines += ["  for i in range(m) {"]
        for number in range(rng.randint(1, 3)):
            part = self.part()
            self.held = None
            if rng.random() < 0.25:  # a row that is read behind a store into its tensor
                lines.append(f"    var r{number} = {self.row(part)};")
                lines.append("    if len(v) > 0 { v[i % len(v)] = a[i, 0]; a[i, -1] = v[0]; }")
                self.held = f"r{number}"
            lines.append(f"    s = s * 0.5 + {self.fold(part)};")
        if has_window:
            lines.append(f"    if len(v) > {self.width} {{ s = s * 0.5 + {self.window()}; }}")
        if rng.random() < 0.5:
            lines.append("    if len(v) > 2 { v[1] = a[i, 2]; }")
        return lines + ["    print(s);", "  }", "  return s;", "}"]

    def program(self):
        rng = self.rng
        self.dtype = rng.choice(DTYPES)
        lines = self.function("f")
        for call in range(2):
            n, m = rng.choice(SIZES if rng.random() < 0.9 else LONG), rng.randint(1, 3)
            made = {"real": f"{self.dtype}(sin(f64(arange(N))) * 40)", "bool": "arange(N) % 3 == 0"}
            made["complex"] = f"{self.dtype}(complex(sin(f64(arange(N))), cos(0.7 * f64(arange(N)))))"
            text = made[self.kind()]
            if self.dtype == "f64" and rng.random() < 0.2:
                text = f"where(arange(N) % 13 == 5, {rng.choice(['nan', 'inf', '-0.0'])}, {text})"
            if self.dtype == "u8":
                text = "u8(arange(N) * 7 % 251)"
            a, b, v = f"a{call}", f"b{call}", f"v{call}"
            lines.append(f"var {a} = ({text.replace('N', str(n * m))}).reshape({m}, {n});")
            lines.append(f"var {b} = ({text.replace('N', str(n * 3))}).reshape({n}, 3);")
            lines.append(f"var {v} = {text.replace('N', str(n))};")
            lines.append(f"print(f({a}, {b}, {v}, {rng.randint(0, 4)}));")
            lines.append(f"print(sum({a}), sum({v}));")
        return "\n".join(lines)


MARKERS = ("host",)  # products by vectors alone have the order of a device's library, in loops they have the host's


def all_cases():
    return cases_of("folds", Generator, 2000)


if __name__ == "__main__":
    show(Generator)
