# SPDX-License-Identifier: Apache-2.0
"""The prompt under the hands: lines and blocks, completion, pastes, Ctrl-C, random keys, colours."""
import os
import pathlib
import random
import re
import signal
import time

from programs import first, same
from terminal import Session, session, spent

ROOT = pathlib.Path(__file__).resolve().parent.parent


def editing(s):
    problems = [same("sum", s.line("1+1"), "i64\n2")]
    s.line("def f(a) {", "...>")
    s.line("return a * 2;", "...>")
    s.line("}")
    problems.append(same("block", s.line("f(21)"), "i64\n42"))
    s.keys("\x1b[A")
    recalled = s.keys("\x1b[A")
    problems.append(same("recalled block", recalled.endswith("toy> def f(a) {\n...>   return a * 2;\n...> }"), True))
    s.keys("\x1b[A\x1b[A")  # up inside would leave it: an older entry
    s.keys("\x03")
    s.keys("def f")
    recalled = s.keys("\x1b[A")
    problems.append(
        same("entry with the prefix", recalled.endswith("toy> def f(a) {\n...>   return a * 2;\n...> }"), True)
    )
    s.keys("\x03")
    s.wait()
    problems.append(same("unmatched brace", "error[P" in s.line("1 + }"), True))
    problems.append(same("failed input", s.line("var u = 1; var w = unknown;").startswith("error[N0101]"), True))
    problems.append(same("nothing changed", "N0101" in s.line("u"), True))
    s.line("var a = 5;")
    s.line("a = 6;")
    s.line(":undo")
    problems.append(same("undo", s.line("a"), "i64\n5"))
    problems.append(same("ans", s.line("ans + 1"), "i64\n6"))
    problems.append(same("_", s.line("_ * 2") + s.line("for _ in range(3) { } _ + _"), "i64\n12i64\n24"))
    s.line("a = _;")
    s.line(":undo")
    problems.append(same("_ after undo", s.line("_ + a"), "i64\n29"))
    s.line("var (first, _) = (1, 50);")
    problems.append(same("a variable _", s.line("first") + s.line("_"), "i64\n1i64\n50"))
    s.line(":undo")
    s.line(":undo")
    s.line(":undo")
    problems.append(same("_ without it", s.line("_"), "i64\n29"))
    s.line("def g(x) { return f(x) + 1; }")
    problems.append(same("caller", s.line("g(1)"), "i64\n3"))
    s.line("def f(a) { return a * 10; }")
    problems.append(same("caller follows", s.line("g(1)"), "i64\n11"))
    s.line("def f(a) { return a * ; }")
    problems.append(same("failed redefinition", s.line("g(1)"), "i64\n11"))
    wide = s.line('var text = "' + "x" * 150 + '"; len(text)')
    problems.append(same("long line", wide.endswith("i64\n150"), True))
    problems.append(same("type", s.line(":type [1i, 2] @ [1, 2]"), "c128"))
    problems.append(same("vars", "a: i64" in s.line(":vars"), True))
    problems.append(same("command", "did you mean `:vars`?" in s.line(":var"), True))
    problems.append(same("shell", s.line(":!echo hello"), "hello"))
    problems.append(same("reset", s.line(":reset") + s.line(":vars"), ""))
    return first(*problems)


