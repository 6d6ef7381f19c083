# SPDX-License-Identifier: Apache-2.0
"""Every built-in function with every size of its arguments unknown while it is compiled: what its type rule takes to be
equal is tested when it runs.

A row has arguments, an expression, sizes that fit and sizes that do not. The expression stands in a function without
declared sizes, in functions whose every size has a name of its own or whose equal sizes have one name, and behind
masks, so that only the data decides the sizes. Sizes that fit give what the evaluator gives for the expression alone;
sizes that do not fail, with one code in all modes. A function of the table of built-ins or of the library without a row
is a failure."""
import os
import pathlib
import re

from programs import run_inputs, without_signs
from symbolic_rows import PAIRS, STATEMENTS, TABLE, UNARY, WITHOUT_SIZES

SOURCES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODES = {
    "auto": [],
    "always": ["--jit=always"],
    "never": ["--jit=never"],
    "dynamic": ["--dynamic=on"],
    "unpacked": ["--unpack"],
}
# In turn; all of them at night.
DAILY = [("never", "always"), ("dynamic",), ("never", "auto"), ("unpacked",)]
LATE = {
    "chunk": "R0132",
    "halves": "R0105",
}  # what only the data decides: how many parts there are, and that a computed size is 1


class Row:
    def __init__(self, line, is_statement):
        name, arguments, text, good, bad = (part.strip() for part in line.split("|"))
        self.name = name
        self.body = text if is_statement else f"return {text};"
        self.good, self.bad = ([[int(n) for n in cell.split(",")] for cell in cells.split()] for cells in (good, bad))
        self.arguments = []
        for argument in arguments.split():
            parameter, kind = argument.split(":")
            dtype, sizes = kind[:-1].split("[")
            self.arguments.append((parameter, dtype, sizes.split(",")))

    def shapes(self, cell):
        rest = list(cell)
        return [[rest.pop(0) for _ in sizes] for _, _, sizes in self.arguments]

    def body_of(self, text):
        return re.sub(r"\bm0\((\w+(?:\.T)?)\)", r"\1.shape[0]", text)


def rows():
    out = [
        Row(
            f"{name} | x:{'c128' if name in ('real', 'imag', 'conj', 'angle', 'abs', 'abs2') else 'f64'}[n] | {name}(x) | 3 1 0 |",
            False,
        )
        for name in UNARY.split()
    ]
    out += [
        Row(f"{name} | x:f64[n] y:f64[m] | {name}(x, y) | 3,3 3,1 1,3 1,1 0,0 0,1 | 3,2 2,3 0,2", False)
        for name in PAIRS.split()
    ]
    for table, is_statement in ((TABLE, False), (STATEMENTS, True)):
        out += [Row(line, is_statement) for line in table.strip().splitlines()]
    return out


def literal(dtype, shape, seed):
    """Values of a shape; matrices have a large diagonal."""
    count = 1
    for n in shape:
        count *= n
    if count == 0:
        return f"zeros([{', '.join(map(str, shape))}], dtype={dtype if dtype != 'bool' else 'f64'})" + (
            " > 1" if dtype == "bool" else ""
        )

    def value(k, index):
        if dtype == "bool":
            return "true" if k % 3 != 1 else "false"
        if dtype == "i64":
            return str((k + seed) % 2)
        x = ((7 * k + 3 * seed) % 11) / 16 + 0.25 + (4 if len(index) > 1 and index[-1] == index[-2] else 0)
        return f"{x}" if dtype == "f64" else f"{x}{'+' if k % 2 else '-'}{0.5 + k / 8}i"

    def nested(prefix, k):
        if len(prefix) == len(shape):
            return value(k, prefix)
        return (
            "[" + ", ".join(nested(prefix + [i], k * shape[len(prefix)] + i) for i in range(shape[len(prefix)])) + "]"
        )

    text = nested([], 0)
    return f"{dtype}({text})" if dtype in ("i64", "c128") else text


