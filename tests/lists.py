# SPDX-License-Identifier: Apache-2.0
"""Random programs with lists against Python's: values that others hold stay as they are, at the top level, in loops and
in functions, evaluated and compiled. Appending costs the same for each element."""
import random
import textwrap

from programs import in_turn, of_this_build, run_parts

SETTINGS = ["--jit=never", "--jit=always", "--jit=always -O3 --unpack", "--jit=auto --dynamic=on"]
DAILY, NIGHTLY = 16, 200
WORDS = ["a", "b c", "", "Z", "äö", "list"]


def shown(value):
    if isinstance(value, list):
        return "list(" + ", ".join(map(shown, value)) + ")"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(shown, value)) + ")"
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


class Program:
    """Statements on the lists a and b, and what they print."""

    functions = ""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        kind = seed % 4
        number = lambda: self.rng.randint(-9, 9)
        word = lambda: self.rng.choice(WORDS)
        self.element = [
            number,
            word,
            lambda: (word(), number()),
            lambda: [number() for _ in range(self.rng.randint(1, 3))],
        ][kind]
        self.is_sorted, self.has_rows = kind < 2, kind == 3
        self.lists = {"a": [], "b": [self.element()]}
        self.lines = ["var a = list();", f"var b = {shown(self.lists['b'])};"]
        self.output = []

    def index(self, name):
        n = len(self.lists[name])
        return self.rng.randint(-n, n - 1)

    def append(self, name):
        v = self.element()
        self.lists[name] = self.lists[name] + [v]
        return f"{name} = append({name}, {shown(v)});"

    def share(self, name):
        other = "b" if name == "a" else "a"
        self.lists[name] = self.lists[other]
        return f"{name} = {other};"

    def store(self, name):
        if not self.lists[name]:
            return self.append(name)
        i, v = self.index(name), self.element()
        self.lists[name] = list(self.lists[name])
        self.lists[name][i] = v
        return f"{name}[{i}] = {shown(v)};"

    def part(self, name):
        low, high, step = self.rng.randint(-4, 2), self.rng.randint(-2, 9), self.rng.choice([1, 1, 2, -1])
        self.lists[name] = self.lists[name][low:high:step]
        return f"{name} = {name}[{low}:{high}:{step}];"

    def join(self, name):
        self.lists[name] = self.lists["a"] + self.lists["b"]
        return f"{name} = a + b;"

    def repeat(self, name):
        v, n = self.element(), self.rng.randint(0, 4)
        self.lists[name] = self.lists[name] + [v] * n
        return f"for i in range({n}) {{ {name} = append({name}, {shown(v)}); }}"

    def inside(self, name):
        """Changes of one of its lists, which others may hold as well: in a loop, and from which an error may lead."""
        if not self.has_rows or not self.lists[name]:
            return self.append(name)
        i, v, n, kept = self.index(name), self.rng.randint(-9, 9), self.rng.randint(0, 3), f"k{len(self.lines)}"
        self.lists[name] = list(self.lists[name])
        before = self.lists[name][i]
        if self.rng.random() < 0.6:
            for t in range(n):
                held = self.lists[name]
                held[i] = held[i] + [v + len(held[t % len(held)])]
            change = f"{name}[{i}] = append({name}[{i}], {v} + len({name}[t % len({name})]));"
        else:
            j = self.rng.randint(-2, 2)
            after = list(before)
            if n and -len(before) <= j < len(before):
                after[j] = v + n - 1
            self.lists[name][i] = after
            change = f"try {{ {name}[{i}][{j}] = {v} + t; }} catch e {{ }}"
        self.output.append(shown(before))
        return f"var {kept} = {name}[{i}]; for t in range({n}) {{ {change} }} print({kept});"

    def order(self, name):
        if not self.is_sorted:
            return self.append(name)
        self.lists[name] = sorted(self.lists[name], key=lambda v: v.encode() if isinstance(v, str) else v)
        return f"{name} = sort({name});"

    def show(self):
        a, b, v = self.lists["a"], self.lists["b"], self.element()
        self.output.append(" ".join(map(shown, (a, b, len(a), a == b, v in a, a[1:], b[::-1]))))
        return f"print(a, b, len(a), a == b, contains(a, {shown(v)}), a[1:], b[::-1]);"

    def make(self):
        steps = [self.append, self.append, self.share, self.store, self.part, self.join, self.repeat, self.order]
        steps += [self.inside, self.inside]
        for _ in range(12):
            self.lines.append(self.rng.choice(steps)(self.rng.choice("ab")))
            if self.rng.random() < 0.4:
                self.lines.append(self.show())
        self.lines.append(self.show())
        return self