def completion(s):
    s.line(":set suggestions off")
    s.line("struct Pair { var left; var right; }")
    s.line("Pair couple = {1, [2i]};")
    s.line("var longVariable = ones(2, 3);")
    s.line("var scaledBy = (x, factor = 2) => x * factor;")
    pathlib.Path(s.home.name, "data-file.npy").write_bytes(b"")
    cases = {
        "zero\t": "toy> zeros",
        "longV\t": "toy> longVariable",
        "ret\t": "toy> return",
        "couple.l\t": "toy> couple.left",
        "\\alpha\t": "toy> α",
        "\\the\t": "toy> \\theta",
        ":ben\t": "toy> :bench",
        ":set pre\t": "toy> :set precision",
        'load("data-\t': 'toy> load("data-file.npy',
        ":load data\t": "toy> :load data-file.npy",
        ":emit rec\t": "toy> :emit recognized",
        "scaledB\t": "toy> scaledBy",
        "Pai\t": "toy> Pair",
        "def g(alphabet) { alph\t": "toy> def g(alphabet) { alphabet",
        "def g(x) { for (row, column) in zip(x, x) { col\t": "toy> def g(x) { for (row, column) in zip(x, x) { column",
        "var h = stretch => stre\t": "toy> var h = stretch => stretch",
        "Pair([1], 2).l\t": "toy> Pair([1], 2).left",
        ":set format p\t": "toy> :set format polar",
        ":edit scal\t": "toy> :edit scaled",
        ":explain softmax(ones(2), ax\t": "toy> :explain softmax(ones(2), axis=",
        "?T0300\x7f1\t": "toy> ?T0301",
        "?soft\t": "toy> ?soft",
        ":!cat data-\t": "toy> :!cat data-file.npy",
        'f"{couple.l\t': 'toy> f"{couple.left',
        "# zero\t": "toy> # zero",
    }
    s.line("def scaled(x) { return x; }")
    for keys, want in cases.items():
        got = s.keys(keys).splitlines()[-1]
        if got and not got.startswith("toy>"):  # the parameters of the call
            got = s.text().splitlines()[-2]
        s.keys("\x03")
        s.wait()
        if got != want:
            return f"{keys!r}: {got!r}, expected {want!r}"
    listed = s.keys("ar\t")
    s.keys("\x03")
    return first(
        same(
            "list with signatures",
            re.search(r"argmax +\(x, axis=, keepdims=\)", listed) is not None
            and re.search(r"arange +\(start", listed) is not None,
            True,
        ),
        same("a key that arguments have", s.keys("softmax([1], ax\t").splitlines()[-2], "toy> softmax([1], axis="),
    )


def paste(s):
    block = "\n".join(f"var p{i} = ({i} + [1, 2, {{}}][0]);".replace("{}", "3") for i in range(500))
    begin = spent(s.pid)
    s.keys("\x1b[200~" + block + "\x1b[201~")
    s.keys("\r")
    seconds = spent(s.pid) - begin
    problems = [
        same("pasted lines", s.line("p499"), "f64\n500.0"),
        None if seconds < 5 else f"500 pasted lines took {seconds:.1f} s",
    ]
    s.send("\x1b[200~toy> def h(x) {\n...>   return x + 1;\n...> }\ntoy> var k = h(2)\ntoy> k\ni64\n3\n\x1b[201~")
    s.keys("\r")
    problems.append(same("copied session", s.line("k + 1"), "i64\n4"))
    return first(*problems)


def interrupts(s):
    problems = []
    for text, limit in (
        ("while true { }", 1.0),
        ("var m = complex(rand(2000, 2000), 1.0); for i in range(100) { m = m @ m; m = m / norm(m); }", 2.0),
        ("for i in range(1000000000) { print(i); }", 2.0),
        ("print(rand(10000000) @ rand(10000000)); var b = sort(rand(30000000));", 4.0),
    ):
        s.line("var x = [1, 2, 3];")
        s.start(text, 0.5)
        seconds = s.interrupt()
        problems.append(None if seconds < limit else f"the prompt came back {seconds:.2f} s after Ctrl-C in {text}")
        problems.append(same("variable", s.line("x"), "f64[3]\n[1.0, 2.0, 3.0]"))
    return first(*problems)


def interrupts_at_random(s):
    s.line("seed(1); var total = rand(200, 200); var check = sum(total);")
    rng = random.Random(3)
    for _ in range(200):
        s.send(
            rng.choice(
                [
                    "var y = total @ total; y = y @ total;",
                    "for i in range(100000) { var q = total + i; }",
                    "total * 2 - total",
                    "def z(x) { return x @ x; } var r = z(total);",
                    "1 + 1",
                    "sort(rand(100000))[0]",
                ]
            )
            + "\r"
        )
        time.sleep(rng.random() * 0.02)
        os.kill(s.pid, signal.SIGINT)
        s.pause(0.02)
    s.keys("\x03")
    s.wait()
    return same("checksum", s.line("sum(total) == check"), "bool\ntrue")


