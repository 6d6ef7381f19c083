# SPDX-License-Identifier: Apache-2.0
"""Rows of docs/prompt-rows.md that are about what stands on the screen: each is typed at an emulated terminal, and the
whole screen is compared."""
import importlib
import pathlib
import re

from screens import Screens, screens
import terminal

ROOT = pathlib.Path(__file__).resolve().parent.parent


def completion_of_names(s):
    s.keys("struct Pair { var left; var right; }\r")
    s.keys("def halfway(x) { return x / 2; }\r")
    s.clear()
    s.keys("halfw\t")
    s.expect("a function", "toy> halfway")
    s.keys("\x15Pai\t")
    s.expect("a struct", "toy> Pair")
    s.keys("\x15def f(x) { var inner_one = x; return inner\t")
    s.expect("a variable of the block", "toy> def f(x) { var inner_one = x; return inner_one")
    s.keys("\x15\\alph\t")
    s.expect("a letter", "toy> \\alpha")
    s.keys("\t")
    s.expect("its symbol", "toy> α")
    s.keys("\x15arcs\t")
    s.expect("nothing", "toy> arcs")
    s.keys("\x15brea\t")
    s.expect("what two have in common", "toy> break")
    s.keys("\t")
    s.expect("both", "toy> break", "break", "breakpoint  ()", "toy> break")


def completion_of_members(s):
    s.keys("struct Pair { var left; var right; }\r")
    s.keys("Pair p = {1, [2i]};\r")
    s.clear()
    s.keys("p.l\t")
    s.expect("a member", "toy> p.left")
    s.keys("\x15p.\t")
    s.expect("all members", "toy> p.", "left   i64", "right  c128[1]", "toy> p.")
    s.clear()
    s.keys("(p.right + 1).im\t")
    s.expect("of an expression, which does not run", "toy> (p.right + 1).imag")


def completion_of_arguments(s):
    s.keys("softmax([1], ax\t")
    s.expect("a key of a call", "toy> softmax([1], axis=", "softmax(x, «axis=»)", cursor=(0, 23))
    s.keys("\x15:set the\t")
    s.expect("a setting", "toy> :set theme")
    s.keys(" li\t")
    s.expect("its value", "toy> :set theme light")
    s.keys("\x15:emit recog\t")
    s.expect("a stage", "toy> :emit recognized")
    s.keys("\x15def mine(x) { return x; }\r")
    s.clear()
    s.keys(":edit mi\t")
    s.expect("a function to edit", "toy> :edit mine")
    s.keys("\x15?T030\t")
    if "?T0301" not in "\n".join(s.shown()) and "T0301" not in "\n".join(s.shown()):
        s.problems.append("codes:\n" + "\n".join(s.shown()))
    s.clear()
    s.keys('write_text("one.txt", "1");\r')
    s.clear()
    s.keys('read_text("on\t')
    s.expect("a path in a string", 'toy> read_text("one.txt', "read_text(«path»)", cursor=(0, 23))
    s.keys("\x15:!cat on\t")
    s.expect("a path of a command", "toy> :!cat one.txt")
    s.keys("\r")
    s.expect("its output", "toy> :!cat one.txt", "1", "toy> ")


def help_topics(s):
    s.keys("?SIN\r")
    s.expect("any case", "toy> ?SIN", "sin(x)", "  sine", "", "  toy> sin(pi / 2)", "  1.0", "toy> ")
    s.clear()
    s.keys("?matmull\r")
    s.expect(
        "the nearest name",
        "toy> ?matmull",
        "error[D0107]: nothing is known about `matmull`",
        "help: did you mean `?matmul`?",
        "toy> ",
    )
    s.clear()
    s.keys('?"fourier shift"\r')
    s.expect("nothing", 'toy> ?"fourier shift"', 'nothing is known about "fourier shift"', "toy> ")
    s.clear()
    s.keys('?"ADJOINT"\r')
    shown = s.shown()
    if not any(row.startswith("  adjoint ") for row in shown):
        s.problems.append("a text of the documentation:\n" + "\n".join(shown))


def plots(s):
    s.keys("plot([0, 1, 4, 9], width = 24, height = 5)\r")
    shown = s.shown()
    braille = [row for row in shown if any(0x2801 <= ord(c) <= 0x28FF for c in row)]
    if len(braille) < 3 or shown[0] != "toy> plot([0, 1, 4, 9], width = 24, height = 5)" or shown[-1] != "toy>":
        s.problems.append("a plot:\n" + "\n".join(shown))