class Inner(Program):
    """The same with lists of numbers, or of pairs, that never leave their functions, which become vectors: loops change
    them, branches and turns hand on lists of different lengths, two names have one list, functions that call themselves
    take and give them."""

    functions = """
def longer(xs, v, n) { if n == 0 { return xs; } return longer(append(xs, v), v, n - 1); }
def shorter(xs, n) { if n == 0 or len(xs) == 0 { return xs; } return shorter(xs[:-1], n - 1); }
def both(xs, v, n) {
  if n == 0 { return (xs, xs); }
  var ys = xs;
  if len(ys) > 0 { ys[0] = v; }
  var (a, b) = both(ys, v, n - 1);
  return (xs, b);
}
"""

    def __init__(self, seed):
        super().__init__(0)
        self.rng = random.Random(f"inner {seed}")
        self.pairs = seed % 2
        number = lambda: self.rng.randint(-9, 9)
        self.element = (lambda: (number(), number())) if self.pairs else number
        self.lists = {name: [self.element()] for name in "ab"}
        self.lines = [f"var {name} = {shown(held)};" for name, held in self.lists.items()]

    def changed(self, v, i):
        return (v[0] + i, v[1]) if self.pairs else 2 * v - i

    def sweep(self, name):
        """A loop that changes elements, of pairs one member."""
        by, text = self.rng.randint(1, 3), f"var v = {name}[i]; {name}[i] = "
        text += "(v[0] + i, v[1]);" if self.pairs else "2 * v - i;"
        self.lists[name] = [self.changed(v, i) if i % by == 0 else v for i, v in enumerate(self.lists[name])]
        return f"for i in range(0, len({name}), {by}) {{ {text} }}"

    def turns(self, name):
        """A list that a turn makes anew, makes longer, or changes."""
        n, every, v = self.rng.randint(1, 9), self.rng.randint(2, 4), self.element()
        held = list(self.lists[name])
        for t in range(n):
            held = [v] if t % every == every - 1 else held + [v, v] if t % 2 else held[:-1] + [v] if held else held
        self.lists[name] = held
        return (
            f"for t in range({n}) {{ if t % {every} == {every - 1} {{ {name} = list({shown(v)}); }} else if t % 2 == 1 "
            f"{{ {name} = append(append({name}, {shown(v)}), {shown(v)}); }} else if len({name}) > 0 "
            f"{{ {name}[-1] = {shown(v)}; }} }}"
        )

    def taken(self, name):
        """A stack: elements go from its end, one by one or several, and others come."""
        v, n, cut = self.element(), self.rng.randint(0, 3), self.rng.randint(1, 3)
        held = list(self.lists[name])
        for t in range(n):
            held = held[:-cut] if t % 2 == 0 else held + [v]
        self.lists[name] = held
        shorter, longer = f"{name} = {name}[:-{cut}];", f"{name} = append({name}, {shown(v)});"
        return f"for t in range({n}) {{ if t % 2 == 0 {{ {shorter} }} else {{ {longer} }} }}"

    def last(self, name):
        """What was appended is read in the same turn, and taken off again in some."""
        v, n, every, fold, held = self.element(), self.rng.randint(6, 20), self.rng.randint(2, 5), 0, self.lists[name]
        for t in range(n):
            held = held + [(v[0], v[1] + t) if self.pairs else v + t]
            fold = fold * 3 % 10007 + len(held) + (held[-1][1] if self.pairs else held[-1])
            held = held[:-1] if t % every == 0 and len(held) > 1 else held
        self.lists[name] = held
        self.output.append(str(fold))
        at, read = f"l{len(self.lines)}", f"{name}[-1]" + ("[1]" if self.pairs else "")
        longer = f"append({name}, ({v[0]}, {v[1]} + t))" if self.pairs else f"append({name}, {v} + t)"
        turn = f"{name} = {longer}; {at} = {at} * 3 % 10007 + len({name}) + {read};"
        shorter = f"if t % {every} == 0 and len({name}) > 1 {{ {name} = {name}[:-1]; }}"
        return f"var {at} = 0; for t in range({n}) {{ {turn} {shorter} }} print({at});"

    def begun(self, name):
        """Two lists of which one is the beginning of the other."""
        other, n = "b" if name == "a" else "a", self.rng.randint(0, 4)
        self.lists[other] = self.lists[name][:n]
        return f"{other} = {name}[:{n}];"

    def handed(self, name):
        """To functions, which give back the same list, or others while it stays as it was."""
        other, v, n = "b" if name == "a" else "a", self.element(), self.rng.randint(0, 3)
        held, kind = self.lists[name], self.rng.randrange(3)
        if kind == 0:
            self.lists[name] = held + [v] * n
            return f"{name} = longer({name}, {shown(v)}, {n});"
        if kind == 1:
            self.lists[name] = held[: max(0, len(held) - n)]
            return f"{name} = shorter({name}, {n});"
        self.lists[other] = [v, *held[1:]] if n and held else held
        first, second = (f"{part}{len(self.lines)}" for part in "pq")
        call = f"var ({first}, {second}) = both({name}, {shown(v)}, {n});"
        return f"{call} {name} = {first}; {other} = {second};"

    def branch(self, name):
        least, v = self.rng.randint(0, 6), self.element()
        other = "b" if name == "a" else "a"
        if len(self.lists[name]) > least:
            self.lists[name] = list(self.lists[other])
        else:
            self.lists[name] = self.lists[name] + [v]
        return f"if len({name}) > {least} {{ {name} = {other}; }} else {{ {name} = append({name}, {shown(v)}); }}"

    def kept(self, name):
        """A second name in a loop that stores."""
        if not self.lists[name]:
            return self.append(name)
        v, n = self.element(), self.rng.randint(1, 3)
        other = "b" if name == "a" else "a"
        for _ in range(n):
            self.lists[other] = self.lists[name]
            self.lists[name] = [v, *self.lists[name][1:]]
        return f"for t in range({n}) {{ {other} = {name}; {name}[0] = {shown(v)}; }}"

    def show(self):
        self.output.append(" ".join(str(self.folded(self.lists[name])) for name in "ab"))
        member = "v[0] * 7 + v[1]" if self.pairs else "v"
        fold = "var h{0} = len({0}); for v in {0} {{ h{0} = (h{0} * 31 + " + member + ") % 1000003; }}"
        return fold.format("a") + " " + fold.format("b") + " print(ha, hb);"

    def folded(self, held):
        h = len(held)
        for v in held:
            h = (h * 31 + (v[0] * 7 + v[1] if self.pairs else v)) % 1000003
        return h

    def make(self):
        steps = [self.append, self.share, self.store, self.repeat, self.sweep, self.sweep, self.turns, self.branch]
        for _ in range(10):
            more = [self.kept, self.taken, self.begun, self.handed, self.handed, self.last]
            self.lines.append(self.rng.choice([*steps, *more])(self.rng.choice("ab")))
            if self.rng.random() < 0.3:
                self.lines.append(self.show())
        self.lines.append(self.show())
        return self


