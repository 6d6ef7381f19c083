# SPDX-License-Identifier: Apache-2.0
"""Declared sizes: every place where one is written, for sizes that fit and sizes that do not, known when the program is
compiled and known only when it runs. What fits gives its value, what does not is an error in every mode; nothing is
believed."""
import itertools

import programs

MODES = ["--jit=never", "--jit=auto", "--jit=always", "--jit=always --dynamic=on", "--jit=always --unpack"]
# A size that only the run decides, and one that the caller's types tell.
PRELUDE = "def late(n) { var x = zeros(20); x[:n] = 1; return x[x > 0] * 0; }\ndef known(n) { return zeros(n); }\n"

# The declared size, and what it is for N.
EXPRESSIONS = {
    "N": lambda n: n,
    "N+1": lambda n: n + 1,
    "2*N": lambda n: 2 * n,
    "N-2": lambda n: n - 2,
    "N//2": lambda n: n // 2,
    "N%3": lambda n: n % 3,
    "2*(N+1)-N//2": lambda n: 2 * (n + 1) - n // 2,
    "N*N-N": lambda n: n * n - n,
    "4": lambda n: 4,
}
# Where it is declared: `x` has N elements, `y` some number; the program prints the number of elements of y.
PLACES = {
    "parameter": "def g(x: f64[N], y: f64[{e}]) {{ return y.shape[0]; }}\ndef f(x, y) {{ return g(x, y); }}",
    "renamed": "def g(x: f64[N], y: f64[{e}]) {{ return y.shape[0]; }}\ndef f(x: f64[K], y: f64[M]) {{ return g(x, y); }}",
    "swapped": "def g(y: f64[{e}], x: f64[N], z) {{ return y.shape[0] + z.shape[0] - z.shape[0]; }}\ndef f(M: f64[K], N: f64[L]) {{ return g(N, M, N); }}",
    "tuple parameter": "def g(p: (f64[N], f64[{e}])) {{ var (a, b) = p; return b.shape[0]; }}\ndef f(x, y) {{ return g((x, y)); }}",
    "result": "def g(x: f64[N], y) -> f64[{e}] {{ return y; }}\ndef f(x, y) {{ return g(x, y).shape[0]; }}",
    "tuple result": "def g(x: f64[N], y) -> (f64[N], f64[{e}]) {{ return (x, y); }}\ndef f(x, y) {{ var (a, b) = g(x, y); return b.shape[0]; }}",
    "local": "def f(x: f64[N], y) {{ var z: f64[{e}] = y; return z.shape[0]; }}",
    "new name": "def f(x, y) {{ var a: f64[N] = x; var z: f64[{e}] = y; return z.shape[0]; }}",
    "load": 'def h(x: f64[N], p) {{ var z: f64[{e}] = load(p); return z.shape[0]; }}\ndef f(x, y) {{ save("{file}", y); return h(x, "{file}"); }}',
    "member": "struct S {{ var a: f64[N]; var b: f64[{e}]; }}\ndef f(x, y) {{ var s = S(x, y); return s.b.shape[0]; }}",
    "member update": "struct S {{ var a: f64[K]; var b: f64[_]; var c: f64[K]; }}\ndef g(x: f64[N], y: f64[{e}]) {{ var s = S(x, y, x); s.b = y; s.a = x + 1; return s.b.shape[0]; }}\ndef f(x, y) {{ return g(x, y); }}",
}


def table():
    """(what, program, wanted number or None for an error)."""
    number = 0
    for (place, text), (e, value) in itertools.product(PLACES.items(), EXPRESSIONS.items()):
        for make in ("late", "known"):
            cases = []
            for n in (0, 1, 2, 3, 6):
                right = value(n)
                for have in {right, right + 1, abs(right - 1)}:
                    if have < 0 or have > 20:
                        continue
                    cases.append((n, have, have if have == right else None))
            # One accepted and one refused call a program, so that what the first leaves behind does not serve the
            # second.
            accepted = [c for c in cases if c[2] is not None]
            refused = [c for c in cases if c[2] is None]
            for i, bad in enumerate(refused[:4]):
                number += 1
                good = accepted[i % len(accepted)] if accepted else None
                lines = [PRELUDE + text.format(e=e, file=f"sizes{number}.npy")]
                if good:
                    lines.append(f"print(f({make}({good[0]}), {make}({good[1]})));")
                yield f"{place} {e} {make} {good}", "\n".join(lines), [good[2]] if good else [], False
                lines.append(f"print(f({make}({bad[0]}), {make}({bad[1]})));")
                yield f"{place} {e} {make} {good} {bad}", "\n".join(lines), [good[2]] if good else [], True


