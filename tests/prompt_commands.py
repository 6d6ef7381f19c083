# SPDX-License-Identifier: Apache-2.0
"""What is typed at the prompt: values, lists, functions, errors, and the commands that look at them."""
import ast
import itertools
import pathlib
import re
import tempfile

from programs import first, run, same
from terminal import session

ROOT = pathlib.Path(__file__).resolve().parent.parent


def function_values(s):
    """A value follows a new definition, a lambda keeps its code; :undo, :save and :guards know both."""
    problems = [same("echo", s.line("x => 2 * x"), "fn @1:1")]
    s.line("def f(x) { return x + 1; }")
    s.line("var g = f;")
    s.line("def made(w, m) { def step(x) { return x * w + sum(m); } return (step, x => x - w); }")
    s.line("var h = made(2.5, ones(300));")
    s.line("struct Op { var run; var kind; }")
    s.line("var op = Op((x, y = 3) => x * y, f32);")
    problems.append(
        same("echo of a definition's value", s.line("(g, op)"), "(fn f, Op)\n(fn f, Op{run: fn @1:13, kind: f32})")
    )
    show = "print(g(1), h[0](2), h[1]([1, 2]), op.run(2), op.kind(1).dtype)"
    before = s.line(show)
    problems.append(same("values", before, "2 305.0 [-1.5, -0.5] 6 f32"))
    s.line("def f(x) { return x + 10; }")
    problems.append(same("the value follows", s.line("g(1)"), "i64\n11"))
    s.line(":undo")
    s.line(":undo")
    problems.append(same("undone definition", s.line("g(1)"), "i64\n2"))
    s.line("var k = x => 100 * x;")
    s.line("k = x => -x;")
    problems.append(same("new lambda", s.line("k(2)"), "i64\n-2"))
    s.line(":undo")
    s.line(":undo")
    problems.append(same("undone lambda", s.line("k(2)"), "i64\n200"))
    problems.append(same("types", "h: (fn @1:18{m: f64[300], w: f64}, fn @1:71{w: f64})" in s.line(":vars"), True))
    s.line("var scaled = made(2, [1, 2])[0];")
    s.line("scaled(3)")
    problems.append(
        same("guards", s.line(":guards scaled").startswith("scaled(i64, f64[2], i64) -> f64: 1 call"), True)
    )
    s.line("def call(f, x) { return f(x); } def adder(w) { return x => x + w; }")
    s.line("(call(adder([1, 2]), 1.0), call(adder([1, 2, 3]), 1.0))")
    problems.append(same("captured sizes", "f.w.shape[0] is 3, not 2" in s.line(":guards call"), True))
    for _ in range(2):
        s.line(":undo")
    problems.append(same("warning", "warning[N0115]" in s.line("var sum = x => 5;"), True))
    problems.append(same("in place of a built-in", s.line("sum([1])"), "i64\n5"))
    s.line("var total = 0;")
    told = s.line("for i in range(3) { total += 0.5; }")
    problems.append(same("start of a type", "it is i64 here" in told and "var total = 0;" in told, True))
    s.line(":undo")
    s.line(":undo")
    s.line(":undo")
    s.line(f":save {s.home.name}/saved.toy")
    s.line(":reset")
    s.line(f":load {s.home.name}/saved.toy")
    problems.append(same("after :load", s.line(show), before))
    return first(*problems)


def lists(s):
    """Lists go from input to input, also those that have no type yet; :undo, :vars and :save know them."""
    s.line("struct P { var name; var x; }")
    s.line("var kept = list();")
    problems = [same("an open list", s.line("kept"), "list()")]
    for word in "abc":
        s.line(f'kept = append(kept, "{word}");')
    problems.append(same("echo", s.line("kept"), 'list[str]\nlist("a", "b", "c")'))
    s.line(":undo")
    s.line(":undo")
    problems.append(same("undone", s.line("kept"), 'list[str]\nlist("a", "b")'))
    s.line("for i in range(2) { kept[i] = kept[i] + str(i); }")
    problems.append(same("failed input", "error[R0101]" in s.line("kept[0] = kept[1]; kept[9];"), True))
    s.line("var ps = list(P(kept, 1.0), P(list(), 2.5));")
    s.line("var rows = list([1i], [2, 3]); var none: list[f64[_]] = list(); var open = list();")
    problems.append(
        same(
            "a list of structs",
            s.line("ps[:1]"),
            'list[P{name: list[str], x: f64}]\nlist(P{name: list("a0", "b1"), x: 1.0})',
        )
    )
    problems.append(same("types", "rows: list[c128[_]]" in s.line(":vars"), True))
    show = "print(kept, ps, rows, none, open, ps[1].name + kept)"
    before = s.line(show)
    s.line(f":save {s.home.name}/saved.toy")
    s.line(":reset")
    s.line(f":load {s.home.name}/saved.toy")
    problems.append(same("after :load", s.line(show), before))
    return first(*problems)


