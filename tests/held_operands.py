# SPDX-License-Identifier: Apache-2.0
"""What an operation may write over its operand (a transform, positions, sorting, running sums) it writes over nobody
else's: an operand that is read later under another name, in a list, a tuple or a struct, as a view, by a caller, by the
next turn of a loop, by functions that captured it, or by the next input of a session keeps its elements. The peer is
the same operation of a tensor that is made for it alone."""
import math
import random

from programs import in_turn, run_inputs, run_parts, same

SETTINGS = [
    "--jit=never",
    "--jit=always",
    "--jit=always -O0",
    "--jit=always -O0 --unpack",
    "--jit=always -O0 --dynamic=on",
    "--jit=always -O0 --no-fuse",
]

# Of a matrix `x`; `KIND(n, m)` makes one. Sizes that are written over where nobody else holds the operand.
OPERATIONS = {
    "fft(x, axis = 0)": ("waves", (7, 5), (131, 9), (40, 24), (24, 7), (512, 12), (17, 9), (29, 8)),
    "ifft(x, axis = 0)": ("waves", (16, 9), (6, 33), (100, 17), (31, 12)),
    "fft2(x)": ("waves", (12, 30), (96, 11)),
    "rfft2(abs(x))": (
        "waves",
        (64, 22),
    ),
    "argsort(x)": ("values", (90, 100), (3, 3000)),
    "argsort(x, axis = 0)": ("values", (100, 90), (2000, 6)),
    "argsort(i64(x), descending = true)": (
        "values",
        (70, 130),
    ),
    "sort(x)": (
        "values",
        (90, 100),
    ),
    "cumsum(x, axis = 0)": (
        "values",
        (30, 40),
    ),
}
MAKERS = """
struct Box { var x; var n; }
def values(n, m) { return reshape(floor(50 * sin(1.0 * arange(n * m))), [n, m]); }
def waves(n, m) { var t = values(n, m); return t + 1i * cos(t); }
def made() { return KIND(N, M); }
def of(x) { return OPERATION; }
def is_made(x) { return all(x == made()); }
def is_of(z) { var x = made(); var want = of(x); return all(z == want) and is_made(x); }
"""
# Each function says whether everything is as it was, and the result what it should be.
HELD = {
    "name": "var y = made(); var w = y; var z = of(y); return is_made(w) and is_of(z);",
    "in_place": "var x = made(); var w = x; var z = OPERATION; return is_made(x) and is_made(w) and is_of(z);",
    "list": "var x = made(); var l = list(x, x); var z = OPERATION; return is_made(l[0]) and is_made(l[1]) and is_of(z);",
    "only_list": "var l = list(made()); var x = l[0]; var z = OPERATION; return is_made(l[0]) and is_of(z);",
    "tuple": "var x = made(); var t = (x, 1); var z = OPERATION; return is_made(t[0]) and is_of(z);",
    "struct": "var b = Box(made(), 1); var x = b.x; var z = OPERATION; return is_made(b.x) and is_of(z);",
    "struct_twice": "var b = Box(made(), 1); var c = b; var z = of(b.x); b.n = 2; return is_made(c.x) and is_of(z);",
    "view": "var x = made(); var r = reshape(x, [N * M]); var z = OPERATION;"
    " return all(r == reshape(made(), [N * M])) and is_of(z);",
    "of_view": "var r = reshape(made(), [N * M]); var x = reshape(r, [N, M]); var z = OPERATION;"
    " return all(r == reshape(made(), [N * M])) and is_of(z);",
    "part": "var x = made(); var p = x[1:3, ::2]; var t = transpose(x); var z = OPERATION;"
    " return all(p == made()[1:3, ::2]) and all(t == transpose(made())) and is_of(z);",
    "caller": "var y = made(); var z = through(y, 2); return is_made(y) and is_of(z);",
    "turns": "var x = made(); var good = true;"
    " for i in range(3) { var last = x; var z = OPERATION; good = good and is_of(z) and is_made(last); x = last; }"
    " return good and is_made(x);",
    "carried": "var x = made(); var last = x; var z = of(x);"
    " for i in range(2) { z = OPERATION; (x, last) = (last, x); } return is_made(x) and is_made(last) and is_of(z);",
    "branches": "var x = made(); var y = x; var z = of(x); if n > 0 { z = OPERATION; } else { y = x + 1; }"
    " return is_made(y) and is_of(z);",
    "captured": "var y = made(); var f = k => y * k; var g = k => of(y); var z = g(0);"
    " return is_made(f(1)) and is_of(z) and is_of(g(1));",
    "mapped": "var y = made(); var l = map(x => OPERATION, list(y, y)); return is_made(y) and is_of(l[0]) and is_of(l[1]);",
    "both": "var x = made(); var t = (OPERATION, x, OPERATION); return is_made(t[1]) and is_of(t[0]) and is_of(t[2]);",
    "tried": 'var x = made(); var z = of(x); try { z = OPERATION; fail(f"no {z[0, 0]}"); } catch e { }'
    " return is_made(x) and is_of(z);",
    "default": "return is_of(of_default()) and is_of(of_default()) and is_made(kept);",
    "global": "var z = of_kept(); return is_made(kept) and is_of(z) and is_of(of_kept());",
    "nobody": "var y = made(); return is_of(of(y));",
    "dying": "var x = made(); x = OPERATION; return is_of(x);",
}
MORE = """
def through(x, k) { if k == 0 { return OPERATION; } return through(x, k - 1); }
var kept = made();
def of_default(x = kept) { return OPERATION; }
def of_kept() { return of(kept); }
"""