def first_contact(s):
    s.expect("the prompt", "toy> ")
    s.keys("help\r")
    if "  :help [TOPIC] " not in "\n".join(s.shown()) and len(s.shown()) < 20:
        s.problems.append("help:\n" + "\n".join(s.shown()))
    s.clear()
    s.keys("help(sin)\r")
    s.clear()
    s.keys("var quit = 3;\r")
    s.keys("quit\r")
    s.expect("a variable of the name", "toy> var quit = 3;", "toy> quit", "i64", "3", "toy> ")
    s.send("exit()\r")
    if s.status() != 0:
        s.problems.append(f"exit(): status {s.ended}")


def taking_back(s):
    s.keys(":undo\r")
    s.keys("var x = 1;\r")
    s.keys("x = x / no\r")
    s.keys(":undo\r")
    s.keys("x\r")
    s.expect(
        "undo",
        "toy> :undo",
        "nothing to undo",
        "toy> var x = 1;",
        "toy> x = x / no",
        "error[N0101]: unknown name `no`",
        " --> <input 2>:1:9",
        "  |",
        "1 | x = x / no",
        "  |         ^^",
        "toy> :undo",
        "took back `var x = 1;`",
        "toy> x",
        "error[N0101]: unknown name `x`",
        " --> <input 3>:1:1",
        "  |",
        "1 | x",
        "  | ^",
        "toy> ",
    )


def previous_results(s):
    s.keys("2 + 3\r")
    s.keys("_ * 2\r")
    s.keys("_1 + _2\r")
    s.expect("results", "toy> 2 + 3", "i64", "5", "toy> _ * 2", "i64", "10", "toy> _1 + _2", "i64", "15", "toy> ")
    s.keys(":results\r")
    shown = s.shown()
    if [row.split()[0] for row in shown[-4:-1]] != ["_1", "_2", "_3"]:
        s.problems.append("the list:\n" + "\n".join(shown))


def other_languages(s):
    for text, rows in {
        "True": ["error[N0101]: unknown name `True`", "^^^^", "help: write `true`"],
        "2 ^ 3": ["error[L0101]: unexpected character `^`", "  ^", "help: `a ** b` is the power"],
        "a && b": ["error[L0101]: unexpected character `&`", "  ^", "help: write `and`"],
        "np.dot(1, 2)": ["error[N0101]: unknown name `np`", "^^", "help: functions stand without a module: `zeros(3)`"],
        "int(3.5)": ["error[N0102]: unknown function `int`", "^^^", "help: write `i64(x)`"],
        ":q": ["error[D0106]: unknown command `:q`", None, "help: did you mean `:quit`?"],
    }.items():
        s.clear()
        s.keys(text + "\r")
        shown = s.shown()
        wanted = [row for row in (rows[0], rows[2]) if row not in shown]
        if wanted or shown[-1] != "toy>" or (rows[1] and f"  | {rows[1]}" not in shown):
            s.problems.append(f"{text}:\n" + "\n".join(shown))


def history(s):
    for line in ("var first = 1;", "var second = 2;", "first + 1"):
        s.keys(line + "\r")
    s.clear()
    s.keys("var\x1b[A")
    s.expect("what begins like that", "toy> var second = 2;")
    s.keys("\x1b[A")
    s.expect("before it", "toy> var first = 1;")
    s.clear()
    s.keys("\x12rst +")
    s.expect("a search", "(reverse-i-search)`rst +': first + 1", cursor=(0, 29))
    s.keys("\r")
    s.expect("which is run", "toy> first + 1", "i64", "2", "toy> ")


def traces(s):
    s.keys("def fact(n) { if n < 2 { return 1; } return n * fact(n - 1); }\r")
    s.clear()
    s.keys(":trace fact(3)\r")
    s.expect(
        "calls",
        "toy> :trace fact(3)",
        "fact(n = 3)",
        "  fact(n = 2)",
        "    fact(n = 1)",
        "    -> 1",
        "  -> 2",
        "-> 6",
        "i64",
        "6",
        "toy> ",
    )


def failures(s):
    s.keys("def ratio(a, b) { var q = a // b; return q; }\r")
    s.clear()
    s.keys("ratio(1, 0)\r")
    shown = s.shown()
    if not shown[1].startswith("error[R") or not any("in the call" in row or "called" in row for row in shown):
        s.problems.append("an error:\n" + "\n".join(shown))
    s.clear()
    s.send(":debug\r")
    s.wait("dbg> ")
    s.keys("b\r")
    shown = s.shown()
    if shown[-3:] != ["i64", "0", "dbg>"]:
        s.problems.append("where it failed:\n" + "\n".join(shown))


