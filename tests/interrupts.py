# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C at random times in every form of loop: the prompt comes back within 100 ms, the variables are what they were,
and the session computes on as if nothing had been. Two hundred times each at night, a few by day."""
import random
import time

import terminal
from programs import first, same

#: what is defined, a call that ends at once (so that the code is there), and one that does not end
FORMS = {
    "empty": ("def f(n: i64) { while n > 0 { } return n; }", "f(0)", "f(1)"),
    "scalar": (
        "def f(n: i64) { var s = 1; for i in range(n) { s = s * 3 % 1000003; } return s; }",
        "f(9)",
        "f(4000000000000)",
    ),
    "vector": (
        "def f(n: i64) { var y = zeros(5000);"
        " for k in range(n) { for i in range(5000) { y[i] = y[i] * 0.5 + 1.0; } } return sum(y); }",
        "f(1)",
        "f(4000000000000)",
    ),
    "while": ("def f(n: i64) { var i = 0; while i != n { i += 1; } return i; }", "f(9)", "f(-1)"),
    "nest": (
        "def f(n: i64) { var y = zeros(8, 8);"
        " for k in range(n) { for i in range(8) { for j in range(8) { y[i, j] += f64(i * j) / f64(k + 1); } } }"
        " return sum(y); }",
        "f(1)",
        "f(4000000000000)",
    ),
    "recursion": (
        "def f(k: i64) { if k < 2 { return 1; } return (f(k - 1) + f(k - 2)) % 1009; }",
        "f(9)",
        "f(90)",
    ),
    "short calls": (
        "def f(n: i64) { var y = [3.0, 1.0, 2.0]; var s = 0.0;"
        " for i in range(n) { s += sort(y * f64(i))[1]; } return s; }",
        "f(2)",
        "f(4000000000000)",
    ),
    "long calls": (
        "def f(n: i64) { var y = ones(200, 200); for i in range(n) { y = y @ y * 0.005; } return sum(y); }",
        "f(1)",
        "f(4000000000000)",
    ),
    "parallel": (
        "def f(n: i64) { var y = ones(300000); for i in range(n) { y = sin(y) + 1; } return sum(y); }",
        "f(1)",
        "f(4000000000000)",
    ),
    "top level": ("var z = 0;", "z", "for i in range(4000000000000) { z = z + i; }"),
}


def until_prompt(s, text, delay):
    """Seconds from Ctrl-C to the next prompt; None if the statement was not interrupted."""
    rows = len(s.screen.rows)
    s.start(text, 0.02)
    time.sleep(delay)
    seconds = s.interrupt()
    return seconds if "R0114" in "\n".join(s.screen.rows[rows - 1 :]) else None


def interrupted(toy, form, times):
    definition, warm, endless = FORMS[form]
    rng = random.Random(form)
    s = terminal.Session(toy)
    try:
        s.line("var x = f64(arange(1000)); var check = sum(x);")
        s.line(definition)
        begun = s.line(warm)
        for turn in range(times):
            seconds = until_prompt(s, endless, 0.05 * rng.random())
            if seconds is None or seconds >= 0.1:
                return f"turn {turn} of {form}: {seconds} s after Ctrl-C\n{s.text()[-500:]}"
        unchanged = s.line("sum(x) == check")
        return first(same("variables", unchanged, "bool\ntrue"), same("the same call", s.line(warm), begun))
    finally:
        s.close()


def all_cases():
    for form in FORMS:
        yield f"interrupts: {form}", lambda toy, f=form: interrupted(toy, f, 5), "host", "release", "long"
        yield f"interrupts: {form}, 200 times", lambda toy, f=form: interrupted(toy, f, 200), "host", "nightly"
