# SPDX-License-Identifier: Apache-2.0
"""Functions as values cost nothing: a program that passes lambdas becomes the LLVM IR of the one that writes the calls
out, and one lambda with other captured values is compiled once."""
import subprocess

from programs import run_parts

# With values of functions, and written out.
PAIRS = {
    "rk4": (
        """
def rk4(f, t, y, h) {
  var k1 = f(t, y); var k2 = f(t + h/2, y + h/2*k1); var k3 = f(t + h/2, y + h/2*k2);
  return y + h/6 * (k1 + 2*k2 + 2*k3 + f(t + h, y + h*k3));
}
def run(y, n: i64, w) { for i in range(n) { y = rk4((t, y) => 1i*w*y, i*0.01, y, 0.01); } return y; }
""",
        """
def rhs(t, y, w) { return 1i*w*y; }
def rk4(w, t, y, h) {
  var k1 = rhs(t, y, w); var k2 = rhs(t + h/2, y + h/2*k1, w); var k3 = rhs(t + h/2, y + h/2*k2, w);
  return y + h/6 * (k1 + 2*k2 + 2*k3 + rhs(t + h, y + h*k3, w));
}
def run(y, n: i64, w) { for i in range(n) { y = rk4(w, i*0.01, y, 0.01); } return y; }
""",
        "print(run(1+0i, 10, 2.0));",
    ),
    "rk4 of vectors": (
        """
def step(f, y: c128[N], h) { var k = f(y); return y + h * f(y + h/2 * k); }
def run(y: c128[N], n: i64, m: c128[N]) { for i in range(n) { y = step(y => m * y, y, 0.01); } return y; }
""",
        """
def rhs(y, m) { return m * y; }
def step(m, y: c128[N], h) { var k = rhs(y, m); return y + h * rhs(y + h/2 * k, m); }
def run(y: c128[N], n: i64, m: c128[N]) { for i in range(n) { y = step(m, y, 0.01); } return y; }
""",
        "print(run([1i, 2], 10, [1i, 2i]));",
    ),
    "composition": (
        "def compose(f, g) { return x => f(g(x)); } def run(x: f64[N]) { return compose(exp, compose(x => 2 * x, sin))(x); }",
        "def run(x: f64[N]) { return exp(2 * sin(x)); }",
        "print(run([1, 2, 3]));",
    ),
    "fold": (
        "def run(x: f64[N], k) { return fold((a, x) => a * k + x, 0.0, x); }",
        "def run(x: f64[N], k) { var a = 0.0; for row in x { a = a * k + row; } return a; }",
        "print(run([1, 2, 3], 2.0));",
    ),
    "a member of a struct": (
        "struct Op { var f; var a; } def run(x: f64[N], a) { var op = Op((x, a) => x ** 2 + a, a); return op.f(x, op.a); }",
        "def run(x: f64[N], a) { return x ** 2 + a; }",
        "print(run([1, 2, 3], 2.0));",
    ),
    "a local function with a captured matrix": (
        "def run(a: f64[N, N], x: f64[N]) { def apply(v) { return a @ v; } return apply(apply(x)); }",
        "def run(a: f64[N, N], x: f64[N]) { return a @ (a @ x); }",
        "print(run(eye(2), [1, 2]));",
    ),
    "functions in a tuple": (
        "def run(x: f64[N]) { var fs = (sin, y => y * y); return fs[1](fs[0](x)); }",
        "def run(x: f64[N]) { var s = sin(x); return s * s; }",
        "print(run([1, 2, 3]));",
    ),
    "a loop over functions": (
        "def run(x: f64[N]) { for f in (sin, exp, y => y + 1) { x = f(x); } return x; }",
        "def run(x: f64[N]) { x = sin(x); x = exp(x); x = x + 1; return x; }",
        "print(run([1, 2, 3]));",
    ),
    "a default that is a function": (
        "def apply(x, f = y => 2 * y) { return f(x) + 1; } def run(x: f64[N]) { return apply(x); }",
        "def run(x: f64[N]) { return 2 * x + 1; }",
        "print(run([1, 2, 3]));",
    ),
    "a function that makes functions": (
        "def line(a, b) { return x => a * x + b; } def run(x: f64[N], a: f64, b: f64) { return line(a, b)(x); }",
        "def run(x: f64[N], a: f64, b: f64) { return a * x + b; }",
        "print(run([1, 2, 3], 2.0, 1.0));",
    ),
    "a function with sizes": (
        "def run(x: f64[N], k: f64) { var f = (y: f64[M]) => sum(y) * k + M; return f(x); }",
        "def run(x: f64[N], k: f64) { return sum(x) * k + N; }",
        "print(run([1, 2, 3], 2.0));",
    ),
    "a function given to a recursive one": (
        "def go(f, n: i64, x: f64) -> f64 { if n == 0 { return x; } return go(f, n - 1, f(x)); } "
        "def run(n: i64, x: f64) { return go(y => y * 0.5 + 1, n, x); }",
        "def go(n: i64, x: f64) -> f64 { if n == 0 { return x; } return go(n - 1, x * 0.5 + 1); } "
        "def run(n: i64, x: f64) { return go(n, x); }",
        "print(run(5, 1.0));",
    ),
    "a step of trees": (
        "struct P { var a; var b; } def run(a: f64[N], b: f64[N]) "
        "{ var p = tree_map((x, y) => x - 0.1 * y, P(a, b), P(b, a)); return p.a + p.b; }",
        "def run(a: f64[N], b: f64[N]) { return (a - 0.1 * b) + (b - 0.1 * a); }",
        "print(run([1, 2], [3, 4]));",
    ),
    "a condition inside": (
        "def run(x: f64, c: bool) { var f = y => { if c { return 2 * y; } return y; }; return f(x) + f(x + 1); }",
        "def pick(y: f64, c: bool) { if c { return 2 * y; } return y; } "
        "def run(x: f64, c: bool) { return pick(x, c) + pick(x + 1, c); }",
        "print(run(1.0, true));",
    ),
}


def code_of(toy, program):
    """The LLVM IR without names that come from the source."""
    done = subprocess.run([toy, "--no-cache", "--emit=llvm", "-e", program], capture_output=True, text=True, timeout=60)
    return [line for line in done.stdout.splitlines() if not line.startswith((";", "source_filename"))], done.stderr


def same_code(valued, written, call):
    def test(toy):
        first, second = (code_of(toy, text + call) for text in (valued, written))
        return (
            None
            if first[0] and first == second
            else "\n".join([*first[0], "--- written out", *second[0], first[1], second[1]])
        )

    return test


def compiled_once(toy):
    text = """
def apply(f, x) { return f(x); }
def scaled(w) { return x => w * x; }
for i in range(5) { print(apply(scaled(i), 1.5)); }
print(apply(scaled(7), 1.5), apply(scaled(9), 2.5));
"""
    [[done]] = run_parts(toy, [(text, ["--jit=always"])])
    if done.stdout.split() != "0.0 1.5 3.0 4.5 6.0 10.5 22.5".split():
        return done.stdout + done.stderr
    return None if done.compiles == 2 else f"{done.compiles} compiles: scaled and apply are wanted once"


def all_cases():
    for name, parts in PAIRS.items():
        yield f"code of {name}", same_code(*parts), "host"
    yield "one lambda, many values", compiled_once, "host"