def declared(row, tied):
    """Parameters with a name for every size; `tied`: one name for sizes that are equal in the first cell that fits."""
    names, first = {}, (row.good or row.bad)[0]
    flat, parameters = iter(first), []
    for i, (parameter, dtype, sizes) in enumerate(row.arguments):
        own = []
        for j, _ in enumerate(sizes):
            n = next(flat)
            own.append(names.setdefault(n, f"N{n}") if tied and n > 1 else f"S{i}_{j}")
        parameters.append(f"{parameter}: {dtype}[{', '.join(own)}]")
    return ", ".join(parameters)


def late(row, body):
    """The body, of copies that are behind masks that are true everywhere: only the data decides how many elements they
    select."""
    text = ""
    for parameter, _, sizes in row.arguments:
        text += f"var {parameter}_ = {parameter}; "
        for axis in range(len(sizes)):
            text += f"{parameter}_ = {parameter}_[{':, ' * axis}ones({parameter}.shape[{axis}]) > 0]; "
        body = re.sub(rf"(?<![.\w\"]){parameter}\b(?!\s*=[^=])(?![\w\"])", f"{parameter}_", body)
    return text + body


def forms(row, number):
    """A row's forms: name, definition, and the function's name."""
    body, names = row.body_of(row.body), ", ".join(p for p, _, _ in row.arguments)
    yield "undeclared", f"def u{number}({names}) {{ {body} }}", f"u{number}"
    yield "declared", f"def d{number}({declared(row, False)}) {{ {body} }}", f"d{number}"
    yield "tied", f"def t{number}({declared(row, True)}) {{ {body} }}", f"t{number}"
    yield "late", f"def l{number}({names}) {{ {late(row, body)} }}", f"l{number}"


def outcome(text):
    """An error's code, or what was printed without blanks."""
    error = re.search(r"error\[(\w+)\]", text)
    if error:
        return error.group(1)
    return re.sub(r"\s+", "", text)


def same(a, b):
    number = re.compile(r"-?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)")
    a, b = without_signs(a), without_signs(b)
    if number.sub("#", a.replace("+", " ")) != number.sub("#", b.replace("+", " ")):
        return False
    return all(
        x == y or abs(float(x) - float(y)) <= 1e-9 * max(1, abs(float(y)))
        for x, y in zip(number.findall(a), number.findall(b))
    )


def program(row, number, left_out=None):
    """Inputs, and for each its form and cell: definitions have no cell. Sizes that fit and sizes that do not take
    turns."""
    lines, kinds = [], []
    cells = [(cell, True) for cell in row.good] + [(cell, False) for cell in row.bad]
    cells = cells[::2] + cells[1::2]
    for form, definition, name in forms(row, number):
        if form == left_out:
            continue
        lines.append(definition)
        kinds.append((form, None))
        for i, (cell, _) in enumerate(cells):
            arguments = (
                literal(dtype, shape, k)
                for k, ((_, dtype, _), shape) in enumerate(zip(row.arguments, row.shapes(cell)))
            )
            lines.append(f"print({name}({', '.join(arguments)}));")
            kinds.append((form, i))
    return lines, kinds, cells


CODE = re.compile(r"[A-Z]\d{4}")
REFUSALS = {
    "T0336",
    "T0339",
}  # of definitions: what is taken to be equal does not follow from names; the number of axes or parts is not known


