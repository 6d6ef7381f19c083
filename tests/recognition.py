# SPDX-License-Identifier: Apache-2.0
"""Programs with complex arithmetic hidden in real arithmetic, and programs that come close. Each says how many products
must be recognized; with and without recognition, evaluated and compiled, the printed bits are the same."""
import itertools

from programs import run_parts

PRODUCTS = ("mul", "conj_mul", "matmul", "conj_matmul", "rotation", "rope")

SETUP = """
  var a = [[1.5, -2], [0.25, 4]]; var b = [[-3, 0.5], [7, 1]]; var c = [[2, 0.125], [-1, 3]]; var d = [[1, 6], [-0.0, 2.75]];
  var e = [[0.5, 1], [2, -4]]; var f = [[9, -1], [0.75, 2]]; var k = 3.0; var t = [[0.1, 0.2], [0.3, 0.4]];
"""
# name: (statements, kinds of the products)
POSITIVE = {
    "plain": ("print(a*c - b*d, a*d + b*c);", ["mul"]),
    "imaginary part first": ("var im = a*d + b*c; var re = a*c - b*d; print(re, im);", ["conj_mul"]),
    "only the real part is printed": ("var re = a*c - b*d; var im = a*d + b*c; print(re);", ["mul"]),
    "conjugate of the right factor": ("print(a*c + b*d, b*c - a*d);", ["conj_mul"]),
    "conjugate of the left factor": ("print(a*c + b*d, a*d - b*c);", ["conj_mul"]),
    "both conjugated": ("print(a*c - b*d, -(a*d) - b*c);", ["conj_mul"]),
    "negated product": ("print(-(a*c) - b*d, a*d - b*c);", ["conj_mul"]),
    "negated operand": ("print(a*c + (-b)*d, a*d + b*c);", ["mul"]),
    "negated right operand": ("print(a*(-c) - b*d, a*d + b*(-c));", ["conj_mul"]),
    "conjugate of the result": ("print(a*c - b*d, -(a*d + b*c));", ["mul"]),
    "roles exchanged": ("print(b*d - a*c, a*d + b*c);", ["mul"]),
    "square": ("print(a*a - b*b, a*b + b*a);", ["mul"]),
    "square by two": ("print(a*a - b*b, 2*(a*b));", ["mul"]),
    "square with a sum": ("var p = a*b; print(a*a - b*b, p + p);", ["mul"]),
    "repeated operand": ("print(a*c - b*c, a*c + b*c);", ["mul"]),  # (a + ib)(c + ic)
    "numerators of a quotient": ("var m = c*c - d*d; print((a*c + b*d)/m, (b*c - a*d)/m);", ["conj_mul"]),
    "scaled factor": ("var ka = k*a; var kb = k*b; print(ka*c - kb*d, ka*d + kb*c);", ["mul"]),
    "scaled result": ("print(k*(a*c - b*d), k*(a*d + b*c));", ["mul"]),
    "accumulated": ("print(e + (a*c - b*d), f + (a*d + b*c));", ["mul"]),
    "accumulated by difference": ("print(e - (a*c - b*d), f - (a*d + b*c));", ["mul"]),
    "rotation": ("print(a*cos(t) - b*sin(t), a*sin(t) + b*cos(t));", ["rotation"]),
    "rotation back": ("print(a*cos(t) + b*sin(t), b*cos(t) - a*sin(t));", ["rotation"]),
    "scalar coefficients": ("print(a*k - b*2.5, a*2.5 + b*k);", ["mul"]),
    "two products": ("print(a*c - b*d, a*d + b*c); print(e*c - f*d, e*d + f*c);", ["mul", "mul"]),
    "chain": ("var x = a*c - b*d; var y = a*d + b*c; print(x*e - y*f, x*f + y*e);", ["mul", "mul"]),
    "in a loop": (
        "var x = a; var y = b; for i in range(3) { var u = x*c - y*d; y = x*d + y*c; x = u; } print(x, y);",
        ["mul"],
    ),
    "in a branch": ("if k > 2 { print(a*c - b*d, a*d + b*c); } else { print(a); }", ["mul"]),
    "parts used twice": ("var re = a*c - b*d; var im = a*d + b*c; print(re, im, re + 1, im * re);", ["mul"]),
    "product also printed": ("var p = a*c; print(p - b*d, a*d + b*c, p);", ["mul"]),
    "stack of the parts, exchanged": ("var im = a*d + b*c; print(stack([a*c - b*d, im], axis=-1));", ["mul"]),
    "complex of the parts": ("print(complex(a*c - b*d, a*d + b*c));", ["mul"]),
    "complex of the parts, exchanged": ("var im = a*d + b*c; print(complex(a*c - b*d, im));", ["mul"]),
    "matrices": ("print(a@c - b@d, a@d + b@c);", ["matmul"]),
    "matrices, terms exchanged": ("print(a@c - b@d, b@c + a@d);", ["matmul"]),
    "matrices, conjugate on the right": ("print(a@c + b@d, b@c - a@d);", ["conj_matmul"]),
    "matrices, conjugate on the left": ("print(a@c + b@d, a@d - b@c);", ["conj_matmul"]),
    "matrices, both conjugated": ("print(a@c - b@d, -(a@d) - b@c);", ["conj_matmul"]),
    "matrix square": ("print(a@a - b@b, a@b + b@a);", ["matmul"]),
    "matrices, adjoint": ("print(a.T@c + b.T@d, a.T@d - b.T@c);", ["conj_matmul"]),
    "Gram matrix": ("print(a.T@a + b.T@b, a.T@b - b.T@a);", ["conj_matmul"]),
    "matrix and vector": ("var u = c[0]; var v = d[0]; print(a@u - b@v, a@v + b@u);", ["matmul"]),
    "inner product": (
        "var u = c[0]; var v = d[0]; var x = a[0]; var y = b[1]; print(x@u - y@v, x@v + y@u);",
        ["matmul"],
    ),
    "batch": (
        "var p = stack([a, b]); var q = stack([c, d]); var r = stack([e, f]); var s = stack([t, a]); print(p@r - q@s, p@s + q@r);",
        ["matmul"],
    ),
    "matrices, accumulated": ("print(e + (a@c - b@d), f + (a@d + b@c));", ["matmul"]),
    "outer product": ("print(outer(a[0], c[0]) - outer(b[0], d[0]), outer(a[0], d[0]) + outer(b[0], c[0]));", ["mul"]),
    "pairs on the last axis": (
        "var x = stack([a, b], axis=-1); var y = stack([c, d], axis=-1);\n"
        "print(stack([x[..., 0]*y[..., 0] - x[..., 1]*y[..., 1], x[..., 0]*y[..., 1] + x[..., 1]*y[..., 0]], axis=-1));",
        ["mul"],
    ),
    "even and odd elements": (
        "var x = reshape(a, [4]); var co = cos(t[0]); var si = sin(t[0]); var x0 = x[0::2]; var x1 = x[1::2];\n"
        "print(flatten(stack([x0*co - x1*si, x0*si + x1*co], axis=-1)));",
        ["rope"],
    ),
    "pairs of a reshape": (
        "var x = reshape(a, [2, 1, 2]); var co = cos(t[0]); var si = sin(t[0]);\n"
        "print(x[..., 0]*co - x[..., 1]*si, x[..., 0]*si + x[..., 1]*co);",
        ["rope"],
    ),
    "halves": (
        "var x = reshape(a, [4]); var co = cos(t[0]); var si = sin(t[0]); var x0 = x[:2]; var x1 = x[2:];\n"
        "print(cat([x0*co - x1*si, x0*si + x1*co]));",
        ["rope"],
    ),
}
POSITIVE["rotate half"] = (
    "var x = reshape(cat([a, b, c, d]), [2, 8]); var emb = cat([t, t], axis=-1);\n"
    "var h = cat([-x[..., 4:], x[..., :4]], axis=-1); print(x*cos(cat([emb, emb], axis=-1)) + h*sin(cat([emb, emb], axis=-1)));",
    ["rope"],
)
# Complex arithmetic that is no product.
OTHERS = {"polar": "print(k*cos(t), k*sin(t));", "cis": "print(complex(cos(t), sin(t)));", "abs2": "print(a*a + b*b);"}
# Forms that round differently: only with --fast-math, otherwise reported.
RELAXED = {
    "division": ("var m = c*c + d*d; print((a*c + b*d)/m, (b*c - a*d)/m);", "div"),
    "three multiplications": ("var p = c*(a + b); print(p - b*(c + d), p + a*(d - c));", "mul"),
    "three matrix products": ("var p = (a + b)@c; print(p - b@(c + d), p + a@(d - c));", "matmul"),
    "flat accumulation": ("print(e + a*c - b*d, f + a*d + b*c);", "mul"),
    "magnitude": ("print(sqrt(a*a + b*b));", "abs"),
    "reciprocal": ("var m = c*c + d*d; print(c/m, -d/m);", "reciprocal"),
}
# Real scalars that are multiplied into products; the setup's numbers are exact either way.
SCALED = [
    "2.5*(a @ c)",
    "(k*a) @ c[0]",
    "-0.5*((a + 1i*b) @ (4*(c + 1i*d)))",
    "(2*a)' @ (c*0.25)[:, ::-1]",
    "k*(a @ c) + a @ c",
    "(k*(a + 1i*b)) @ adjoint(c + 1i*d) * 2",
    "2*(c[0] @ (k*d)[1])",
    "f32(2)*(f32(a) @ f32(c))",
    "1.5*(reshape(cat([a, b]), [2, 2, 2]) @ (c*2))",
    "[2, 3]*(a @ c)",
    "1i*(a @ c)",
]
# Not even then.
NEVER = {
    "division by another square": "var m = c*c + e*e; print((a*c + b*d)/m, (b*c - a*d)/m);",
    "division by a difference": "var m = c*c - d*d; print((a*c + b*d)/m, (b*c - a*d)/m);",
    "Gauss's form with another difference": "var p = c*(a + b); print(p - b*(c + d), p + a*(d - e));",
    "accumulated sums": "print(e + a*c + b*d, f + a*d + b*c);",
    "reciprocal of another": "var m = c*c + d*d; print(c/m, -e/m);",
    "magnitude of a difference": "print(sqrt(abs(a*a - b*b)));",
}
NEGATIVE = {
    "reference program 0": "print(a@b - c@d, a@d + c@b.T);",
    "products exchanged in im": "print(a@c - b@d, d@a + b@c);",
    "one product exchanged": "print(a@c - b@d, a@d + c@b);",
    "both products exchanged": "print(a@c - b@d, d@a + c@b);",
    "commutator": "print(a@c - c@a, a@c + c@a);",
    "anticommutator": "print(a@b + b@a, a@a + b@b);",
    "difference and sum of the same": "print(a*c - b*d, a*c + b*d);",
    "both sums": "print(a*c + b*d, a*d + b*c);",
    "both differences": "print(a*c - b*d, a*d - b*c);",
    "a fifth operand": "print(a*c - b*d, a*e + b*c);",
    "a missing operand": "print(a*c - b*d, a*d + b);",
    "an operand twice": "print(a*c - b*d, a*d + a*c);",
    "matrix square from ab + ab": "print(a@a - b@b, a@b + a@b);",
    "matrix square from 2ab": "print(a@a - b@b, 2*(a@b));",
    "elementwise and matrix": "print(a*c - b*d, a@d + b@c);",
    "mixed in one sum": "print(a@c - b*d, a@d + b*c);",
    "weight in one term": "print(k*(a*c) - b*d, a*d + b*c);",
    "weight in one factor": "print((k*a)*c - b*d, a*d + b*c);",
    "real part only": "print(a*c - b*d);",
    "imaginary part only": "print(a*d + b*c);",
    "complex times real": "print(a*c, b*c);",
    "dual numbers": "print(a*c, a*d + b*c);",
    "quotient rule": "print((b*c - a*d) / (c*c));",
    "square from (2a)b": "print(a*a - b*b, 2*a*b);",
    "two real parts": "print(a*c - b*d, a*e - b*f);",
    "butterfly": "print(a + b*c, a - b*c);",
    "triple products": "print(a*c*e - b*d*f, a*d*e + b*c*f);",
    "transpose where an adjoint is": "print(a.T@c - b.T@d, a@d + b@c);",
    "transposes of others": "print(a@c.T - b@d.T, a@d + b@c.T);",
    "row and column": "print(a*c[0] - b*d[0], a*d[:, newaxis, 0] + b*c[0]);",
    "other precisions": "var g = f32(c); var h = f32(d); print(a*c - b*d, f32(a)*h + f32(b)*g);",
    "other slices": "print(a[0]*c[0] - b[0]*d[0], a[0]*d[1] + b[0]*c[0]);",
    "redefined between": "var re = a*c - b*d; a = a + 1; print(re, a*d + b*c);",
    "in different branches": "if k > 2 { print(a*c - b*d); } else { print(a*d + b*c); }",
    "integers": "var p = i64(a); var q = i64(b); var r = i64(c); var s = i64(d); print(p*r - q*s, p*s + q*r);",
    "already complex": "var w = a + 1i*b; var z = c + 1i*d; print(w*z - z*z, w*z + z*w);",
    "other angle": "print(a*cos(t) - b*sin(t), a*sin(t + 1) + b*cos(t));",
    "radius differs": "print(a*cos(t), b*sin(t));",
    "masked real part": "print(where(a > 0, a*c, 0) - b*d, a*d + b*c);",
    "flat accumulation": "print(e + a*c - b*d, f + a*d + b*c);",
    "sum of one, product of other": "print(sum(a*c) - sum(b*d), sum(a*d) + sum(b*c));",
    "halves of other tables": "var x = reshape(cat([a, b, c, d]), [4, 4]); var h = cat([-x[..., 2:], x[..., :2]], axis=-1); var u = cat([t, c]); var v = cat([c, t]); "
    "var g = cat([u, v], axis=-1); print(x*cos(g) + h*sin(g));",
    "halves that overlap": "var x = cat([a, b], axis=-1); var h = cat([-x[..., 1:3], x[..., :2]], axis=-1); var g = cat([t, t], axis=-1); print(x*cos(g) + h*sin(g));",
    "halves of another tensor": "var x = cat([a, b], axis=-1); var y = cat([c, d], axis=-1); var h = cat([-y[..., 2:], y[..., :2]], axis=-1); var g = cat([t, t], axis=-1); "
    "print(x*cos(g) + h*sin(g));",
    "halves without a negation": "var x = cat([a, b], axis=-1); var h = cat([x[..., 2:], x[..., :2]], axis=-1); var g = cat([t, t], axis=-1); print(x*cos(g) + h*sin(g));",
    "three times a product": "print(a*a - b*b, 3*(a*b));",
    "a row for a matrix": "var r = b[:1]; print(a@c - r@d, a@d + r@c);",
    "cosine and sine of others": "print(complex(cos(t), sin(t + 1)));",
    "polar form of other angles": "print(k*cos(t), k*sin(t + 1));",
    "sum of other products": "print(a*c + b*b, a*a + b*c);",
    "difference of squares": "print(a*a - b*b);",
    "negated square": "print(-(a*a) + b*b, b*b - c*c);",
    "Gauss, wrong sign": "var p = c*(a + b); print(p - b*(c + d), p - a*(d - c));",
}


