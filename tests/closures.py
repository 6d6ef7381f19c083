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