def judged(name, cells, results):
    """What is wrong with the outcomes of a row: results[mode] has the outcomes by form and cell. The reference is
    evaluated, with all sizes known."""
    problems = []
    reference = {
        cell: text
        for (form, cell), text in results.pop("reference").items()
        if form == "undeclared" and cell is not None
    }
    for cell, text in reference.items():
        if bool(CODE.fullmatch(text)) == cells[cell][1]:
            problems.append(f"reference, sizes {cells[cell]}: {text}")
    codes = {}
    for mode, answers in results.items():
        for (form, cell), text in answers.items():
            definition = answers[form, None]
            if cell is None and definition and (form in ("undeclared", "late") or definition not in REFUSALS):
                problems.append(f"{mode}, {form}: the definition gives {definition}")
            if cell is None or definition:
                continue
            sizes, fits = cells[cell]
            is_error = bool(CODE.fullmatch(text))
            where = f"{mode}, {form}, sizes {sizes}: {text[:200]}"
            mayFail = (
                form in ("declared", "tied")
                or (form == "late" and 1 in sizes and text == "R0105")
                or (form == "late" and (text in REFUSALS or text == LATE.get(name)))
            )
            if not text or text.startswith("X"):
                problems.append(f"{where} (a fault)")
            elif not fits and not is_error:
                problems.append(f"{where}, no error")
            elif fits and is_error and not mayFail:
                problems.append(f"{where}, an error")
            elif fits and not is_error and not same(text, reference[cell]):
                problems.append(f"{where}, not {reference[cell][:200]}")
            if is_error:
                codes.setdefault((form, cell), {}).setdefault(text, mode)
    return problems + [
        f"{form}, sizes {cells[cell][0]}: codes {found}" for (form, cell), found in codes.items() if len(found) > 1
    ]


def check(toy, chosen, modes=MODES, every_form=True):
    """Some rows in all modes, each mode in one session; with declared sizes of one kind or, in `every_form`, of
    both."""
    programs = [program(row, i, None if every_form else ("tied", "declared")[i % 2]) for i, row in enumerate(chosen)]
    outcomes = [{} for _ in chosen]
    for mode, flags in {"reference": ["--jit=never", "--dynamic=off"], **modes}.items():
        answers = run_inputs(toy, flags, [line for lines, _, _ in programs for line in lines])
        rest = iter(answers)
        for found, (_, kinds, _) in zip(outcomes, programs):
            found[mode] = {kind: outcome(next(rest)) for kind in kinds}
    problems = []
    for row, found, (lines, _, cells) in zip(chosen, outcomes, programs):
        if wrong := judged(row.name, cells, found):
            problems += [f"{row.name}: {row.body}", *wrong]
    return "\n".join(problems) or None


def missing(toy):
    """Functions of the table and of the library that no row calls."""
    with open(os.path.join(SOURCES, "irgen", "Builtins.def")) as file:
        names = re.findall(r"^TOY_BUILTIN\(([a-zA-Z]\w*),", file.read(), re.M)
    for path in sorted(pathlib.Path(SOURCES, "lib", "toy").glob("*.toy")):
        names += re.findall(r"^def ([a-z]\w*)\(", path.read_text(), re.M)
    have = {row.name for row in rows()} | WITHOUT_SIZES
    return "\n".join(f"no row calls {name}" for name in names if name not in have) or None


SHARD = 10


def all_cases():
    yield "symbolic sizes: every function has a row", missing
    every = rows()
    for begin in range(0, len(every), SHARD):
        chosen, modes = every[begin : begin + SHARD], DAILY[begin // SHARD % len(DAILY)]
        name = f"symbolic sizes: {chosen[0].name} to {chosen[-1].name} ({begin // SHARD})"
        daily = {mode: MODES[mode] for mode in modes}
        yield name, lambda toy, c=chosen, m=daily: check(toy, c, m, False), "long"
        yield f"{name} in every mode", lambda toy, c=chosen: check(toy, c), "nightly"


if __name__ == "__main__":
    import sys

    problem = missing(sys.argv[1])
    chosen = [row for row in rows() if len(sys.argv) < 3 or row.name in sys.argv[2:]]
    for begin in range(0, len(chosen), SHARD):
        problem = "\n".join(filter(None, [problem, check(sys.argv[1], chosen[begin : begin + SHARD])]))
    print(problem or f"{len(chosen)} rows hold")