def products(done):
    return sorted(kind for kind in done.recognized if kind in PRODUCTS)


def in_main(statements):
    return f"def main() {{{SETUP}  {statements}\n}}\n"


def check(toy, statements, kinds):
    texts = {
        "main": in_main(statements),
        "function": f"def f(a, b, c, d, e, f, k, t) {{ {statements} }}\ndef main() {{{SETUP}  f(a, b, c, d, e, f, k, t);\n}}\n",
        "top": f"{SETUP}  {statements}\n",
    }
    ways = ["", "--no-recognize", "--jit=always -O2", "--jit=never"]
    problems = []
    for (spelling, text), results in zip(
        texts.items(), run_parts(toy, [(text, ways) for text in texts.values()], flags=["--precision=full"])
    ):
        for flags, done in zip(ways, results):
            if done.status != 0:
                return f"{text}\n{done.stderr}"
            if flags == "--no-recognize" and done.recognized:
                problems.append(f"--no-recognize found {done.recognized}")
            if flags in ("", "--jit=always -O2") and products(done) != sorted(kinds):
                problems.append(f"{spelling}, {flags}: expected {kinds}, recognized {products(done)}\n{text}")
        if len({done.stdout for done in results}) != 1:
            problems.append(f"{spelling}: the printed bits differ\n{text}\n{[done.stdout for done in results]}")
    return "\n".join(problems) or None


