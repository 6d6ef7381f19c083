# SPDX-License-Identifier: Apache-2.0
"""Programs that are watched while they run: `:profile`, `breakpoint()` and what can be done there, `--perf`."""
import pathlib
import re
import subprocess

import screens
from programs import first, same
from terminal import Session, session

PROFILED = """\
def series(n) {
  var s = 0.0;
  for i in range(n) {
    s += sin(f64(i)) * 0.5;
  }
  return s;
}
def fused(x) {
  var a = exp(sin(x));
  var b = a * 2 + 1;
  return sum(b);
}
def updated(x, n) {
  var y = x;
  for i in range(n) {
    y = y * 0.5 + sqrt(abs(x));
  }
  return sum(y);
}
def fib(n) {
  if n < 2 { return n; }
  return fib(n - 1) + fib(n - 2);
}
def squared(m, n) {
  for i in range(n) {
    m = m @ m / 300.0;
  }
  return sum(m);
}
def all(n) {
  var t = series(n);
  t += fused(cumsum(ones(1000000)) * 1e-6);
  t += updated(ones(100000), 200);
  t += f64(fib(30));
  t += squared(ones(300, 300), 20);
  return t;
}
"""


def profiled(toy, call, *flags, before=""):
    """The samples' rows of a profile, as they stand in a pipe: {function: {line: milliseconds}}, and the table."""
    done = subprocess.run(
        [toy, *flags, "-"], input=PROFILED + f"{before}\n:profile {call}\n", capture_output=True, text=True, timeout=300
    )
    if done.returncode or "\x1b" in done.stdout:
        raise ValueError(f"{done}")
    unit = {"us": 1e-3, "ms": 1, "s": 1e3}
    amount = lambda number, of: float(number) * unit[of]
    table, sources = done.stdout.split("\n\n", 1)
    functions = {}
    for own, u, calls, v, name in re.findall(r"^ *([\d.]+) (us|ms|s) +\d+% +([\d.]+) (us|ms|s)  (\w+) \(", table, re.M):
        functions[name] = amount(own, u), amount(calls, v)
    lines = {}
    for block in sources.split("\n\n"):
        name = re.match(r" +time +%  (\w+) \(", block)[1]
        rows = re.findall(r"^ *([\d.]+) (us|ms|s) +\d+% +(\d+)  ", block, re.M)
        lines[name] = {int(line): amount(number, u) for number, u, line in rows}
    return functions, lines


def lines_of_profile(toy):
    """Each function's time is at its hot line: in loops, in loops over elements that were fused, in calls that were
    inlined, in recursion, and in products; nothing of it depends on what was compiled before."""
    hot = {
        "series(3000000)": ("series", {3, 4}),
        "fused(big)": ("fused", {2}),
        "updated(ones(100000), 500)": ("updated", {4}),
        "fib(32)": ("fib", {3}),
        "squared(ones(300, 300), 60)": ("squared", {3}),
    }
    for call, (name, places) in hot.items():
        functions, lines = profiled(toy, call, "--threads=1", before="var big = rand(20000000);")
        all_own = sum(own for own, _ in functions.values())
        if name not in functions or functions[name][1] < 0.5 * all_own:
            return f"{call}: {functions}"
        spent = lines[name]
        if max(spent, key=spent.get) not in places or sum(spent.get(p, 0) for p in places) < 0.5 * functions[name][1]:
            return f"{call}: {spent} of {functions[name]}"
    return None


def whole_of_profile(toy):
    """Functions hold the time of what they call, own times add up to the whole, and a function that calls itself counts
    once."""
    for flags in ([], ["--threads=1"], ["-O0"], ["--jit=never"], ["--unpack"]):
        functions, lines = profiled(toy, "all(1000000)", *flags)
        own, whole = functions["all"]
        most = max(calls for _, calls in functions.values())
        sums = sum(own for own, _ in functions.values())
        if not (whole >= 0.9 * most and own <= 0.7 * whole and 0.9 * most <= sums <= 1.1 * most):
            return f"{flags}: {functions}"
        if not all(lines["all"].get(line, 0) > 0 for line in (2, 3, 4, 5, 6)):
            return f"{flags}: {lines['all']}"
    return None


def profile_changes_nothing(s):
    s.line("def f(n) { var s = 0.0; for i in range(n) { s += 1.0 / f64(i + 1); } return s; }")
    s.line("var x = 1")
    shown = s.line(":profile x = f(2000000)", timeout=60)
    before = s.line(":guards f")
    error = s.line(":profile [1, 2][f(1000000) > 1]")
    s.start(":profile while true { }", 0.5)
    s.interrupt()
    stopped = s.text()
    return first(
        same("table", "own time" in shown and "in compiled code" in shown, True),
        same("kept", s.line("x > 14.0"), "bool\ntrue"),
        same("instances", before, "f was not called yet"),
        same("an error", "error[" in error, True),
        same("Ctrl-C", "R0114" in stopped, True),
        same("a function alone", "`:profile f(…)`" in s.line(":profile f"), True),
        same("a moment", s.line(":profile 1 + 1")[:6], "i64\n2\n"),
        same("goes on", s.line("f(1)"), "f64\n1.0"),
        same("no signals", s.line(":bench f(10)", timeout=60)[:7], "compile"),
    )