def stopped(s):
    """Ctrl-C until it is heard: one that comes before its statement begins is a key of the line behind."""
    for _ in range(20):
        s.send("\x03")
        try:
            return s.rest(timeout=3)
        except TimeoutError:
            pass
    return s.rest()


def typed_rubbish(s):
    rng = random.Random(5)
    programs = [p.read_text() for p in sorted((ROOT / "examples").glob("*.toy"))]
    s.line("var keep = 42;")
    for _ in range(100):
        lines = rng.choice(programs).splitlines()
        at = rng.randrange(len(lines))
        text = "\n".join(lines[at : at + rng.randint(1, 4)])
        for _ in range(rng.randint(0, 4)):
            i = rng.randrange(len(text) + 1)
            text = (
                text[:i]
                + rng.choice(["", "(", "}", "[", '"', "\\", ";", "@", "\t", "é", "1e999"])
                + text[i + rng.randint(0, 3) :]
            )
        if "load(" in text or "read_binary" in text or text.lstrip().startswith((":", "?")):
            continue
        s.send("\x1b[200~" + text.replace("\x1b", "") + "\x1b[201~\r")
        s.pause(0.05)
        stopped(s)
        if os.waitpid(s.pid, os.WNOHANG) != (0, 0):
            return f"the session ended at {text!r}"
    s.wait()
    return same("variable", s.line("keep"), "i64\n42")


def colours(toy):
    for environment, arguments, coloured in (
        ({}, [], True),
        ({"NO_COLOR": "1"}, [], False),
        ({"TERM": "dumb"}, [], False),
        ({}, ["--color=never"], False),
        ({"NO_COLOR": "1"}, ["--color=always"], True),
    ):
        s = Session(toy, arguments, **environment)
        try:
            problem = same("sum", s.line('var x = "a"; 1+1').splitlines()[-1], "2") or same(
                f"colours with {environment} {arguments}", s.screen.colours > 0, coloured
            )
        finally:
            s.close()
        if problem:
            return problem
    return None


def dumb(s):
    """A terminal that knows no escapes gets none, whatever happens."""
    written, plain = [], s.screen.feed
    s.screen.feed = lambda text: (written.append(text), plain(text))
    s.keys("acos\t")
    problems = [same("choices", s.text().splitlines()[-3:], ["acos   (x)", "acosh  (x)", "toy> acos"])]
    s.keys("\t\t")
    problems.append(same("the second one", s.text().splitlines()[-1].rstrip(), "toy> acosh"))
    s.keys("\x03")
    problems.append(same("dropped", s.text().splitlines()[-2:], ["toy> acosh", "toy>"]))
    for text in ("nosuch", "plot([1, 2])", "?sin", "show(eye(2))", ":!echo 1", "(eye(2), 1)"):
        s.line(text)
    s.start("while true { }")
    s.interrupt()
    return first(*problems, same("escapes", "".join(written).count("\x1b"), 0))


def resized(s):
    s.keys("var wide = [" + ", ".join(["1"] * 40))
    s.resize(60)
    s.screen.width = 60
    os.kill(s.pid, signal.SIGWINCH)
    s.keys("")
    s.keys("]; sum(wide)\r")
    return same("sum after a resize", "40.0" in s.text(), True)


MARKERS = ("host", "release", "long")


def all_cases():
    for body in (editing, completion, paste, interrupts, interrupts_at_random, typed_rubbish, resized):
        yield "prompt: " + body.__name__.replace("_", " "), session(body)
    yield "prompt: colours", colours
    yield "prompt: dumb", session(dumb, TERM="dumb")