def relaxed(toy, statements, kind):
    text = in_main(statements)
    [[allowed, strict]] = run_parts(toy, [(text, ["--fast-math --remarks", "--remarks"])])
    if allowed.status != 0 or f"recognized {kind}:" not in allowed.stderr:
        return f"not recognized with --fast-math\n{text}{allowed.stderr}"
    if strict.status != 0 or f"recognized {kind}:" in strict.stderr or "--fast-math" not in strict.stderr:
        return f"without --fast-math it must be reported, not raised\n{text}{strict.stderr}"
    return None


def never(toy, statements):
    text = in_main(statements)
    [[relaxed, plain]] = run_parts(toy, [(text, ["--fast-math", "--no-recognize"])], flags=["--precision=full"])
    if relaxed.status or plain.status or relaxed.stdout != plain.stdout or {"div", "abs"} & set(relaxed.recognized):
        return f"{text}\n{relaxed}\n{plain}"
    return None


def scaled(toy, expression):
    text = in_main(f"print({expression});")
    [[folded, plain]] = run_parts(
        toy, [(text, ["--fast-math --jit=always", "--jit=always"])], flags=["--precision=full"]
    )
    return (
        None
        if folded.status == 0 and folded.stdout == plain.stdout
        else f"{text}\n{folded.stderr}\n{folded.stdout}\n{plain.stdout}"
    )