def perf_map(toy):
    """Functions by the user's names, loops by their functions', also where the code was kept from before."""
    program = (
        "def sines(n) { var s = 0.0; for i in range(n) { s += sin(f64(i)); } return s; }\n"
        "def doubled(x) { return sum(exp(x) * 2); }\n"
        "print(sines(20000), doubled(arange(100000) * 1e-5));"
    )
    for _ in range(2):
        child = subprocess.Popen([toy, "--perf", "-e", program], stdout=subprocess.PIPE, text=True)
        child.communicate(timeout=60)
        path = pathlib.Path(f"/tmp/perf-{child.pid}.map")
        rows = [line.split(" ", 2) for line in path.read_text().splitlines()]
        mode = path.stat().st_mode & 0o777
        path.unlink()
        names = {name for _, _, name in rows}
        spans = sorted((int(begin, 16), int(size, 16)) for begin, size, _ in rows)
        if child.returncode or mode != 0o600 or not {"sines", "doubled"} <= names:
            return f"{child.returncode} {mode:o} {names}"
        if not any(name.startswith("doubled.") and "loop" in name for name in names):
            return f"no loop among {names}"
        if any(begin + size > after for (begin, size), (after, _) in zip(spans, spans[1:]) if begin != after):
            return f"functions overlap: {spans}"
    return None


BLOCK = ["def g(y) {", "var z = y * 2;", "breakpoint();", "z += 1;", "return z;"]


def defined(s):
    for line in BLOCK:
        s.line(line, "...>")
    s.line("}")
    s.line("struct P { var a; var b; }")
    s.line("def f(x: f64[N], p) { var k = g(x[0] + 2.0); return k + sum(x) + p.a; }")


def breakpoints(s):
    stop = "dbg> "
    defined(s)
    call = 'f([1, 2, 3], P(5, "b"))'
    problems = [same("stops", s.line(call, stop), "stopped at <input 1>:3: breakpoint();")]
    for text, shown in {
        "z": "f64\n6.0",
        "y + z": "f64\n9.0",
        ":locals": "y: f64\nz: f64",
        ":where": "<input 1>:3: breakpoint();\n"
        "<input 3>:1: def f(x: f64[N], p) { var k = g(x[0] + 2.0); return k + sum(x) + p.a; }\n"
        f"<input 4>:1: {call}",
        "z = 100; z": "i64\n100\nthe program goes on with its own `z`, whatever is typed here",
        "def h(a) { return a + z; } h(1)": "i64\n101",
        "g(1)": "i64\n3",
        "ans": "i64\n3",
    }.items():
        problems.append(same(text, s.line(text, stop), shown))
    problems += [
        same("an error", "error[N0101]" in s.line("nosuch", stop), True),
        same("an error that runs", "error[T0324]" in s.line("[1][7]", stop), True),
        same("step", s.line(":step", stop), "stopped at <input 1>:4: z += 1;"),
        same("next", s.line(":n", stop), "stopped at <input 1>:5: return z;"),
        same("behind the call", s.line(":next", stop)[:20], "stopped at <input 3>"),
        same(
            "locals of the caller",
            s.line("(k, N, x, p.b)", stop),
            '(f64, i64, f64[3], str)\n(7.0, 3, [1.0, 2.0, 3.0], "b")',
        ),
        same("continue", s.line(":continue"), "f64\n18.0"),
        same("nothing stays", "error[N" in s.line("h(1)"), True),
        same("nor of the locals", "error[N" in s.line("z"), True),
        same("the result", s.line("ans"), "f64\n18.0"),
        same("not stopped", "D0108" in s.line(":continue") and "D0108" in s.line(":where"), True),
    ]
    s.line(f"var kept = 1; kept = {call};", stop)
    gone = s.line(":quit")
    problems += [
        same("gives up", "error[R0114]" in gone and "called here" in gone, True),
        same("and changes nothing", "N0101" in s.line("kept"), True),
        same("stops again", s.line(call, stop)[:10], "stopped at"),
    ]
    s.line("var n = 0", stop)
    s.start("while true { n += 1; }")
    s.interrupt(stop)
    problems += [
        same("Ctrl-C", "R0114" in s.text(), True),
        same("the locals after it", s.line("z", stop), "f64\n6.0"),
        same("the call after it", s.line(":c"), "f64\n18.0"),
    ]
    s.line("for i in range(3) { breakpoint(); }", stop)
    problems += [
        same("a loop", s.line("i", stop), "i64\n0"),
        same("its next turn", s.line(":c", stop)[:10], "stopped at"),
        same("its variable", s.line("i", stop), "i64\n1"),
    ]
    s.line(":c", stop)
    problems.append(same("its end", s.line(":c"), ""))
    s.line("try { g(1); breakpoint(); } catch e { print(2); }", stop)
    s.line(":c", stop)
    problems.append(same("quit is not caught", "R0114" in s.line(":q"), True))
    s.line("def breakpoint() { return 7; }")
    problems.append(same("a function of the user's", s.line("breakpoint()"), "i64\n7"))
    return first(*problems)