# Names that follow from an expression: whole and 0 or more, or an error. (signature of x, what N is for a size, or
# None)
SOLVED = {
    "N+5": lambda s: s - 5 if s >= 5 else None,
    "2*N": lambda s: s // 2 if s % 2 == 0 else None,
    "2*N+1": lambda s: s // 2 if s % 2 == 1 else None,
    "7-N": lambda s: 7 - s if s <= 7 else None,
    "3*N-2": lambda s: (s + 2) // 3 if (s + 2) % 3 == 0 else None,
    "N-3": lambda s: s + 3,
    "6-2*N": lambda s: (6 - s) // 2 if s <= 6 and s % 2 == 0 else None,
}


def solved():
    ways = {
        "call": "def f(x: f64[{e}]) {{ return N; }}",
        "nested": "def g(x: f64[{e}]) {{ return N; }}\ndef f(x) {{ return g(x); }}",
        "local": "def f(x) {{ var y: f64[{e}] = x; return N; }}",
        "size": "def g(x: f64[{e}]) {{ return zeros(N); }}\ndef f(x) {{ return g(x).shape[0]; }}",
    }
    for (way, text), (e, value), make in itertools.product(ways.items(), SOLVED.items(), ("late", "known")):
        for s in (0, 3, 4, 6, 7, 10):
            want = value(s)
            program = PRELUDE + text.format(e=e) + f"\nprint(f({make}({s})));"
            yield f"solved {way} {e} {make} {s}", program, [] if want is None else [want], want is None


def judge(name, modes, results, want, fails):
    problems = []
    for mode, done in zip(modes, results):
        got = done.stdout.split()
        codes = {line[6:11] for line in done.stderr.splitlines() if line.startswith("error[")}
        expected = [str(w) for w in want]
        refused = codes & {"R0105", "R0106", "R0112", "R0113", "T0323", "T0329", "T0345", "T0336"}
        if got != expected or (fails and (done.status == 0 or not refused)) or (not fails and done.status != 0):
            problems.append(
                f"{name} [{mode}]: status {done.status}, printed {got}, wanted {expected}{' and an error' if fails else ''}\n{done.stderr[:600]}"
            )
    return problems


def check(rows, toy, every_mode=False):
    """Compiling takes most of the time: every fourth row is compiled, from another one on in each place, in half of the
    modes."""
    rows, compiled = list(rows), itertools.count()
    modes = [
        MODES if every_mode else programs.in_turn(MODES, next(compiled), 2) if i % 4 == len(rows) % 4 else MODES[:1]
        for i in range(len(rows))
    ]
    problems = []
    for (name, _, want, fails), ways, results in zip(
        rows, modes, programs.run_parts(toy, [(program, ways) for (_, program, _, _), ways in zip(rows, modes)])
    ):
        problems += judge(name, ways, results, want, fails)
    return None if not problems else f"{len(problems)} wrong\n" + "\n".join(problems[:12])


def all_cases():
    rows = list(table())
    places = {place: [] for place in PLACES}
    for row in rows:
        place = next(p for p in PLACES if row[0].startswith(p + " ") and row[0][len(p) + 1 :].split()[0] in EXPRESSIONS)
        places[place].append(row)
    places["solved"] = list(solved())
    for place, rows in places.items():
        yield f"declared sizes: {place}", lambda toy, rows=rows: check(rows, toy)
        yield f"declared sizes: {place}, compiled in every mode", lambda toy, rows=rows: check(
            rows, toy, True
        ), "nightly"