def other(toy, kind, statements):
    text = in_main(statements)
    [[found, plain]] = run_parts(toy, [(text, ["--remarks", "--no-recognize"])], flags=["--precision=full"])
    if found.status or f"recognized {kind}:" not in found.stderr or found.stdout != plain.stdout:
        return f"{text}\n{found.stderr}\n{found.stdout}\n{plain.stdout}"
    return None


def orders(toy, sign):
    """All 24 orders of a, b, c, d in x*y + z*w beside a*c - b*d (or of differences beside a*c + b*d): 16 of them are
    products."""
    rows = []
    for x, y, z, w in itertools.permutations("abcd"):
        other, same = ("-", "+") if sign == "-" else ("+", "-")
        expected = {frozenset((x, y)), frozenset((z, w))} != {frozenset("ac"), frozenset("bd")}
        for operator in ("*", "@"):
            text = in_main(f"print(a{operator}c {other} b{operator}d, {x}{operator}{y} {same} {z}{operator}{w});")
            rows.append(
                (text, expected if operator == "*" else expected and {x, z} == {"a", "b"} and {y, w} == {"c", "d"})
            )
    problems, found = [], 0
    for (text, want), (done,) in zip(rows, run_parts(toy, [(text, [""]) for text, _ in rows])):
        if done.status != 0:
            return done.stderr
        found += len(products(done))
        if len(products(done)) != want:
            problems.append(f"expected {int(want)}, recognized {products(done)}: {text}")
    return "\n".join(problems) or (None if found else "nothing was recognized")