class Nested(Inner):
    """The same with lists of lists of numbers, which become lists of vectors: rows have names of their own, lie in both
    lists, are taken out and put back, made longer and shorter, and go through functions."""

    functions = """
def grown(xs, i, v) { var ys = xs; ys[i] = append(ys[i], v); return ys; }
def moved(xs, ys, i, n) { if n == 0 { return (xs, ys); } return moved(append(xs, ys[i]), xs, i, n - 1); }
def row(xs, i) { return xs[i]; }
def folded(xs) {
  var h = len(xs);
  for x in xs { h = (h * 31 + len(x)) % 1000003; for v in x { h = (h * 31 + v) % 1000003; } }
  return h;
}
"""

    def __init__(self, seed):
        super().__init__(0)
        self.rng = random.Random(f"nested {seed}")
        self.element = lambda: [self.rng.randint(-9, 9) for _ in range(self.rng.randint(1, 3))]
        self.lists = {name: [self.element(), self.element()] for name in "ab"}
        self.lines = [f"var {name} = {shown(held)};" for name, held in self.lists.items()]

    def at(self, name, i, row):
        self.lists[name] = [row if k == i % len(self.lists[name]) else x for k, x in enumerate(self.lists[name])]

    def longer(self, name):
        """In a loop that goes through the rows."""
        n, held = self.rng.randint(1, 6), self.lists[name]
        for t in range(n):
            self.at(name, t % len(held), self.lists[name][t % len(held)] + [t, len(held)])
        row = f"{name}[t % len({name})]"
        return f"for t in range({n}) {{ {row} = append(append({row}, t), len({name})); }}"

    def named(self, name):
        """A row with a name, which is changed, put back or not, while it lies in the list."""
        v, kind, row = self.rng.randint(-9, 9), self.rng.randrange(4), f"r{len(self.lines)}"
        i = self.index(name) % len(self.lists[name])
        before = self.lists[name][i]
        after = [before + [v], [v, *before[1:]], before[:-1], [x + v for x in before]][kind] if before else before
        change = [f"{row} = append({row}, {v});", f"{row}[0] = {v};", f"{row} = {row}[:-1];"]
        change += [f"for k in range(len({row})) {{ {row}[k] += {v}; }}"]
        text = f"var {row} = {name}[{i}]; if len({row}) > 0 {{ {change[kind]} }} "
        if self.rng.random() < 0.5:
            self.lists[name] = self.lists[name] + [after]
            text += f"{name} = append({name}, {row}); "
        if self.rng.random() < 0.5:
            self.at(name, i, after)
            text += f"{name}[{i}] = {row}; "
        self.output.append(f"{sum(self.lists[name][i])} {sum(after)}")
        for sums, of in ((f"{row}o", f"{name}[{i}]"), (f"{row}s", row)):
            text += f"var {sums} = 0; for v in {of} {{ {sums} += v; }} "
        return text + f"print({row}o, {row}s);"

    def crossed(self, name):
        """Elements of rows, which may be one row, from others, while a row that was read before has a name."""
        i, k, j, n, at = (
            self.index(name),
            self.index(name),
            self.rng.randint(0, 1),
            self.rng.randint(1, 4),
            len(self.lines),
        )
        rows = self.lists[name]
        if min(len(rows[i]), len(rows[k])) <= j:
            return self.longer(name)
        fold = 0
        for t in range(n):
            before, rows = rows[i], self.lists[name]
            changed = rows[i][j] + 2 * rows[k][j] % 7 - t
            self.at(name, i, [changed if x == j else v for x, v in enumerate(rows[i])])
            rows = self.lists[name]
            fold = (fold * 31 + before[j] + rows[i][j] + rows[k][-1]) % 1000003
        self.output.append(str(fold))
        row, cell = f"q{at}", f"{name}[{i}][{j}]"
        turn = f"var {row} = {name}[{i}]; {cell} = {cell} + 2 * {name}[{k}][{j}] % 7 - t; "
        turn += f"f{at} = (f{at} * 31 + {row}[{j}] + {cell} + {name}[{k}][-1]) % 1000003;"
        return f"var f{at} = 0; for t in range({n}) {{ {turn} }} print(f{at});"

    def swapped(self, name):
        i, j, row = self.index(name), self.index(name), f"w{len(self.lines)}"
        x, y = self.lists[name][i], self.lists[name][j]
        self.at(name, i, y)
        self.at(name, j, x)
        return f"var {row} = {name}[{i}]; {name}[{i}] = {name}[{j}]; {name}[{j}] = {row};"

    def between(self, name):
        """A row of one list in the other."""
        other = "b" if name == "a" else "a"
        i, j = self.index(name), self.index(other)
        self.at(name, i, self.lists[other][j])
        return f"{name}[{i}] = {other}[{j}];"

    def called(self, name):
        other, i, n = "b" if name == "a" else "a", self.rng.randint(0, 1), self.rng.randint(0, 3)
        kind, v, made = self.rng.randrange(3), self.rng.randint(-9, 9), f"c{len(self.lines)}"
        xs, ys = self.lists[name], self.lists[other]
        if kind == 0:
            before = self.lists[name]
            self.at(name, i, xs[i] + [v])
            self.output.append(str(self.folded(before)))
            return f"var {made} = {name}; {name} = grown({name}, {i}, {v}); print(folded({made}));"
        if kind == 1:
            for _ in range(n):
                xs, ys = xs + [ys[i]], xs
            self.lists[name], self.lists[other] = xs, ys
            return f"var ({made}, {made}o) = moved({name}, {other}, {i}, {n}); {name} = {made}; {other} = {made}o;"
        self.at(name, 0, xs[i] + [v])
        return f"{name}[0] = append(row({name}, {i}), {v});"

    def caught(self, name):
        """An error between a row's change and its place."""
        i, j, v = self.index(name), self.rng.randint(-3, 3), self.rng.randint(-9, 9)
        before = self.lists[name][i]
        if -len(before) <= j < len(before):
            self.at(name, i, [*before, before[j] + v])
        return f"try {{ {name}[{i}] = append({name}[{i}], {name}[{i}][{j}] + {v}); }} catch e {{ }}"

    def show(self):
        self.output.append(" ".join(str(self.folded(self.lists[name])) for name in "ab"))
        return "print(folded(a), folded(b));"

    def folded(self, held):
        h = len(held)
        for x in held:
            h = (h * 31 + len(x)) % 1000003
            for v in x:
                h = (h * 31 + v) % 1000003
        return h

    def steps(self):
        same = [self.append, self.share, self.store, self.repeat, self.longer, self.longer, self.named, self.named]
        return [*same, self.crossed, self.crossed, self.swapped, self.between, self.called, self.called, self.caught]

    def make(self):
        steps = self.steps()
        for _ in range(12):
            self.lines.append(self.rng.choice(steps)(self.rng.choice("ab")))
            if self.rng.random() < 0.3:
                self.lines.append(self.show())
        self.lines.append(self.show())
        return self


