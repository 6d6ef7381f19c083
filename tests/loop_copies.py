# SPDX-License-Identifier: Apache-2.0
"""How often compiled code copies a tensor that a program stores into: never, if nobody else holds it; once, outside of
the loop, if somebody does, whatever second names it has. Values are the evaluator's, the numbers are exact."""
from programs import run_parts

LEVELS = ["--jit=always -O0", "--jit=always -O3", "--jit=always -O3 --unpack"]
FILL = "def fill(x, v) { for i in range(x.shape[0]) { x[i] = v + i; } return x; }\n"
# name: (program, copies at the top level and in calls together; several: by level)
PROGRAMS = {
    "nobody else": ("def f(n) { var x = zeros(n); for i in range(n) { x[i] = i; } return x; } print(f(5));", 0),
    "a second name before": (
        "def f(n) { var x = ones(n); var y = x; for i in range(n) { x[i] = i; } return (x, y); } print(f(5));",
        1,
    ),
    "a second name that is not read": (
        "def f(n) { var x = ones(n); var y = x; for i in range(n) { x[i] = i; } return x; } print(f(5));",
        0,
    ),
    "a second name in the loop": (
        "def f(n) { var x = ones(n); var y = x; for i in range(n) { y = x; x[i] = 9; } return (x, y); } print(f(4));",
        4,
    ),
    "a second name behind": (
        "def f(n) { var x = ones(n); for i in range(n) { x[i] = i; } var y = x; return (x, y); } print(f(5));",
        0,
    ),
    "a variable of the top level": (FILL + "var a = ones(4); var b = fill(a, 2.0); print(a, b);", 1),
    "the variable that gets the result": (FILL + "var a = ones(4); a = fill(a, 2.0); print(a);", 1),
    "what nobody keeps": (FILL + "print(fill(ones(4), 2.0));", 0),
    "two parameters that are one": (
        "def f(x, y) { for i in range(3) { x[i] = y[2 - i]; } return (x, y); } var a = [1, 2, 3]; print(f(a, a), a);",
        1,
    ),
    "swapped names": (
        "def f(n) { var x = zeros(3); var y = ones(3); for i in range(n) { x[i % 3] += y[0]; (x, y) = (y, x); }"
        " return (x, y); } print(f(7));",
        0,
    ),
    "a member": (
        "struct P { var x; var n; } def f(p) { for i in range(4) { p.x[i] = p.n; } return p; }"
        " var p = P(zeros(4), 7.0); var q = f(p); print(p, q);",
        1,
    ),
    "a member of a struct made here": (
        "struct P { var x; var n; } def f(n) { P p = {zeros(4), n}; for i in range(4) { p.x[i] = p.n; } return p; }"
        " print(f(7.0));",
        0,
    ),
    "elements of a tuple": (
        "def f(n) { var (x, y) = (zeros(3), ones(3)); for i in range(3) { x[i] = y[i]; y[i] = 5; } return (x, y); }"
        " print(f(1));",
        0,
    ),
    "a view of the parts": (
        "def f(n) { var z = zeros(4, dtype=c128); var r = view_as_real(z);"
        " for i in range(4) { z[i] = complex(i, 1.0); } return (z, r); } print(f(1));",
        (1, 1, 0),  # real and imaginary parts are tensors of their own, from which the view is made
    ),
    "recursion that returns its argument": (
        "def f(x, n) { if n == 0 { return x; } x[n] = n; return f(x, n - 1); } print(f(zeros(4), 3));",
        0,
    ),
    "recursion that keeps it": (
        "def f(x, n) { if n == 0 { return sum(x); } var y = x; x[n] = n; return f(x, n - 1) + sum(y); }"
        " print(f(zeros(4), 3));",
        3,
    ),
    "recursion that leaves it as it was": (
        "def f(x, n) { if n == 0 { return x[0]; } var s = 0.0; for i in range(4) { var old = x[i]; x[i] = n;"
        " s += f(x, n - 1); x[i] = old; } return s; } print(f(zeros(4), 3));",
        0,
    ),
    "recursion that takes back what was compared": (
        "def f(b: i64[N], n) { if n == 0 { return sum(b); } var s = 0; for i in range(N) { if b[i] == 0 { b[i] = n;"
        " s += f(b, n - 1); b[i] = 0; } } return s; } print(f(zeros(4, dtype=i64), 3));",
        0,
    ),
    "recursion that stores last what was there": (
        "def f(x: i64[N], n) { if n < 0 { return sum(x); } var old = x[n]; x[n] = 7; var s = f(x, n - 1) + f(x, n - 2);"
        " x[n] = old; return s; } print(f(zeros(4, dtype=i64), 3));",
        0,
    ),
    "recursion that writes its own place": (
        "def f(x: i64[N], n) { if n == N { return sum(x); } var s = 0; for i in range(2) { x[n] = i; s += f(x, n + 1); }"
        " return s; } print(f(zeros(4, dtype=i64), 0));",
        0,
    ),
    "recursion that swaps back": (
        "def f(x: i64[N], n) { if n == N { return x[0]; } var s = 0; for i in range(n, N) { var t = x[n]; x[n] = x[i];"
        " x[i] = t; s += f(x, n + 1); t = x[n]; x[n] = x[i]; x[i] = t; } return s; } print(f(arange(4), 0));",
        0,
    ),
    "recursion that takes back something else": (
        "def f(b: i64[N], n) { if n == 0 { return sum(b); } var s = 0; for i in range(N) { if b[i] == 0 { b[i] = n;"
        " s += f(b, n - 1); b[i] = 1; } } return s; } print(f(zeros(2, dtype=i64), 2));",
        1,
    ),
    "nested loops over rows": (
        "def f(n) { var x = zeros(n, n); for i in range(n) { for j in range(n) { x[i, j] = i * j; } } return x; }"
        " print(f(3));",
        0,
    ),
    "a row of it": (
        "def f(n) { var x = ones(n, n); for i in range(n) { var r = x[i]; r[0] = 5; x[i, 1] = r[0]; } return x; }"
        " print(f(3));",
        0,
    ),
    "a branch that stores": (
        "def f(x, c) { if c { x[0] = 9; } return x; } var a = ones(3); print(f(a, true), f(a, false), a);",
        1,
    ),
    "a closure's own copy": (
        "def f(n) { var x = ones(3); var g = i => x[i]; for i in range(3) { x[i] = g(i) + i; } return (x, g(2)); }"
        " print(f(1));",
        1,
    ),
    "slices": ("def f(n) { var x = zeros(6); for i in range(3) { x[2*i:2*i+2] = [i, i]; } return x; } print(f(1));", 0),
    "structs in a list": (
        "struct P { var x; var v; } def f(n) { var p = list(P(1.0, 2.0), P(3.0, 4.0)); for t in range(n) {"
        " for i in range(2) { var b = p[i]; b.x = b.x + b.v; p[i] = b; } } return p[0].x + p[1].x; } print(f(5));",
        0,
    ),
    "a list that grows and changes": (
        "def f(n) { var x = list(0); for i in range(n) { x = append(x, i); for j in range(i) { x[j] += 1; } }"
        " return x[0] + x[n]; } print(f(50));",
        0,
    ),
    "a list with a second name": (
        "def f(n) { var x = list(1, 2, 3); var y = x; for i in range(3) { x[i] = n; } return x[0] + y[0]; }"
        " print(f(7), f(8));",
        2,
    ),
    "a stack": (
        "def f(n) { var x = list(0); for i in range(n) { x = append(append(x, i), 1); x[-1] = x[-2] + 1; x = x[:-1]; }"
        " return len(x) + x[-1]; } print(f(50));",
        0,
    ),
    "a list that leaves": (
        "def f(x) { for i in range(len(x)) { x[i] = x[i] + 1; } return x; } print(f(f(list(1, 2, 3))));",
        0,
    ),
    "the top level's loop": ("var x = zeros(5); for i in range(5) { x[i] = i; } print(x);", 1),  # undo has the old one
    "the top level's loop, a second name": (
        "var x = zeros(5); var y = x; for i in range(5) { x[i] = i + 1; } print(x, y);",
        1,
    ),
}


def one(name, program, copies):
    def check(toy):
        [[evaluated, *compiled]] = run_parts(toy, [(program, ["--jit=never", *LEVELS])])
        wanted = copies if isinstance(copies, tuple) else [copies] * len(LEVELS)
        for level, done, want in zip(LEVELS, compiled, wanted, strict=True):
            if (done.status, done.stdout) != (0, evaluated.stdout):
                return f"{level}: {done.stdout}{done.stderr} for\n{evaluated.stdout}{evaluated.stderr}"
            if done.copies != want:
                return f"{level}: {done.copies} copies, not {want}"

    return check


def all_cases():
    for name, (program, copies) in PROGRAMS.items():
        yield f"copies: {name}", one(name, program, copies), "host"