def random_numbers_at_stops(s):
    """What is drawn while a program has stopped is not missing when it goes on."""
    s.line("def draw() { breakpoint(); return rand(2); }")
    s.line("seed(3); draw()", "dbg> ")
    s.line("rand(5)", "dbg> ")
    stopped = s.line(":c")
    return same("drawn", stopped, s.line("seed(3); rand(2)"))


def end_of_input_at_stops(s):
    s.line("breakpoint()", "dbg> ")
    s.keys("\x04")
    s.wait()
    return same("gives up the input", "R0114" in s.text() and s.line("1 + 1"), "i64\n2")


def exit_at_stops(toy):
    """The program ends with the status, as it does at the prompt."""
    for lines in (["exit(3)"], ["breakpoint()", "exit(3)"]):
        s = Session(toy, NO_COLOR="1")
        try:
            for line in lines[:-1]:
                s.line(line, "dbg> ")
            s.send(lines[-1] + "\r")
            if s.status() != 3 or "error" in s.text():
                return f"{lines}: {s.ended}\n{s.text()}"
        finally:
            s.close()
    return None


def without_terminal(toy):
    """`breakpoint()` does nothing."""
    program = "def f(x) { breakpoint(); return x + 1; }\nf(1)\n"
    for arguments in (["-"], ["--jit=never", "-"], ["--jit=always", "-"], ["-e", program]):
        done = subprocess.run([toy, *arguments], input=program, capture_output=True, text=True)
        if (done.returncode, done.stdout, done.stderr) != (0, "2\n", ""):
            return f"{arguments}: {done}"
    return None


def stop_on_screen(s):
    s.keys("def g(y) {\rvar z = y * 2;\rbreakpoint();\rreturn z;\r}\r")
    s.clear()
    s.keys("g(4)\r")
    s.expect("a stop", "toy> g(4)", "stopped at <input 1>:3: breakpoint();", "dbg> ")
    s.keys("z +")
    s.expect("typed", "toy> g(4)", "stopped at <input 1>:3: breakpoint();", "dbg> z +")
    s.keys(" 1\r")
    shown = ["toy> g(4)", "stopped at <input 1>:3: breakpoint();", "dbg> z + 1", "i64", "9"]
    s.expect("a value", *shown, "dbg> ")
    s.keys(":con\t\r")
    s.expect("goes on", *shown, "dbg> :continue", "i64", "8", "toy> ")


def breaks(s):
    """Inputs stop where a function begins or at a line, and the variables of callers can be seen."""
    stop = "dbg> "
    for line in ("def below(x, n) {", "var y = x[x < n];", "y = y * 2;"):
        s.line(line, "...>")
    s.line("return sum(y); }")
    s.line("def total(x) { var k = 10; return below(x, k) + 1; }")
    problems = [
        same("set", s.line(":break below 3"), "stops at <input 1>:3: y = y * 2;"),
        same("the first statement", s.line(":break total")[:21], "stops at <input 2>:1:"),
        same("all", s.line(":break"), "below 3\ntotal"),
        same("no such line", "D0108" in s.line(":break below 7") and s.line(":break"), "below 3\ntotal"),
        same("no such function", "D0108" in s.line(":break nosuch"), True),
        same("of others", s.line("sum([1, 2])"), "f64\n3.0"),
        same("at the beginning", s.line("total([1, 2, 30])", stop)[:22], "stopped at <input 2>:1"),
        same("before it ran", "N0101" in s.line("k", stop), True),
        same("at the line", s.line(":c", stop), "stopped at <input 1>:3: y = y * 2;"),
        same("its variable", s.line("y", stop), "f64[2]\n[1.0, 2.0]"),
        same("the caller", s.line(":up", stop)[:14], "at <input 2>:1"),
        same("its variables", s.line(":locals", stop), "k: i64\nx: f64[3]"),
        same("a value", s.line("k + 1", stop), "i64\n11"),
        same("not those of the other", "N0101" in s.line("y", stop), True),
        same("the input", s.line(":u", stop), "at <input 4>:1: total([1, 2, 30])"),
        same("the end", s.line(":u", stop), "this is the input itself"),
        same("where", len(s.line(":where", stop).splitlines()), 3),
        same("down", (s.line(":d", stop), s.line(":down", stop))[1], "at <input 1>:3: y = y * 2;"),
        same("the other end", s.line(":d", stop), "this is where it stopped"),
        same("its variables again", s.line("sum(y)", stop), "f64\n3.0"),
        same("goes on", s.line(":c"), "f64\n7.0"),
        same("one is off", (s.line(":break off total"), s.line(":break"))[1], "below 3"),
        same("all are off", (s.line(":break off"), s.line(":break"))[1], "no breaks"),
        same("no stop", s.line("total([1, 2, 30])"), "f64\n7.0"),
        same("not stopped", "D0108" in s.line(":up"), True),
    ]
    return first(*problems)