class Vectors(Nested):
    """The same with lists of vectors, of which kernels make others."""

    def __init__(self, seed):
        super().__init__(f"vectors {seed}")
        made = lambda row: "i64([" + ", ".join(map(str, row)) + "])"
        self.lines = [f"var {name} = list({', '.join(map(made, held))});" for name, held in self.lists.items()]

    def fused(self, name):
        """What is made of a row, stored in some turns over that row or another, which still has a name."""
        i, k = (self.index(name) % len(self.lists[name]) for _ in range(2))
        n, at, s = self.rng.randint(1, 4), len(self.lines), 0
        for t in range(n):
            x = self.lists[name][i]
            y = [2 * v + t for v in x]
            s = (s * 31 + sum(y)) % 1000003
            if t % 2:
                self.at(name, k, [v - 1 for v in y])
            s = (s * 31 + sum(x)) % 1000003
        self.output.append(str(s))
        turn = f"var x = {name}[{i}]; var y = 2 * x + t; s{at} = (s{at} * 31 + sum(y)) % 1000003; "
        turn += f"if t % 2 == 1 {{ {name}[{k}] = y - 1; }} s{at} = (s{at} * 31 + sum(x)) % 1000003;"
        return f"var s{at} = 0; for t in range({n}) {{ {turn} }} print(s{at});"

    def steps(self):
        same = [self.share, self.longer, self.named, self.swapped, self.between, self.crossed, self.called, self.caught]
        return [*same, self.fused, self.fused, self.fused]