HALVES = "var r = cat([-x[:, K:], x[:, :K]], axis=1); return x * cat([c, c], axis=1) + r * cat([s, s], axis=1);"
DECLARED = {  # the parts of a function whose signature says what its sizes are: equal ones are written in two ways
    "even and odd elements": (
        "def f(x: f64[D], c: f64[D//2], s: f64[D//2]) where D % 2 == 0"
        " { return (x[::2]*c - x[1::2]*s, x[::2]*s + x[1::2]*c); } print(f([1, 2, 3, 4], [5, 6], [7, 8]));",
        ["rope"],
    ),
    "pairs of rows of even length": (
        "def f(x: f64[S, 2*K], c: f64[S, K], s: f64[S, K])"
        " { return (x[:, ::2]*c - x[:, 1::2]*s, x[:, ::2]*s + x[:, 1::2]*c); } print(f([[1, 2, 3, 4]], [[5, 6]], [[7, 8]]));",
        ["rope"],
    ),
    "halves of an even size": (
        "def f(x: f64[S, D], c: f64[S, D//2], s: f64[S, D//2]) where D % 2 == 0 { var a = x[:, :D//2];"
        " var b = x[:, D//2:]; return cat([a*c - b*s, b*c + a*s], axis=1); } print(f([[1, 2, 3, 4]], [[5, 6]], [[7, 8]]));",
        ["mul"],
    ),
    "halves put together": (
        f"def f(x: f64[S, 2*K], c: f64[S, K], s: f64[S, K]) {{ {HALVES} }} print(f([[1, 2, 3, 4]], [[5, 6]], [[7, 8]]));",
        ["rope"],
    ),
    "no halves": (
        f"def f(x: f64[S, N], c: f64[S, M], s: f64[S, M], K) where N == 2*M {{ {HALVES} }}"
        " print(f([[1, 2, 3, 4]], [[5, 6]], [[7, 8]], 1), f([[1, 2, 3, 4]], [[5, 6]], [[7, 8]], 2));",
        [],
    ),
    "two names of one size": (
        "def f(a: f64[N], b: f64[M], c: f64[N], d: f64[M]) where N == M { return (a*c - b*d, a*d + b*c); }"
        " print(f([1, 2], [3, 4], [5, 6], [7, 8]));",
        ["mul"],
    ),
    "two names of one size, matrices": (
        "def f(a: f64[N, M], b: f64[N, K], c: f64[M, L], d: f64[K, L]) where M == K"
        " { return (a@c - b@d, a@d + b@c); } print(f([[1, 2]], [[3, 4]], [[5], [6]], [[7], [8]]));",
        ["matmul"],
    ),
    "one number for all": (
        "def f(a: f64[N], b: f64[1], c: f64[N], d: f64[N]) { return (a*c - b*d, a*d + b*c); }"
        " print(f([1, 2], [3], [5, 6], [7, 8]), f([1], [3], [5], [7]));",
        ["mul"],
    ),
}