def failures(s):
    """`:debug` stops where an input fails, in the function where that is, with its variables as they were."""
    stop = "dbg> "
    s.line("var kept = 1")
    s.line("def pick(x, i) {", "...>")
    s.line("var last = x[i - 1];", "...>")
    s.line("while x[i] > 0.0 { i += 1; }", "...>")
    s.line("return last; }")
    s.line("def other(x) { var unrelated = 5; return x; }")
    s.line("def outer(x) { var mine = 7; return pick(other(x), 1) + mine; }")
    failed = s.line("kept = 2; outer([1, 2, 3])")
    problems = [
        same("fails", "R0101" in failed and "T0" not in failed, True),
        same(
            "the same again",
            s.line(":debug", stop).splitlines()[-1],
            "stopped at <input 2>:3: while x[i] > 0.0 { i += 1; }",
        ),
        same("as it was", s.line("(i, last)", stop), "(i64, f64)\n(3, 1.0)"),
        same("the top level", s.line("kept", stop), "i64\n2"),
        same("the caller", s.line(":up", stop)[:14], "at <input 4>:1"),
        same("its variable", s.line("mine", stop), "i64\n7"),
        same("nothing to go on with", s.line(":c"), ""),
        same("nothing stays", s.line("kept"), "i64\n1"),
        same("nor of the locals", "N0101" in s.line("mine"), True),
        same("in a called function", s.line(":debug [1, 2][other(5)]", stop).splitlines()[-1][:10], "stopped at"),
        same("where it failed", "N0101" in s.line("unrelated", stop), True),
        same("quit", s.line(":q"), ""),
        same("what does not fail", s.line(":debug outer([1, 2, -3])"), "f64\n8.0"),
        same("errors of types", "T03" in s.line(":debug [1, 2] + [1, 2, 3]"), True),
        same("after that", s.line("outer([1, -2])"), "f64\n8.0"),
    ]
    return first(*problems)


def results(s):
    """`_N` is what input N showed."""
    s.line("var x = 4")  # input 1
    s.line("x * 10")
    s.line("[1, 2] + x")
    s.line("nosuch")
    s.line('(1, "a")')
    return first(
        same("one", s.line("_2 + 1"), "i64\n41"),
        same("a vector", s.line("_3"), "f64[2]\n[5.0, 6.0]"),
        same("a tuple", s.line("_5[1]"), "str\na"),
        same("its input", s.line(":results").splitlines()[:3], ["_2    x * 10", "_3    [1, 2] + x", '_5    (1, "a")']),
        same("not of what failed", "N0101" in s.line("_4"), True),
        same("not of what showed nothing", "N0101" in s.line("_1"), True),
        same("not among variables", "_2" in s.line(":vars"), False),
        same("undone", (s.line("7 + 7"), s.line(":undo"), "N0101" in s.line("_11"))[2], True),
        same("large ones", (s.line("zeros(4000000)"), "N0101" in s.line("_13"))[1], True),
        same("an own name", (s.line("var _16 = 3"), s.line("_16"), s.line("_16"))[2], "i64\n3"),
        same("reset", (s.line(":reset"), s.line(":results"))[1], "no results"),
    )


MARKERS = ("host", "release")


def all_cases():
    for test in (lines_of_profile, whole_of_profile, perf_map, exit_at_stops, without_terminal):
        yield "watching: " + test.__name__.replace("_", " "), test
    for body in (
        profile_changes_nothing,
        breakpoints,
        random_numbers_at_stops,
        end_of_input_at_stops,
        breaks,
        failures,
        results,
    ):
        yield "watching: " + body.__name__.replace("_", " "), session(body, NO_COLOR="1")
    yield "watching: stop on screen", screens.screens(stop_on_screen, NO_COLOR="1")


if __name__ == "__main__":
    import sys

    for name, function, *_ in all_cases():
        problem = function(sys.argv[1])
        print(f"{'FAIL' if problem else 'ok'} {name}", problem or "")