def random_programs(toy, seeds, every_setting, program=Program):
    """At the top level and in a function. The evaluator is one setting, the others are taken in turn."""
    made = [program(seed).make() for seed in seeds]
    texts = ["\n".join(p.lines) for p in made]
    texts += ["def f() {\n" + textwrap.indent(t, "  ") + "\n}\nf();" for t in texts]
    texts = [p.functions + t for p, t in zip(made + made, texts)]
    settings = [SETTINGS if every_setting else in_turn(SETTINGS, i // 4 + i, 1) for i in range(len(texts))]
    for text, p, used, results in zip(texts, made + made, settings, run_parts(toy, list(zip(texts, settings)))):
        for setting, done in zip(used, results):
            if done.stdout.splitlines() != p.output:
                return f"{setting}\n{text}\n{done.stdout}{done.stderr}expected:\n" + "\n".join(p.output)


def appends_in_place(toy):
    """One copy at most, however many elements there are; in lists of lists, too, where code is compiled."""
    whole = "def f(n) { var xs = list(); for i in range(n) { xs = append(xs, i); } return len(xs); }\nprint(f(20000));"
    rows = """
def f(n) {
  var xs = list();
  for i in range(8) { var none: list[i64] = list(); xs = append(xs, none); }
  for i in range(n) { xs[i % 8] = append(xs[i % 8], i); xs[i % 8][i // 8] += 1; }
  var s = 0;
  for x in xs { s += len(x) + x[-1]; }
  return s;
}
print(f(2000));
"""
    vectors = """
def f(n) {
  var xs = list(zeros(50), ones(50));
  for i in range(n) { xs[i % 2][i // 2] += f64(i); xs[i % 2] = append(xs[i % 2], 1.0); }
  return sum(xs[0]) + len(xs[1]);
}
print(f(100));
"""
    programs = [(whole, ["--jit=never", "--jit=always"]), (rows, ["--jit=always"]), (vectors, ["--jit=always"])]
    for results, output in zip(run_parts(toy, programs), ["20000\n", "17972\n", "2600.0\n"]):
        for done in results:
            if done.stdout != output or done.copies > 1:
                return str(done)


def all_cases():
    yield "lists: random programs", lambda toy: random_programs(toy, of_this_build(DAILY), False)
    yield "lists: more random programs", lambda toy: random_programs(toy, range(NIGHTLY), True), "nightly"
    yield "lists: random programs that keep them", lambda toy: random_programs(toy, of_this_build(DAILY), False, Inner)
    yield "lists: more that keep them", lambda toy: random_programs(toy, range(NIGHTLY), True, Inner), "nightly"
    yield "lists: random programs of rows", lambda toy: random_programs(toy, of_this_build(DAILY), False, Nested)
    yield "lists: more of rows", lambda toy: random_programs(toy, range(NIGHTLY), True, Nested), "nightly"
    yield "lists: random programs of vectors", lambda toy: random_programs(toy, of_this_build(DAILY), False, Vectors)
    yield "lists: more of vectors", lambda toy: random_programs(toy, range(NIGHTLY), True, Vectors), "nightly"
    yield "lists: appends are in place", appends_in_place