def filled(text, operation, sizes):
    kind = OPERATIONS[operation][0]
    for name, value in (("KIND", kind), ("OPERATION", operation), ("N", sizes[0]), ("M", sizes[1])):
        text = text.replace(name, str(value))
    return text


def program(operation, sizes, names):
    functions = "".join(f"def by_{name}(n) {{ {HELD[name]} }}\n" for name in names)
    calls = "".join(f'print("{name}", by_{name}(1));\n' for name in names)
    return filled(MAKERS + MORE + functions + calls, operation, sizes)


def held_by(operation):
    """All ways to hold an operand, in programs of a few, with all sizes in turn."""
    sizes = OPERATIONS[operation][1:]

    def check(toy):
        names, parts, wanted = sorted(set(HELD) - {"dying"}), [], []
        random.Random(operation).shuffle(names)
        together = math.ceil(len(names) / max(len(sizes), 4))
        for first in range(0, len(names), together):
            some = ["dying", *names[first : first + together]]
            text = program(operation, sizes[len(parts) % len(sizes)], some)
            parts.append((text, in_turn(SETTINGS, len(parts), 1)))
            wanted.append("".join(f"{name} true\n" for name in some))
        for (text, settings), results, want in zip(parts, run_parts(toy, parts), wanted):
            for setting, done in zip(settings, results):
                if done.status or done.stdout != want:
                    return f"{setting}\n{done.stdout}{done.stderr}\n{text}"
        return None

    return check


def inputs_of_a_session(toy):
    """Variables of one input after the other."""
    for operation, (_, *sizes) in OPERATIONS.items():
        texts = [MAKERS, "var x = made();", "var l = list(x); var w = x;", "var z = OPERATION;", "z = OPERATION;"]
        texts += ["x = OPERATION;", "print(is_made(w), is_made(l[0]), is_of(z), is_of(x));"]
        texts += ["x = w; w = 0; l = 0; x = OPERATION; print(is_of(x));"]
        for flags in (["--jit=never"], ["--jit=always"]):
            shown = run_inputs(toy, flags, [filled(text, operation, sizes[0]) for text in texts])
            wrong = same(f"{operation} {flags}", [text.strip() for text in shown[-2:]], ["true true true true", "true"])
            if wrong:
                return f"{wrong}\n{shown}"
    return None


def all_cases():
    for operation in OPERATIONS:
        yield f"held: {operation}", held_by(operation)
    yield "inputs of a session", inputs_of_a_session
