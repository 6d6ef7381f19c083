# SPDX-License-Identifier: Apache-2.0
"""Random loops that change numbers in lists of lists, and in lists of such, against Python's: rows that lie in two
places, have names, are put elsewhere or are read meanwhile stay as they are, and an error leaves all as it was."""
import copy
import random
import textwrap

from programs import in_turn, of_this_build, run_parts

SETTINGS = [
    "--jit=never",
    "--jit=always",
    "--jit=always -O3",
    "--jit=always -O0",
    "--jit=always -O3 --unpack",
    "--jit=auto --dynamic=on",
    "--jit=always -O3 --no-fuse",
]
DAILY, NIGHTLY = 9, 400
FOLDED = {
    2: "def folded(xs) { var h = len(xs); for x in xs { for v in x { h = (h * 31 + v) % 1000003; } } return h; }\n",
    3: "def folded(xs) {\n  var h = len(xs);\n"
    "  for p in xs { for x in p { for v in x { h = (h * 31 + v) % 1000003; } } }\n  return h;\n}\n",
}
FOLDED[2] += "def handed(xs, i, v) { xs[i][0] = v; for k in range(len(xs[i])) { xs[i][k] += k; } return xs; }\n"
FOLDED[3] += "def handed(xs, i, v) { xs[i][0][0] = v; return xs; }\n"


def flat(value):
    return [v for x in value for v in flat(x)] if isinstance(value, list) else [value]


def folded(value):
    h = len(value)
    for v in flat(value):
        h = (h * 31 + v) % 1000003
    return h


def shown(value):
    return "list(" + ", ".join(map(shown, value)) + ")" if isinstance(value, list) else str(value)


def with_element(value, path, v):
    """A copy of what is changed, as values are not shared."""
    if not path:
        return v
    out = list(value)
    out[path[0]] = with_element(out[path[0]], path[1:], v)
    return out