def errors_behind_output(s):
    s.keys('write("abc"); [1, 2][5]\r')
    s.expect(
        "an error",
        'toy> write("abc"); [1, 2][5]',
        "abc",
        "error[T0324]: index 5 is out of range for axis 0 of size 2",
        " --> <input 1>:1:22",
        "  |",
        '1 | write("abc"); [1, 2][5]',
        "  |                      ^",
        "toy> ",
    )


def locals_at_stops(s):
    """What is typed at a stop changes nothing of the program: it is told once."""
    s.keys("def f(x) { var y = 2 * x; breakpoint(); return y; }\r")
    s.clear()
    s.send("f(3)\r")
    s.wait("dbg> ")
    s.keys("var z = 1;\r")
    s.keys("y = y + z\r")
    s.keys("y = y + z\r")
    s.keys("y\r")
    s.send(":continue\r")
    s.wait("toy> ")
    s.expect(
        "a stop",
        "toy> f(3)",
        "stopped at <input 1>:1: def f(x) { var y = 2 * x; breakpoint",
        "(); return y; }",
        "dbg> var z = 1;",
        "dbg> y = y + z",
        "the program goes on with its own `y`, whatever is typed here",
        "dbg> y = y + z",
        "dbg> y",
        "i64",
        "8",
        "dbg> :continue",
        "i64",
        "6",
        "toy> ",
    )


def choices_in_turn(s):
    """A list that is shown is gone through by more Tabs, and back."""
    s.clear()
    s.keys("acos\t")
    listed = ["toy> acos", "acos   (x)", "acosh  (x)"]
    s.expect("the list", *listed, "toy> acos")
    s.keys("\t\t")
    s.expect("the second", *listed, "toy> acosh")
    s.keys("\x1b[Z")
    s.expect("back", *listed, "toy> acos")
    s.keys("\x1b[Z")
    s.expect("round", *listed, "toy> acosh")
    s.keys("\t(1)\r")
    s.expect("taken", *listed, "toy> acos(1)", "f64", "0.0", "toy> ")
    s.clear()
    s.keys("acos\t\x1b[Z")
    s.expect("from the end", *listed, "toy> acosh")
    s.keys("\x7f\t")
    s.expect("another list", *listed, "toy> acos", "acos   (x)", "acosh  (x)", "toy> acos")
    s.clear()
    s.keys("1\x1b[Z")
    s.expect("no list", "toy> 1")


def tall_texts(s):
    """A text with more rows than the screen: those around the cursor are shown, and each stands there once."""
    s.whole.resize(8, 60)
    s.resize(60, 8)
    s.keys("")
    s.clear()
    lines = [f"  var v{i} = x + {i};" for i in range(20)]
    rows = ["toy> def f(x) {"] + ["...> " + line for line in lines] + ["...>   return v19;", "...> }"]
    s.paste("def f(x) {\n" + "\n".join(lines) + "\n  return v19;\n}")
    s.expect("its end", *rows[-8:])
    s.keys("\x1b[A" * 3)
    s.expect("up", *rows[-8:], cursor=(4, 6))
    s.keys("\x1b[A" * 6)
    s.expect("above the screen", *rows[13:21], cursor=(0, 6))
    s.keys("\x1b[H\x1b[H")
    s.expect("its begin", *rows[:8], cursor=(0, 5))
    s.keys("\x1b[B\x1b[F 9;\x7f")
    rows[1] += " 9"
    s.expect("a change", *rows[:8], cursor=(1, len(rows[1])))
    s.keys("\x7f\x7f\x1b[F\x1b[F")
    s.expect("its end again", *rows[-8:])
    s.keys("\r")
    s.expect("run", *rows[-7:], "toy> ")
    s.keys("f(1)\r")
    s.expect("its value", *rows[-4:], "toy> f(1)", "i64", "20", "toy> ")
    s.clear()
    text = "toy> f(" + "1 + " * 120
    s.keys(text[5:])
    rows = [text[i : i + 60] for i in range(120, len(text), 60)] + ["f(«x»)"]
    s.expect("with a signature", *rows, cursor=(6, len(text) % 60))
    s.keys("\x1b[H\x04\x04\x1b[F1\r")
    if s.shown()[-3:] != ["i64", "121", "toy>"]:
        s.problems.append("its value:\n" + "\n".join(s.shown()))


