# SPDX-License-Identifier: Apache-2.0
"""Every operator and elementwise or reducing function with every dtype and kind of value: what is defined runs, what is
not is an error with the right code at the operation's place; and every operator with shapes that do not fit. One table
of rules, not the program's own."""
from programs import run_parts

VALUES = {
    "bool": "[true, false]",
    "u8": "u8([1, 2])",
    "i32": "i32([1, 2])",
    "i64": "i64([1, 2])",
    "f16": "f16([1, 2])",
    "bf16": "bf16([1, 2])",
    "f32": "f32([1, 2])",
    "f64": "[1, 2]",
    "c64": "c64([1, 2])",
    "c128": "[1i, 2]",
    "str": '"ab"',
    "tuple": "(1, 2)",
}
TENSORS = [name for name in VALUES if name not in ("str", "tuple")]
COMPLEX = ("c64", "c128")
NOT_DEFINED, NEEDS_TENSOR, NOT_ORDERED, NEEDS_BOOL, NEEDS_REAL, NEEDS_COMPLEX = (
    "T0209",
    "T0210",
    "T0206",
    "T0204",
    "T0202",
    "T0205",
)

ARITHMETIC = ["+", "-", "*", "/", "**", "@", "==", "!="]
ORDERED = ["//", "%", "<", "<=", ">", ">="]
LOGICAL = ["and", "or"]
PAIRS = {
    "minimum": NOT_ORDERED,
    "maximum": NOT_ORDERED,
    "atan2": NEEDS_REAL,
    "hypot": NEEDS_REAL,
    "complex": NEEDS_REAL,
    "polar": NEEDS_REAL,
    "dot": None,
    "vdot": None,
    "outer": None,
    "matmul": None,
}
ANY_NUMBER = (
    "exp expm1 log log1p log2 log10 sqrt rsqrt reciprocal sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh round isnan isinf "
    "isfinite sigmoid silu real imag conj angle abs abs2 adjoint sign sum prod mean std var norm any all cumsum cumprod transpose flatten "
    "squeeze diag nonzero size rank shape argmax argmin sort argsort"
).split()
REAL_ONLY = {
    **dict.fromkeys("floor ceil trunc erf".split(), NEEDS_REAL),
    **dict.fromkeys("relu max min softmax logsumexp".split(), NOT_ORDERED),
}


def expected_binary(op, a, b):
    """The code of the error, or None."""
    others = [x for x in (a, b) if x not in TENSORS]
    if op in LOGICAL:
        if a not in TENSORS:
            return NEEDS_TENSOR
        if a != "bool":
            return NEEDS_BOOL
        return NEEDS_TENSOR if b not in TENSORS else NEEDS_BOOL if b != "bool" else None
    if others:
        of_text = ["+", "<", "<=", ">", ">="] if a == "str" else []
        return None if a == b and op in ("==", "!=", *of_text) else NOT_DEFINED
    return NOT_ORDERED if op in ORDERED and (a in COMPLEX or b in COMPLEX) else None


def expected_pair(function, a, b):
    if a not in TENSORS or b not in TENSORS:
        return NEEDS_TENSOR
    return PAIRS[function] if a in COMPLEX or b in COMPLEX else None


def expected_unary(function, a):
    if a not in TENSORS:
        return NEEDS_TENSOR
    if function == "not ":
        return None if a == "bool" else NEEDS_BOOL
    if function == "view_as_real":
        return None if a in COMPLEX else NEEDS_COMPLEX
    return REAL_ONLY.get(function) if a in COMPLEX else None


def check(toy, rows):
    """Rows (source, code, column): `code` at or behind `column` of the one line, or no error."""
    problems = []
    for (source, code, column), (done,) in zip(rows, run_parts(toy, [(source, [""]) for source, _, _ in rows])):
        first = done.stderr.splitlines()[:2]
        if code is None:
            if done.status != 0:
                problems.append(f"{source}\n{done.stderr}")
        elif done.status != 1 or len(first) < 2 or not first[0].startswith(f"error[{code}]"):
            problems.append(f"{source}\nexpected {code}, got status {done.status}\n{done.stderr}")
        elif not column <= int(first[1].rsplit(":", 1)[1]) <= len(source):
            problems.append(f"{source}\nthe error is at column {first[1]}\n{done.stderr}")
    return "\n".join(problems) or None


def operation(expression, a, b, code):
    # Divisors and exponents that always work: errors of values are tested elsewhere.
    prefix = f"var a = {VALUES[a]}; var b = {VALUES[b].replace('false', 'true')}; "
    return f"{prefix}var c = {expression};", code, len(prefix) + 1


def binary(toy, op):
    return check(toy, [operation(f"a {op} b", a, b, expected_binary(op, a, b)) for a in VALUES for b in VALUES])


def pair(toy, function):
    return check(
        toy, [operation(f"{function}(a, b)", a, b, expected_pair(function, a, b)) for a in VALUES for b in VALUES]
    )


def unary(toy, function):
    text = "not a" if function == "not " else "-a" if function == "-" else f"{function}(a)"
    return check(toy, [operation(text, a, a, expected_unary(function, a)) for a in VALUES])


def shapes(toy, op):
    """Operands that do not broadcast: known while compiling, and only when running."""
    kind = "bool" if op in LOGICAL else "f64"
    code = "T0301" if op == "@" else "T0304"
    rows = []
    for a, b in [("ones(2, 3)", "ones(4)"), ("ones(2, 3)", "ones(3, 2, 1, 2)"), ("ones(5, 1, 3)", "ones(2, 4)")]:
        cast = (lambda x: f"({x} > 0)") if kind == "bool" else (lambda x: x)
        prefix = f"var a = {cast(a)}; var b = {cast(b)}; "
        rows.append((f"{prefix}var c = a {op} b;", code, len(prefix) + 1))
    problem = check(toy, rows)
    inner = f"(x > 0) {op} (y > 0)" if kind == "bool" else f"x {op} y"
    source = f"def f(x: f64[N], y: f64[M]) {{ return {inner}; }} f(ones(3), ones(4));"
    for done in run_parts(toy, [(source, ["--jit=never", "--jit=always"])])[0]:
        if done.status != 1 or "error[" not in done.stderr or "X0001" in done.stderr:
            problem = f"{problem or ''}\n{source}: status {done.status}\n{done.stderr}"
    return problem


def all_cases():
    for op in ARITHMETIC + ORDERED + LOGICAL:
        yield f"dtypes of {op}", lambda toy, op=op: binary(toy, op)
        yield f"shapes of {op}", lambda toy, op=op: shapes(toy, op)
    for function in PAIRS:
        yield f"dtypes of {function}", lambda toy, f=function: pair(toy, f)
    for function in ANY_NUMBER + [*REAL_ONLY] + ["-", "not ", "view_as_real"]:
        yield f"dtypes of {function.strip()}", lambda toy, f=function: unary(toy, f)