def editor_command(s):
    script = pathlib.Path(s.home.name, "ed.sh")
    script.write_text("#!/bin/sh\nsed -i 's/2/3/' \"$1\"\n")
    script.chmod(0o755)
    s.line("def f(x) { return 2 * x; }")
    s.line(":edit f")
    return same("edited function", s.line("f(10)"), "i64\n30")


def caught_errors(s):
    """An input whose block fails succeeds, and `:undo` takes back what its handler did. What failed inputs compiled
    keeps its constants."""
    s.line("var a = 1;")
    s.line('try { a = 2; fail("x"); } catch e { a = 10; }')
    problems = [same("handled", s.line("a"), "i64\n10")]
    s.line(":undo")
    s.line(":undo")
    problems.append(same("undone", s.line("a"), "i64\n1"))
    failed = s.line('try { a = 3; a = [1][a]; } catch e { print(e.code); a = 4; fail("again"); }')
    problems.append(same("a handler that fails", failed.startswith("R0101\nerror[R0128]: again"), True))
    problems.append(same("changes nothing", s.line("a"), "i64\n1"))
    s.line("def row(i) { var table = [[1.5, 2], [3, 4]]; return table[i]; }")
    problems.append(same("failed", "R0101" in s.line("row(5)"), True))
    s.line("var other = [[7, 8], [9, 10]] * 2;")
    problems.append(same("constants", s.line("row(1)"), "f64[2]\n[3.0, 4.0]"))
    return first(*problems)


def tracing(s):
    s.line("def fib(n) { if n < 2 { return n; } return fib(n - 1) + fib(n - 2); }")
    s.line("struct P { var x; var name; }")
    s.line('def g(p, f) { return P(f(p.x), p.name + "!"); }')
    s.line("fib(10)")  # compiled before
    s.line("def caught(x) { try { assert x > 1.0; } catch e { return f64(fib(1)); } return x; }")
    return first(
        same(
            "calls",
            s.line(":trace fib(2)"),
            "fib(n = 2)\n  fib(n = 1)\n  -> 1\n  fib(n = 0)\n  -> 0\n-> 1\ni64\n1",
        ),
        same("as before", s.line("fib(3)"), "i64\n2"),
        same(
            "structs and functions",
            s.line(':trace var p = g(P(2.0, "a"), x => x + 1);').replace("\r", ""),
            'g(p = P{x: 2.0, name: "a"}, f = fn @1:24)\n  fn @1:24(x = 2.0)\n  -> 3.0\n-> P{x: 3.0, name: "a!"}',
        ),
        same("kept", s.line("p.x"), "f64\n3.0"),
        same("what is long", s.line(":trace fib(sum(i64(ones(100, 100))) % 3)")[:10], "fib(n = 1)"),
        same("matrices", s.line(":trace caught(sum(ones(3, 3)))"), "caught(x = 9.0)\n-> 9.0\nf64\n9.0"),
        same("caught", s.line(":trace caught(0.5)"), "caught(x = 0.5)\n  fib(n = 1)\n  -> 1\n-> 1.0\nf64\n1.0"),
        same("an error", "R0101" in s.line(":trace [1, 2, 3][fib(5)]"), True),
        same("a function alone", s.line(":trace caught"), "calls of `caught` are traced in all inputs"),
        same("only its calls", s.line("caught(0.5) + fib(2)"), "caught(x = 0.5)\n-> 1.0\nf64\n2.0"),
        same("not where it is not called", s.line("fib(2)"), "i64\n1"),
        same("which", s.line(":trace"), "caught"),
        same("no more", (s.line(":trace off"), s.line("caught(0.5)"))[1], "f64\n1.0"),
        same("none", s.line(":trace"), "no function is traced"),
        same("another spelling", (s.line("def la\u0308nge(x) { return x + 1; }"), s.line(":trace länge"))[0], ""),
        same("its calls", s.line("länge(1) * 2"), "länge(x = 1)\n-> 2\ni64\n4"),
        same("a lambda", (s.line("var twice = x => 2 * x;"), s.line(":trace twice"))[0], ""),
        same("a lambda's calls", s.line("twice(3) + 1").splitlines()[1:], ["-> 6", "i64", "7"]),
        same("no more of any", s.line(":trace off"), ""),
        same("nothing to trace", s.line(":trace 1 + 1"), "i64\n2"),
    )