def full_rows(s):
    """A text that ends with its row leaves no empty row."""
    text = '"' + "é" * 53 + '"'
    s.keys(text)
    s.expect("typed", "toy> " + text, cursor=(1, 0))
    s.keys("\r")
    s.expect("run", "toy> " + text, "str", "é" * 53, "toy> ")


def control_keys(s):
    """Ctrl-C while something runs leaves nothing in front of what is said."""
    s.start("while true { }")
    s.send("\x03")
    s.expect(
        "interrupted",
        "toy> while true { }",
        "error[R0114]: interrupted",
        " --> <input 1>:1:1",
        "  |",
        "1 | while true { }",
        "  | ^^^^^^^^^^^^^^",
        "toy> ",
    )
    s.clear()
    for keys in ("sum(", "def f(x) {\r", "\x12abc", "acos\t"):
        s.keys(keys)
        s.keys("\x03")
        s.keys("\x0c")
        s.expect(f"given up: {keys!r}", "toy> ")


def stopped_by_the_shell(toy):
    """Ctrl-Z stops the prompt; in the foreground again the text is there, and keys are read as before."""
    s = Screens("/bin/bash", arguments=("--norc", "-i"), prompt=None, PS1="shell> ", NO_COLOR="1", TOY=toy)
    try:
        s.wait("shell>")
        s.send('"$TOY"\r')
        s.wait("toy> ")
        s.send("\x0cdef f(x) {\rvar a = x")
        is_there = lambda: s.shown()[-2:] == ["toy> def f(x) {", "...> var a = x"]
        s.until("text", is_there)
        s.send("\x1a")
        s.wait("shell>")
        s.send("fg\r")
        s.until("text again", is_there)
        s.send(" + 1; return a; }\r")
        s.wait("toy> ")
        if s.line("f(2)").splitlines() != ["i64", "3"]:
            return "\n".join(s.shown())
        s.send("\x04")
        s.wait("shell>")
        modes = s.line("stty -a", end="shell>")
        return None if {"icanon", "echo", "echoctl"} <= set(modes.replace(";", " ").split()) else modes
    except (EOFError, TimeoutError) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        s.close()


def shells_are_told(toy):
    """The banner of a terminal is its first line."""
    s = Screens(toy, width=80, NO_COLOR="1")
    try:
        if s.above != ["toy 0.1.0: `:help` shows what can be typed, Ctrl-D leaves"]:
            return f"{s.above}"
        return None
    finally:
        s.close()


def rows_name_their_tests(_toy):
    """Each row of the table says how its peers were tried, and names tests that exist; where keys were typed,
    bench/repl/screen_keys.py has them."""
    modules = (
        "prompt_commands",
        "prompt_keys",
        "prompt_sessions",
        "screens",
        "screen_rows",
        "screen_values",
        "watching",
    )
    known = {name for module in modules for name, *_ in importlib.import_module(module).all_cases()}
    known |= {path.name for path in (ROOT / "tests").glob("*.py")}
    typed = set(re.findall(r'^    "([\w ,-]+)": \{', (ROOT / "bench/repl/screen_keys.py").read_text(), re.M))
    rows = re.findall(r"^\| (.*) \|$", (ROOT / "docs/prompt-rows.md").read_text(), re.M)[2:]
    problems = [] if len(rows) > 25 else [f"{len(rows)} rows"]
    for row in rows:
        name, _, _, verdict, tried, tests = re.split(r" \| ", row)
        problems += [f"{name}: no test {test}" for test in re.findall(r"`([^`]+)`", tests) if test not in known]
        if not re.match(r"keys|commands|documentation", tried) or not verdict or "`" not in tests:
            problems.append(f"{name}: {tried}, {tests}")
        if re.match(r"keys(;|$)", tried) and not any(name.startswith(row) for row in typed):
            problems.append(f"{name}: no keys in bench/repl/screen_keys.py")
    return "\n".join(problems) or None


MARKERS = ("host", "release")


def all_cases():
    for body in (
        completion_of_names,
        completion_of_members,
        completion_of_arguments,
        help_topics,
        plots,
        first_contact,
        taking_back,
        previous_results,
        other_languages,
        history,
        traces,
        failures,
        errors_behind_output,
        locals_at_stops,
        choices_in_turn,
        tall_texts,
        full_rows,
        control_keys,
    ):
        yield "screens: " + body.__name__.replace("_", " "), screens(body, NO_COLOR="1", TOY_GRAPHICS="text")
    yield "screens: banner", shells_are_told
    yield "screens: stopped by the shell", stopped_by_the_shell
    yield "docs: rows of the prompt", rows_name_their_tests