def declared(toy, text, kinds):
    ways = ["--remarks", "--unpack --remarks", "--dynamic=on --remarks", "--no-recognize", "--jit=never"]
    [runs] = run_parts(toy, [(text, ways)], flags=["--precision=full"])
    for way, run in zip(ways, runs):
        if run.status or run.stdout != runs[-1].stdout:
            return f"{way}: {run}\n{runs[-1]}\n{text}"
        if "--remarks" in way and run.recognized != kinds:
            return f"{way}: recognized {run.recognized}, not {kinds}\n{run.stderr}{text}"


def all_cases():
    for name, (statements, kinds) in POSITIVE.items():
        yield f"recognized: {name}", lambda toy, s=statements, k=kinds: check(toy, s, k)
    for name, statements in NEGATIVE.items():
        yield f"not recognized: {name}", lambda toy, s=statements: check(toy, s, [])
    for name, (statements, kind) in RELAXED.items():
        yield f"relaxed: {name}", lambda toy, s=statements, k=kind: relaxed(toy, s, k)
    for expression in SCALED:
        yield f"scaled product: {expression}", lambda toy, e=expression: scaled(toy, e)
    for name, statements in NEVER.items():
        yield f"never: {name}", lambda toy, s=statements: never(toy, s)
    for kind, statements in OTHERS.items():
        yield f"recognized: {kind}", lambda toy, k=kind, s=statements: other(toy, k, s)
    for sign in "-+":
        yield f"orders of operands, {sign}", lambda toy, s=sign: orders(toy, s)
    for name, (text, kinds) in DECLARED.items():
        yield f"declared sizes: {name}", lambda toy, t=text, k=kinds: declared(toy, t, k)
