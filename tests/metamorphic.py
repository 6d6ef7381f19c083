# SPDX-License-Identifier: Apache-2.0
"""Programs that mean the same: rewritten token by token, they print the same bits, end with the same status, and the
same complex arithmetic is recognised. Rewriters: blanks, line breaks and comments between tokens; other names; brackets
around operands; definitions in another order; statements split in two. By day all of these at once, for half of the
programs in the release build and for the others under sanitizers, at night each alone. Programs: tests/e2e, examples,
and random ones."""
import pathlib
import random
import re
import subprocess
import tempfile
import zlib

import generator.random_programs as random_programs
from programs import is_sanitized, run_parts

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODES = ["--jit=auto", "--jit=always -O0", "--jit=never", "--jit=always -O0 --dynamic=on"]
OPERATORS = {
    "Plus",
    "Minus",
    "Star",
    "Slash",
    "SlashSlash",
    "Percent",
    "StarStar",
    "Less",
    "Greater",
    "LessEqual",
    "GreaterEqual",
    "EqualEqual",
    "NotEqual",
    "And",
    "Or",
}
ASSIGNMENTS = {"Equal", "PlusEqual", "MinusEqual", "StarEqual", "SlashEqual", "AtEqual"}
OPEN, CLOSE = {"LParen", "LBracket", "LBrace"}, {"RParen", "RBracket", "RBrace"}
ATTRIBUTES = {"T", "H", "real", "imag", "shape", "dtype", "dynamic", "static", "buckets", "nan", "inf", "complex"}
NEW_NAMES = [
    "reload",
    "printer",
    "пик",
    "s0",
    "unused0_0",
    "any0_1",
    "payload",
    "d0",
    "α",
    "read_binary_",
    "s1",
    "loads",
    "__top",
    "größe",
    "any0_0",
    "sinus",
    "i_",
    "defer",
    "ifs",
    "d1",
    "ans_",
    "product",
    "orb",
    "nota",
    "trueish",
    "変数",
]
NOISE = [
    " ",
    "  ",
    "\n",
    "\t",
    " # load(\n",
    " # y x a b def f(x) { return load; }\n",
    "\n# * * + - @\n",
    ' # "text\n',
    " # peek () var = ;\n",
    "\r\n",
]


class Token:
    def __init__(self, kind, text):
        self.kind, self.text = kind, text