class Program:
    """Loops over lists a and b of equal depth. A statement is a text and a function of the variables."""

    def __init__(self, seed):
        self.rng = random.Random(f"cells {seed}")
        self.depth = 2 + seed % 3 // 2
        self.names = 0
        self.state = {name: self.made(self.depth) for name in "ab"}
        self.lines = [f"var {name} = {shown(self.state[name])};" for name in "ab"]
        self.output = []

    def made(self, depth):
        if depth == 0:
            return self.rng.randint(-9, 9)
        return [self.made(depth - 1) for _ in range(self.rng.randint(2, 3) if depth > 1 else self.rng.randint(1, 4))]

    def number(self):
        """An index, or a part of a value: of counters."""
        c, text = self.rng.randint(0, 3), self.rng.choice(["t", "j", "k"])
        kind = self.rng.randrange(4)
        if kind == 0:
            return str(c), lambda s: c
        if kind == 1:
            return text, lambda s: s[text]
        if kind == 2:
            return f"({text} + {c})", lambda s: s[text] + c
        return f"(t * {c} + {text})", lambda s: s["t"] * c + s[text]

    def place(self, name, depth, is_wild=False):
        """The text of a place, and its path. A wild one may be outside."""
        text, steps = name, []
        for _ in range(depth):
            index, value = self.number()
            text += f"[{index}]" if is_wild else f"[{index} % len({text})]"
            steps.append(value)

        def path(s):
            at, x = [], s[name]
            for value in steps:
                i = value(s)
                if is_wild and not -len(x) <= i < len(x):
                    raise IndexError
                at.append(i % len(x))
                x = x[at[-1]]
            return at

        return text, path

    def read(self, s, name, path):
        x = s[name]
        for i in path:
            x = x[i]
        return x

    def store(self, is_wild=False):
        name, other = self.rng.choice("ab"), self.rng.choice("ab")
        (text, path), (term, from_) = self.place(name, self.depth, is_wild), self.place(other, self.depth)
        add, value = self.number()
        keeps = self.rng.random() < 0.5

        def run(s):
            at = path(s)
            v = self.read(s, other, from_(s)) % 7 + value(s) + (self.read(s, name, at) if keeps else 0)
            s[name] = with_element(s[name], at, v)

        return f"{text} {'+' if keeps else ''}= {term} % 7 + {add};", run

    def fold(self):
        name = self.rng.choice("ab")
        text, path = self.place(name, self.depth)

        def run(s):
            s["h"] = (s["h"] * 31 + self.read(s, name, path(s))) % 1000003

        return f"h = (h * 31 + {text}) % 1000003;", run

    def named(self):
        """Behind other statements, what a row was before them."""
        name, row = self.rng.choice("ab"), f"r{self.names}"
        self.names += 1
        text, path = self.place(name, self.depth - 1)
        body, run_body = self.block(self.rng.randint(1, 2))
        ends = self.rng.randrange(3)
        back, back_path = self.place(name, self.depth - 1)
        tail = [
            f"h = (h * 31 + {row}[-1] + len({row})) % 1000003;",
            f"{back} = {row};",
            f"{row}[0] += 1; {back} = {row};",
        ]

        def run(s):
            held = self.read(s, name, path(s))
            run_body(s)
            if ends == 0:
                s["h"] = (s["h"] * 31 + held[-1] + len(held)) % 1000003
            else:
                held = [held[0] + ends - 1, *held[1:]]
                s[name] = with_element(s[name], back_path(s), held)

        return f"var {row} = {text}; {body} {tail[ends]}", run

    def moved(self):
        name, other = self.rng.choice("ab"), self.rng.choice("ab")
        kind = self.rng.randrange(4)
        (text, path), (term, from_) = self.place(name, self.depth - 1), self.place(other, self.depth - 1)

        def run(s):
            if kind == 0:
                s[name] = s[other]
            elif kind == 1 or len(s[name]) > 5:
                s[name] = with_element(s[name], path(s), self.read(s, other, from_(s)))
            elif kind == 2:
                s[name] = [*s[name], s[other][-1]]
            else:
                s[name] = with_element(s[name], [0], s[other][-1])

        append = f"{name} = append({name}, {other}[-1]);" if kind == 2 else f"{name}[0] = {other}[-1];"
        texts = {0: f"{name} = {other};", 1: f"{text} = {term};"}
        return texts.get(kind) or f"if len({name}) > 5 {{ {text} = {term}; }} else {{ {append} }}", run

    def called(self):
        name, (v, value) = self.rng.choice("ab"), self.number()

        def run(s):
            s[name] = with_element(s[name], [0] * self.depth, value(s))
            if self.depth == 2:
                s[name] = with_element(s[name], [0], [x + k for k, x in enumerate(s[name][0])])

        return f"{name} = handed({name}, 0, {v});", run

    def branch(self):
        (body, run_body), m, c = self.block(1), self.rng.randint(2, 3), self.rng.choice("tjk")

        def run(s):
            if s[c] % m == 0:
                run_body(s)

        return f"if {c} % {m} == 0 {{ {body} }}", run

    def block(self, count, loops=False):
        kinds = [self.store] * 6 + [self.fold] * 2 + [self.named, self.moved, self.called, self.branch]
        parts = [self.rng.choice(kinds)() for _ in range(count)]

        def run(s):
            for _, part in parts:
                part(s)

        return " ".join(text for text, _ in parts), run

    def nest(self):
        """Loops in each other, with statements before the inner ones and in them."""
        counts = [self.rng.randint(1, 4) for _ in range(3)]
        plain = self.rng.random() < 0.5  # stores and folds alone inside
        one = lambda: self.rng.choice([self.store, self.store, self.fold])() if plain else self.block(1)
        before, inside = [self.block(self.rng.randint(0, 1)) for _ in range(2)], [one() for _ in range(2)]
        if self.rng.random() < 0.3:
            inside.append(self.store(is_wild=True))

        def run(s):
            for s["t"] in range(counts[0]):
                s["j"] = s["k"] = 0
                before[0][1](s)
                for s["j"] in range(counts[1]):
                    s["k"] = 0
                    before[1][1](s)
                    for s["k"] in range(counts[2]):
                        for _, part in inside:
                            part(s)

        body = " ".join(text for text, _ in inside)
        text = f"for t in range({counts[0]}) {{ var j = 0; var k = 0; {before[0][0]}\n"
        text += f"  for j in range({counts[1]}) {{ var k = 0; {before[1][0]}\n"
        text += f"    for k in range({counts[2]}) {{ {body} }} }} }}"
        return text, run

    def make(self):
        for _ in range(3):
            text, run = self.nest()
            before = copy.deepcopy(self.state)
            self.state |= {"h": 7, "t": 0, "j": 0, "k": 0}
            try:
                run(self.state)
            except IndexError:
                self.state = before | {"h": -1}
            number = len(self.lines)
            self.lines.append(f"var h{number} = -1;\ntry {{\n  var h = 7;\n{text}\n  h{number} = h;\n}} catch e {{ }}")
            self.lines.append(f"print(h{number}, folded(a), folded(b));")
            self.output.append(f"{self.state['h']} {folded(self.state['a'])} {folded(self.state['b'])}")
        return self


def random_programs(toy, seeds, every_setting):
    made = [Program(seed).make() for seed in seeds]
    texts = ["\n".join(p.lines) for p in made]
    texts += ["def f() {\n" + textwrap.indent(t, "  ") + "\n}\nf();" for t in texts]
    texts = [FOLDED[p.depth] + t for p, t in zip(made + made, texts)]
    settings = [SETTINGS if every_setting else in_turn(SETTINGS, i // 4 + i, 2) for i in range(len(texts))]
    for text, p, used, results in zip(texts, made + made, settings, run_parts(toy, list(zip(texts, settings)))):
        for setting, done in zip(used, results):
            if done.stdout.splitlines() != p.output:
                return f"{setting}\n{text}\n{done.stdout}{done.stderr}expected:\n" + "\n".join(p.output)


def all_cases():
    yield "lists: random loops that change cells", lambda toy: random_programs(toy, of_this_build(DAILY), False)
    yield "lists: more that change cells", lambda toy: random_programs(toy, range(NIGHTLY), True), "nightly"
