# SPDX-License-Identifier: Apache-2.0
"""Random loops over lists of rows of one known length, which become one vector, beside the evaluator: rows that are put
behind others, take each other's places, have names, are changed and put back, or somewhere else, in lists that have a
second name, get shorter, or are asked for what is outside."""
import random

from programs import in_turn, of_this_build, run_parts

SETTINGS = [
    "--jit=never",
    "--jit=always -O3",
    "--jit=always",
    "--jit=always -O0",
    "--jit=always -O3 --unpack",
    "--jit=auto --dynamic=on",
    "--jit=always -O3 --no-fuse",
]
DAILY, NIGHTLY = 40, 600
ROWS = {
    "i64": ("i64([{}])", "{}"),
    "f64": ("[{}]", "f64({})"),
    "list": ("list({})", "{}"),
    "c128": ("c128([{}])", "complex(f64({}), 0.5)"),
}


class Program:
    """A function over lists a and b, counters i and j, and a sum h."""

    def __init__(self, seed):
        self.rng = random.Random(f"flat rows {seed}")
        self.kind = self.rng.choice(["i64", "i64", "f64", "list", "c128"])
        self.length = self.rng.choice([1, 2, 2, 3, 3, 4, 5, 8, 16, 17])
        self.wholes = self.rng.random() < 0.15  # rows are asked for as such
        self.odd = self.rng.random() < 0.4  # rows change that are not put back where they were
        self.names = 0

    def number(self):
        return self.rng.choice(["i", "j", "i + j", "h % 5", f"{self.rng.randint(-3, 9)}", "i * j + 1"])

    def value(self):
        return ROWS[self.kind][1].format(self.number())

    def row(self):
        if self.kind == "i64" and self.rng.random() < 0.3:
            return f"full([{self.length}], {self.number()})"
        return ROWS[self.kind][0].format(", ".join(self.value() for _ in range(self.length)))

    def index(self, size):
        if self.rng.random() < 0.03:
            return self.rng.choice([size, f"-{size} - 1", "i + 3"])
        return self.rng.choice(["0", "-1", f"i % {size}", f"(i * 3 + j) % {size}", f"j % {size}", f"h % {size}"])

    def place(self, name="a"):
        return self.index(f"len({name})")

    def column(self):
        return self.index(str(self.length))

    def read(self, what):
        return f"i64({'real(' * (self.kind == 'c128')}{what}{')' * (self.kind == 'c128')})"

    def fold(self, what):
        return f"h = (h * 31 + {self.read(what)}) % 1000003;"

    def statement(self, depth=0):
        rng, x, y = self.rng, self.rng.choice("aab"), self.rng.choice("aab")
        self.names += 1
        p = f"p{self.names}"
        change = f"{p}[{self.column()}] = {self.value()};"
        at = self.place(x)
        forms = [
            f"{x}[{self.place(x)}][{self.column()}] = {self.value()};",
            f"{x}[{self.place(x)}][{self.column()}] += {self.value()};",
            f"{x} = append({x}, {self.row()});",
            f"{x} = append({x}, {y}[{self.place(y)}]);",
            f"{x}[{self.place(x)}] = {self.row()};",
            f"{x}[{self.place(x)}] = {y}[{self.place(y)}];",
            f"var {p} = {x}[{at}]; {change} {self.fold(f'{p}[{self.column()}]')} {x}[{at}] = {p};",
            f"var {p} = {x}[{at}]; {x}[{at}] = {x}[0]; {x}[0] = {p};",
            f"if len({x}) > 2 {{ {x} = {x}[:-1]; }}",
            f"for r in {x} {{ {self.fold(f'r[{self.column()}]')} }}",
            self.fold(f"{x}[{self.place(x)}][{self.column()}]"),
            self.fold(f"{x}[{self.place(x)}][{self.column()}]"),
            f"var {p} = {x}; {p}[{self.place(p)}][0] = {self.value()}; {self.fold(f'{x}[0][0] + {p}[0][0]')}",
            f"{x} = {y};",
        ]
        if self.odd:
            forms += [
                f"var {p} = {x}[{at}]; {change} {change} {y}[{self.place(y)}] = {p};",
                f"var {p} = {x}[{at}]; {x}[{at}][0] = {self.value()}; {self.fold(f'{p}[0]')}",
            ]
        if self.wholes:
            forms += [f"h = (h + len({x}[{self.place(x)}])) % 1000003; print({x}[{self.place(x)}]);"]
        if depth < 2:
            inner = " ".join(self.statement(depth + 1) for _ in range(rng.randint(1, 2)))
            forms += [f"if {rng.choice('ij')} % 2 == {rng.randint(0, 1)} {{ {inner} }}"] * 2
        return rng.choice(forms)

    def text(self):
        rng = self.rng
        lines = ["def f() {", "  var h = 7; var i = 0; var j = 0;"]
        for name in "ab":
            if rng.random() < 0.7:
                rows = ", ".join(self.row() for _ in range(rng.randint(1, 3)))
                lines.append(f"  var {name} = list({rows});")
            else:
                lines.append(f"  var {name} = list();")
                lines.append(f"  for k in range({rng.randint(1, 5)}) {{ {name} = append({name}, {self.row()}); }}")
        for _ in range(rng.randint(1, 3)):
            before, inside = [
                " ".join(self.statement() for _ in range(count)) for count in (rng.randint(0, 2), rng.randint(1, 3))
            ]
            lines.append(f"  for i in range({rng.randint(1, 5)}) {{ {before}")
            lines.append(f"    for j in range({rng.randint(1, 4)}) {{ {inside} }} }}")
        lines += [f"  for x in {name} {{ for v in x {{ {self.fold('v')} }} }}" for name in "ab"]
        lines += ["  return (h, len(a), len(b));", "}"]
        return "\n".join(lines) + "\ntry { print(f()); } catch e { print(e.text); }\n"


def random_programs(toy, seeds, every_setting, generator=Program):
    texts = [generator(seed).text() for seed in seeds]
    settings = [SETTINGS if every_setting else in_turn(SETTINGS, i, 2) for i in range(len(texts))]
    for text, used, results in zip(texts, settings, run_parts(toy, list(zip(texts, settings)))):
        outputs = [done.stdout + done.stderr for done in results]
        if not results[0].stdout or any(output != outputs[0] for output in outputs):
            return "\n".join([text, *(f"{setting}: {output}" for setting, output in zip(used, outputs))])


def all_cases():
    yield "flat rows: random programs", lambda toy: random_programs(toy, of_this_build(DAILY), False)
    yield "flat rows: more of them", lambda toy: random_programs(toy, range(NIGHTLY), True), "nightly"
