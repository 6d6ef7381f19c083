# SPDX-License-Identifier: Apache-2.0
"""Random loops over lists of rows of one length that an argument says, which become matrices, beside the evaluator:
lists that begin empty or with rows, grow by rows that loops fill, of that length or another, or as long as another
list is, have second names, change in places inside and outside, and have no rows or rows of no numbers."""
import functools
import random

import flat_rows
from programs import of_this_build

DAILY, NIGHTLY = 40, 600
FILLED = """def filled(m: i64, v: {dtype}) {{
  var r: list[{dtype}] = list();
  for k in range(m) {{ {turn} }}
  return r;
}}
"""
#: turns of its loop, of which some may fail
TURNS = [
    "r = append(r, v + {dtype}(k));",
    "var w = v; if k > 0 {{ w += r[k - 1]; }} r = append(r, w);",
    "r = append(r, v); if k % 2 == 1 {{ r[0] += r[-1]; }}",
    "r = append(r, v + {dtype}(10 // (k + 1))); v += r[-1] * r[k] - r[0];",
]


class Program(flat_rows.Program):
    """A function of the length, over lists a and b, counters i and j, and a sum h."""

    def __init__(self, seed):
        super().__init__(seed)
        self.rng = random.Random(f"equal rows {seed}")
        self.kind = self.rng.choice(["i64", "f64"])
        self.lists = self.rng.random() < 0.7
        self.length = "m"
        self.wholes = self.rng.random() < 0.05
        self.odd = self.rng.random() < 0.15
        self.other = self.rng.random() < 0.15  # a row has another length
        self.shared = self.rng.random() < 0.2  # lists have second names
        self.counted = random.Random(f"counts {seed}").random() < 0.2  # rows are as long as another list

    def value(self):
        return f"{self.kind}({self.number()})"

    def row(self):
        length = "len(c)" if self.counted else "m"
        if self.other and self.rng.random() < 0.2:
            length += " + 1"
        return f"filled({length}, {self.value()})" if self.lists else f"full([{length}], {self.value()})"

    def column(self):
        return self.index("maximum(m, 1)")

    def statement(self, depth=0):
        rng, x = self.rng, self.rng.choice("aab")
        self.names += 1
        p = f"p{self.names}"
        forms = [
            f"{x}[{self.place(x)}][{self.column()}] = {self.value()};",
            f"{x}[{self.place(x)}][{self.column()}] += {self.value()};",
            f"{x} = append({x}, {self.row()});",
            f"var {p} = {self.row()}; if m > 0 {{ {p}[{self.column()}] = {self.value()}; }} {x} = append({x}, {p});",
            f"h += len({x}) + len({x}[{self.place(x)}]);",
            self.fold(f"{x}[{self.place(x)}][{self.column()}]"),
            self.fold(f"{x}[{self.place(x)}][{self.column()}]"),
            f"for k in range(m) {{ {x}[{self.place(x)}][k] += {self.value()}; }}",
            f"var {p} = {x}[{self.place(x)}]; for k in range(m) {{ {self.fold(f'{p}[k]')} }}",
        ]
        if rng.random() < 0.1:
            forms = [f"{x} = list(); {x} = append({x}, {self.row()});", f"{x} = list({self.row()}, {self.row()});"]
        if depth < 2 and rng.random() < 0.3:
            inner = " ".join(self.statement(depth + 1) for _ in range(rng.randint(1, 2)))
            forms = [f"if {rng.choice('ij')} % 2 == {rng.randint(0, 1)} {{ {inner} }}"]
        if (self.shared or self.odd or self.wholes) and rng.random() < 0.3:
            return super().statement(depth)
        return rng.choice(forms)

    def text(self):
        begin = "  var c = list(); for k in range(m) { c = append(c, full([m], k)); }\n" if self.counted else ""
        text = super().text().replace("def f() {\n", "def f(m: i64) {\n" + begin, 1)
        call = "try { print(f()); } catch e { print(e.text); }\n"
        calls = "".join(call.replace("f()", f"f({m})") for m in (3, 0, self.rng.choice([1, 2, 17, -1])))
        turn = self.rng.choice(TURNS).format(dtype=self.kind)
        return FILLED.format(dtype=self.kind, turn=turn) * self.lists + text.replace(call, calls)


def all_cases():
    programs = functools.partial(flat_rows.random_programs, generator=Program)
    yield "equal rows: random programs", lambda toy: programs(toy, of_this_build(DAILY), False)
    yield "equal rows: more of them", lambda toy: programs(toy, range(NIGHTLY), True), "nightly"