def tokens_of(toy, path):
    done = subprocess.run(
        [toy, "--emit=tokens", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    out = []
    for line in done.stdout.splitlines():
        _, kind, text = line.split(" ", 2) if line.count(" ") > 1 else (*line.split(" "), "")
        if kind != "End":
            out.append(Token(kind, text))
    return out


def spelled(tokens, between=lambda before, after: " "):
    """The program: what is between two tokens is free but for the adjoint, which stands directly behind its value, and
    docstrings, which end their lines."""
    out = ""
    for i, token in enumerate(tokens):
        if i and token.kind != "Adjoint":
            out += "\n" if tokens[i - 1].kind == "DocComment" else between(tokens[i - 1], token)
        out += token.text
    return out + "\n"


def with_noise(tokens, rng):
    return spelled(tokens, lambda before, after: "".join(rng.choice(NOISE) for _ in range(rng.choice([1, 1, 2]))))


def declared(tokens):
    """Names of variables, parameters, functions and sizes of signatures; not those of structs and their members, which
    printing shows."""
    functions, variables, members = set(), set(), set()
    for i, token in enumerate(tokens):
        before = tokens[i - 1].kind if i else ""
        if token.kind == "Struct":
            end = next(j for j in range(i, len(tokens)) if tokens[j].kind == "RBrace")
            members |= {t.text for t in tokens[i:end] if t.kind == "Identifier"}
        if token.kind == "Identifier" and before == "Def":
            functions.add(token.text)
            depth = 0
            for j in range(
                i + 1, len(tokens)
            ):  # parameters stand before `,`, `)`, `:` or `=`; the rest of a signature are types and defaults
                depth += (tokens[j].kind in OPEN) - (tokens[j].kind in CLOSE)
                if depth == 0:
                    break
                if (
                    depth == 1
                    and tokens[j].kind == "Identifier"
                    and tokens[j + 1].kind in ("Comma", "RParen", "Colon", "Equal")
                    and tokens[j - 1].kind in ("LParen", "Comma", "Identifier")
                ):
                    variables.add(tokens[j].text)
                if (
                    depth == 2
                    and tokens[j].kind == "Identifier"
                    and tokens[j].text != "_"  # any size
                    and tokens[j - 2].kind == "Identifier"
                    and tokens[j - 2].text != "list"
                    and tokens[j - 1].kind == "LBracket"
                    and tokens[j - 3].kind == "Colon"
                ):
                    variables.add(tokens[j].text)  # the first size of a type
        if token.kind == "Identifier" and before in ("Var", "For"):
            variables.add(token.text)
        if token.kind == "LParen" and before == "Var":
            end = next(j for j in range(i, len(tokens)) if tokens[j].kind == "RParen")
            variables |= {t.text for t in tokens[i:end] if t.kind == "Identifier"}
    return functions, variables - members - functions, members


def lambdas(tokens):
    """Positions of the brackets around parameters of lambdas."""
    out, stack = set(), []
    for i, token in enumerate(tokens):
        if token.kind == "LParen":
            stack.append(i)
        elif token.kind == "RParen" and stack:
            begin = stack.pop()
            out |= {begin} if i + 1 < len(tokens) and tokens[i + 1].kind == "FatArrow" else set()
    return out


def keyword_arguments(tokens, functions):
    """Positions of names of arguments of functions that the program does not define."""
    out, stack, parameters = set(), [], lambdas(tokens)
    for i, token in enumerate(tokens):
        if token.kind in OPEN:
            own = i and token.kind == "LParen" and (tokens[i - 1].text in functions or tokens[i - 2].kind == "Def")
            own = own or i in parameters
            stack.append((token.kind, own, tokens[i - 1].kind if i else ""))
        elif token.kind in CLOSE and stack:
            stack.pop()
        elif (
            token.kind == "Identifier"
            and stack
            and stack[-1][0] == "LParen"
            and not stack[-1][1]
            and i + 1 < len(tokens)
            and tokens[i + 1].kind == "Equal"
        ):
            out.add(i)
    return out


def with_other_names(tokens, rng, taken):
    functions, variables, members = declared(tokens)
    taken = taken | {name for t in tokens if t.kind == "Format" for name in re.findall(r"\w+", t.text)}
    old = sorted(
        (functions | variables) - ATTRIBUTES - members - taken
    )  # what shadows a built-in function means something under its name
    present = {t.text for t in tokens} | taken
    new = [name for name in NEW_NAMES if name not in present]
    rng.shuffle(new)
    new += [
        f"{name}{i}"
        for i in range(2, 2 + len(old) // len(NEW_NAMES) + 1)
        for name in NEW_NAMES
        if f"{name}{i}" not in present
    ]
    map_ = dict(zip(old, new))
    fixed = keyword_arguments(tokens, functions)
    out = []
    for i, token in enumerate(tokens):
        member = (
            i
            and tokens[i - 1].kind == "Dot"
            and not (token.text in functions | variables and i + 1 < len(tokens) and tokens[i + 1].kind == "LParen")
        )
        keep = token.kind != "Identifier" or i in fixed or member
        out.append(token if keep else Token(token.kind, map_.get(token.text, token.text)))
    return out


def with_brackets(tokens, rng, _):
    functions, variables, _ = declared(tokens)
    out = []
    for i, token in enumerate(tokens):
        behind, after = tokens[i - 1] if i else None, tokens[i + 1] if i + 1 < len(tokens) else None
        operand = (
            token.kind == "Identifier"
            and token.text in variables
            and behind
            and after
            and (behind.kind in OPERATORS | ASSIGNMENTS | {"Return"})
            and after.kind not in ("LParen", "Equal")
        )
        out += [Token("LParen", "("), token, Token("RParen", ")")] if operand else [token]
    return out


def blocks_of_functions(tokens):
    """(begin, end) of definitions with what belongs to them."""
    out, i, level = [], 0, 0
    while i < len(tokens):
        level += (tokens[i].kind == "LBrace") - (tokens[i].kind == "RBrace")
        if tokens[i].kind == "Def" and level == 0 and (i == 0 or tokens[i - 1].kind != "Extern"):
            begin = i
            while begin and tokens[begin - 1].kind == "DocComment":
                begin -= 1
            end = next(j for j in range(i, len(tokens)) if tokens[j].kind == "LBrace")
            depth = 0
            while True:
                depth += (tokens[end].kind == "LBrace") - (tokens[end].kind == "RBrace")
                end += 1
                if depth == 0:
                    break
            if begin == 0 or tokens[begin - 1].kind in ("Semicolon", "RBrace"):  # no attributes
                out.append((begin, end))
            i = end
        else:
            i += 1
    return out


def with_other_order(tokens, rng, taken):
    blocks = blocks_of_functions(tokens)
    names = [next(tokens[j + 1].text for j in range(begin, end) if tokens[j].kind == "Def") for begin, end in blocks]
    if len(set(names)) != len(names) or set(names) & taken:  # the order is what such programs are about
        return None
    order = list(range(len(blocks)))
    rng.shuffle(order)
    out, at = [], 0
    for (begin, end), other in zip(blocks, order):
        out += tokens[at:begin] + tokens[slice(*blocks[other])]
        at = end
    return out + tokens[at:]


def with_split_statements(tokens, rng, _):
    """`var a = b * c - d;` as `var t = b * c; var a = t - d;`."""
    functions, variables, _ = declared(tokens)
    out, i, count = [], 0, 0
    while i < len(tokens):
        out.append(tokens[i])
        if tokens[i].kind == "Var" and tokens[i + 1].kind == "Identifier" and tokens[i + 2].kind == "Equal":
            end = next(j for j in range(i, len(tokens)) if tokens[j].kind == "Semicolon")
            depth, split = 0, None
            for j in range(i + 3, end):
                depth += (tokens[j].kind in OPEN) - (tokens[j].kind in CLOSE)
                if depth == 0 and tokens[j].kind in OPERATORS and tokens[j].kind not in ("Plus", "Minus", "Star"):
                    split = None
                    break
                if (
                    depth == 0
                    and tokens[j].kind in ("Plus", "Minus")
                    and split is None
                    and tokens[j - 1].kind in ("Identifier", "RParen", "RBracket")
                    and j > i + 4
                ):
                    split = j
            left = tokens[i + 3 : split] if split else []
            if (
                split
                and any(t.text in variables for t in left)
                and not any(
                    t.kind in ("And", "Or", "Not", "FatArrow") or t.text in ("load", "at") for t in tokens[i:end]
                )
            ):
                count += 1
                name = Token("Identifier", f"part_{count}")
                out += [
                    name,
                    Token("Equal", "="),
                    *left,
                    Token("Semicolon", ";"),
                    tokens[i],
                    tokens[i + 1],
                    tokens[i + 2],
                    name,
                ]
                i = split
                continue
        i += 1
    return out if count else None


REWRITERS = {
    "brackets": with_brackets,
    "split": with_split_statements,
    "order": with_other_order,
    "names": with_other_names,
}
NOISY, EVERYTHING = "blanks and comments", "everything"
ALONE = [NOISY, *REWRITERS]


def rewritten(tokens, kind, seed, taken):
    """The program after one rewriter, or after all of them in turn; None where there is nothing to rewrite."""
    rng = random.Random(f"{seed} {kind}")
    for name, rewrite in REWRITERS.items():
        if kind == EVERYTHING:
            tokens = rewrite(tokens, rng, taken) or tokens
        elif kind == name:
            tokens = rewrite(tokens, rng, taken)
    return tokens and (with_noise(tokens, rng) if kind in (NOISY, EVERYTHING) else spelled(tokens))


def compare(toy, text, label, modes, kinds):
    """The program and what rewriters make of it, in one process; `kinds` are pairs of a seed and what is rewritten."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "tokens.toy")
        path.write_text(text)
        tokens = tokens_of(toy, path)
    if any(t.kind in ("Import", "Extern") or t.text == "clock" for t in tokens):
        return None
    texts = [(kind, rewritten(tokens, kind, seed, builtin_names(toy))) for seed, kind in kinds]
    others = [(kind, other) for kind, other in texts if other is not None]
    # The program as it is, but for lines that tell toy-check something.
    whole = re.sub(r"^# (-----|CONFIG:).*$", "#", text, flags=re.M)
    parts = [(t, [f"{mode} --precision=full" for mode in modes]) for t in (whole, *(t for _, t in others))]
    bases, *runs = run_parts(toy, parts)
    for (name, other), results in zip(others, runs):
        for mode, base, got in zip(modes, bases, results):
            pairs = [
                ("status", base.status, got.status),
                ("output", base.stdout, got.stdout),
                ("recognized", sorted(base.recognized), sorted(got.recognized)),
            ]
            if shown := "\n".join(f"{what}: {a!r}\n  became {b!r}" for what, a, b in pairs if a != b):
                return f"{label}, {name}, {mode}:\n{shown[:3000]}\n{got.stderr[:1500]}\n--- rewritten\n{other[:3000]}"
    return None


_builtins = {}


def builtin_names(toy):
    if toy not in _builtins:
        searches = "".join(f'?"{letter}"\n' for letter in "aeiourst")
        listed = subprocess.run(
            [toy, "-"], input=searches, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60
        ).stdout
        _builtins[toy] = {line.split()[0] for line in listed.splitlines() if line.strip()}
    return _builtins[toy]


def programs():
    for folder in ("tests/e2e", "examples"):
        for path in sorted((ROOT / folder).rglob("*.toy")):
            if "# expect:" in path.read_text():
                yield str(path.relative_to(ROOT)), path.read_text()


def at_once(toy, text, label, mode, seed):
    """All rewriters together; if that is another program, the one that makes it so is named."""
    if problem := compare(toy, text, label, [mode], [(seed, EVERYTHING)]):
        return alone(toy, text, label, mode, seed) or problem


def alone(toy, text, label, mode, seed):
    return compare(toy, text, label, [mode], [(seed, kind) for kind in ALONE])


def random_case(first, count):
    """Several random programs as one, with names of their own."""

    def check(toy):
        whole = ""
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(first, first + count):
                path = pathlib.Path(folder, "one.toy")
                path.write_text(random_programs.Generator(seed).program())
                tokens = tokens_of(toy, path)
                functions, variables, members = declared(tokens)
                whole += spelled(
                    [
                        Token(t.kind, f"{t.text}_{seed}")
                        if t.kind == "Identifier" and t.text in functions | variables and tokens[i - 1].kind != "Dot"
                        else t
                        for i, t in enumerate(tokens)
                    ]
                )
        return alone(toy, whole, f"random programs from {first}", MODES[first // count % len(MODES)], first)

    return check


SMALL = {
    "parts of a product": "var a = [1, 2]; var b = [3, 4]; var c = [5, 6]; var d = [7, 8]; var re = a*c - b*d; var im = a*d + b*c; print(re, im);",
    "parts beside text": 'var a = [1, 2]; var b = [3, 4]; var c = [5, 6]; var d = [7, 8]; var re = a*c - b*d; print(a*d + b*c, "load"); print(re);',
    "an argument that is not read": "def f(x, y) { return x + 1; } print(f([1, 2], ones(2))); print(f([1, 2], ones(3))); print(f([1, 2], ones(4)));",
    "a variable read by functions": "var n = 0; def peek() { return n; } def twice() { return peek() + peek(); } for i in range(3) { n = i; print(peek(), twice()); }",
    "declared sizes": "def f(x: f64[N], y: f64[N]) -> f64[N] where N > 0 { var half = N // 2; return x[:half].sum() * y; } print(f([1, 2], [3, 4])); print(f(ones(5), ones(5)));",
    "two sizes": "def f(x: f64[N, M], y) { var k = N + M; return x * k + y; } for i in range(1, 4) { print(f(ones(i, i + 1), zeros(i + 1))); }",
}


# Programs of hundreds of kernels.
LONG = (
    "across-rows.toy",
    "folds-in-groups.toy",
    "products-by-vectors.toy",
    "spaced-elements.toy",
    "streamed-tiles.toy",
)
LONG += ("sums-of-transposes.toy",)


def night(is_night):
    return ["nightly"] if is_night else []


def all_cases():
    for label, text in programs():
        i = zlib.crc32(label.encode())  # the same, whatever other programs there are
        arguments = (text, label, MODES[i % len(MODES)], i)
        yield f"metamorphic: {label}", lambda toy, a=arguments: at_once(toy, *a), *night(
            i % 2 != is_sanitized() or label.endswith(LONG)
        )
        yield f"metamorphic: {label}, each alone", lambda toy, a=arguments: alone(toy, *a), "nightly"
    for i, (label, text) in enumerate(SMALL.items()):
        kinds = [(100 * i, kind) for kind in ALONE]
        kinds += [(100 * i + more, kind) for more in (1, 2) for kind in (NOISY, "names")]
        arguments = (text, label, MODES, kinds)
        yield f"metamorphic: {label}", lambda toy, a=arguments: compare(toy, *a)
    for first in range(7000, 7040, 10):
        yield f"metamorphic: random programs from {first}", random_case(first, 10)
