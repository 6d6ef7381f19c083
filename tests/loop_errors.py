# SPDX-License-Identifier: Apache-2.0
"""Checks that fail in loops over elements, at the first, a middle and the last turn: compiled code prints what was
printed before, says the same error at the same place with the same chain of calls, and leaves variables as they were,
as the evaluator does."""
from programs import in_turn, run_parts

# Of all but the first, half in turn.
LEVELS = ["--jit=never", "--jit=always -O0", "--jit=always -O3", "--jit=always -O3 --unpack", "--dynamic=on"]
# What fails when `i` is `bad`; `x` has six elements, `k` is 0 when it fails and positive before.
CHECKS = {
    "index": "t += x[i + k];",
    "negative index": "t += x[-1 - i - k];",
    "least index": "t += x[where(i == bad, -9223372036854775807 - 1, i)];",
    "product past the integers": "t += x[where(i == bad, 4611686018427387904 * 2, 0)];",
    "stored index": "x[i + k] = 1;",
    "row of a matrix": "t += m[i + k, 1];",
    "column of a matrix": "m[1, i + k] = t;",
    "division": "n += 7 // (bad - i);",
    "remainder": "n += 7 % (bad - i);",
    "integer power": "n += 2 ** (bad - i - 1);",
    "assertion": "assert(i != bad);",
    "check with a text": 'check(i != bad, "turn " + str(i));',
    "sizes": "t += sum(ones(2) + ones(2 + (i == bad)));",
    "slice that does not fit": "x[0:2] = ones(2 + 2 * i64(i == bad));",
    "error in a call": "t += pick(x, i + k);",
    "error two calls deep": "t += twice(x, i + k);",
}
LOOPS = {
    "for": "for i in range(n0) { BODY }",
    "down": "for j in range(n0 - 1, -1, -1) { var i = n0 - 1 - j; BODY }",
    "while": "var i = 0; while i < n0 { BODY i += 1; }",
    "endless": "var i = 0; while true { if i == n0 { break; } BODY i += 1; }",
    "continue": "for i in range(n0) { if i % 7 == 6 { continue; } BODY }",
    "nest": "for o in range(2) { for i in range(n0) { if o == 1 { BODY } } }",
}
BEFORE = """def pick(x, i) { return x[i]; }
def twice(x, i) { return 2 * pick(x, i); }
"""


def program(body, loop, bad, turns):
    far = f"var k = where(i == bad, 1000, 0); {body}" if "+ k" in body or "- k" in body else body
    loop = LOOPS[loop].replace("BODY", f"seen += 1; {far}")
    return (
        BEFORE
        + f"def run(x, m, n0, bad) {{ var t = 0.0; var n = 0; var seen = 0; {loop} return (t, n, x, m, seen); }}\n"
        + f"var x = arange({turns}.0); var m = zeros({turns}, {turns});\n"
        + f'print("before"); print(run(x, m, {turns}, -5)[4]); print(run(x, m, {turns}, {bad}));\n'
    )


def one(number, check, body):
    def test(toy):
        parts, names = [], []
        for i, loop in enumerate(LOOPS):
            for bad in (0, 3, 5):
                parts.append((program(body, loop, bad, 6), in_turn(LEVELS, number + i, 2)))
                names.append(f"{loop}, turn {bad}")
        for name, (text, levels), (reference, *others) in zip(names, parts, run_parts(toy, parts)):
            if reference.status != 1 or not reference.stdout.startswith("before"):
                return f"{name}: {reference}\n{text}"
            for level, done in zip(levels[1:], others):
                if done[:3] != reference[:3]:
                    return f"{name}, {level}:\n{done.stdout}{done.stderr}evaluated:\n{reference.stdout}{reference.stderr}{text}"

    return test


def all_cases():
    for number, (check, body) in enumerate(CHECKS.items()):
        yield f"loop errors: {check}", one(number, check, body), "host"