def looking(s):
    s.line("def mul(a, b, c, d) { return (a*c - b*d, a*d + b*c); }")
    early = s.line(":emit toy mul")
    s.line("mul([1, 2], [3, 4], [5, 6], [7, 8]);")
    explained, emitted, benched = (
        s.line(":explain mul"),
        s.line(":emit recognized mul"),
        s.line(":bench mul([1, 2], [3, 4], [5, 6], [7, 8])", timeout=60),
    )
    s.line(f":graph mul {s.home.name}/g.dot")
    graph = pathlib.Path(s.home.name, "g.dot").read_text()
    return first(
        same("before a call", "D0105" in early, True),
        same("explain", "recognized mul: re = a*c - b*d" in explained.replace("\n", ""), True),
        same("source lines", "// 1 | def mul" in emitted, True),
        same("complex product", "toy.complex" in emitted, True),
        same("bench", all(word in benched for word in ("compile", "median", "GFLOP/s")), True),
        same("graph", "after inlining and recognition" in graph and "->" in graph, True),
        same("graph of a stage", "  ├ sub f64[2]\n  │ ├ mul f64[2]\n" in s.line(":graph unpacked mul"), True),
        same("graph of an input", s.line(":graph toy 1.5 * 2").split("\n")[2:4], ["  use", "  └ mul f64"]),
        same("graph without an input", "D0108" in s.line(":graph toy"), True),
        same("operation", "toy.mul\n  Product.\n  Complex: the four-product form" in s.line("?toy.mul"), True),
        same("time", "parse" in s.line(":time 1 + 1"), True),
        same("a variable", s.line("var u = [1, 2]"), ""),
        same("undo", s.line(":undo"), "took back `var u = [1, 2]`"),
        same("instances", "mul(f64[2]" in s.line(":guards mul"), True),
        same("compiles", "mul: first call" in s.line(":recompiles"), True),
        same("device", s.line(":device").startswith("cpu"), True),
        same("polar", s.line(":set format polar") + s.line("[2i]"), "c128[1]\n[2.0∠90.00°]"),
        same("setting", "D0102" in s.line(":set edge 0"), True),
    )


def examples_of_help(toy):
    rows = re.findall(
        r'^TOY_EXAMPLE\("((?:[^"\\]|\\.)*)", "((?:[^"\\]|\\.)*)", "((?:[^"\\]|\\.)*)"\)',
        (ROOT / "repl/Examples.def").read_text(),
        re.M,
    )
    unescape = lambda t: ast.literal_eval(f'"{t}"')
    names = {unescape(name) for name, _, _ in rows}
    import matrix

    problems = [f"?{name} has no example" for name in matrix.functions() if name not in names]
    mark = "---- next ----"
    inputs = [line for _, text, _ in rows for line in (unescape(text), ":reset", f'print("{mark}")')]
    with tempfile.TemporaryDirectory() as folder:
        done = run([toy, "-e", "\n".join(inputs)], cwd=folder)
    for (name, text, want), got in itertools.zip_longest(rows, done.stdout.split(mark + "\n")[:-1], fillvalue=""):
        if got.rstrip("\n") != unescape(want):
            problems.append(f"{name}: {text} gives {got!r} {done.stderr}")
    return "\n".join(problems) or None


def help_topics(s):
    s.line("## adds one", "...> ")
    s.line("def inc(x) { return x + 1; }")
    s.line("struct Pair { var first; var second; }")
    for topic, part in {
        "fft": "discrete Fourier transform",
        "@": "matrix product",
        "T0301": "inner sizes",
        ":bench": "median",
        "inc": "adds one",
        "c64": "8 bytes",
        "while": "runs while",
        '"Fourier"': "discrete",
        "nosuch": "D0107",
        "zip": "for (a, b) in zip(x, y)",
        "EINSUM": "Einstein summation",
        "matmull": "did you mean `?matmul`?",
        "Pair": "struct Pair { var first; var second; }",
        '"FOURIER"': "discrete",
        "unbiased": "D0107",
        "without a bias": '`?"without a bias"` shows where it is mentioned',
    }.items():
        if part not in s.line(f"?{topic}"):
            return f"?{topic} does not say {part!r}"
    import matrix

    groups = s.line("?")
    for name in matrix.functions():
        if not re.search(rf"(?m)^ .*(?<= ){name}( |$)", groups):
            return f"? does not name {name}"
    return same(":help", all(f":{c}" in s.line(":help") for c in ("undo", "save", "graph")), True)


MARKERS = ("host", "release", "long")


def all_cases():
    yield "prompt: editor command", session(editor_command, EDITOR="./ed.sh", VISUAL="")
    for body in (function_values, caught_errors, lists, looking, tracing, help_topics):
        yield "prompt: " + body.__name__.replace("_", " "), session(body)
    yield "prompt: examples of help", examples_of_help
