# SPDX-License-Identifier: Apache-2.0
"""Whole screens of the prompt, as an emulated terminal shows them after each step: nothing is drawn twice, left over,
or in the wrong row."""
import os
import signal
import time

import pyte

import prompt


class Screens(prompt.Session):
    """A session whose output also goes to a terminal of pyte."""

    def __init__(self, toy, width=60, height=24, **environment):
        self.whole = pyte.Screen(width, height)
        self.stream = pyte.Stream(self.whole)
        super().__init__(toy, width=width, **environment)
        plain = self.screen.feed
        self.screen.feed = lambda text: (plain(text), self.stream.feed(text))
        self.stream.feed("toy> ")
        self.problems = []

    def shown(self):
        rows = [line.rstrip() for line in self.whole.display]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def expect(self, what, *lines):
        """The screen holds these lines and no others, and the cursor stands behind the last one."""
        wanted, limit = [line.rstrip() for line in lines], time.time() + 10
        while (got := self.shown()) != wanted and time.time() < limit:
            self.pump(0.1)
        if got != wanted:
            self.problems.append(f"{what}: the screen shows\n" + "\n".join(got) + "\ninstead of\n" + "\n".join(lines))
        elif (self.whole.cursor.y, self.whole.cursor.x) != (len(lines) - 1, len(lines[-1])):
            self.problems.append(f"{what}: the cursor is at {(self.whole.cursor.y, self.whole.cursor.x)}")

    def paste(self, text):
        self.keys("\x1b[200~" + text + "\x1b[201~")

    def clear(self):
        self.keys("\x03")
        self.keys("\x0c")


def screens(body, **options):
    def test(toy):
        s = Screens(toy, **options)
        try:
            body(s)
            return "\n".join(s.problems) or None
        except (EOFError, TimeoutError, OSError) as error:
            return f"{type(error).__name__}: {error}"
        finally:
            s.close()

    test.__name__ = body.__name__
    return test


def pastes(s):
    s.paste("1+1")
    s.expect("a pasted line", "toy> 1+1")
    s.keys("\r")
    s.expect("a pasted line, run", "toy> 1+1", "i64", "2", "toy> ")
    s.clear()
    s.paste("def f(x) {\n  return x + 1;\n}")
    s.expect("a pasted block", "toy> def f(x) {", "...>   return x + 1;", "...> }")
    s.keys("\r")
    s.expect("a pasted block, run", "toy> def f(x) {", "...>   return x + 1;", "...> }", "toy> ")
    s.paste("f(1)\nf(2)\n")
    s.keys("\r")
    s.expect(
        "two pasted inputs",
        "toy> def f(x) {",
        "...>   return x + 1;",
        "...> }",
        "toy> f(1)",
        "...> f(2)",
        "...> ",
        "i64",
        "2",
        "i64",
        "3",
        "toy> ",
    )
    s.clear()
    s.keys("2 * ")
    s.paste("(3 + 4)")
    s.keys(" - 1\r")
    s.expect("a paste inside a line", "toy> 2 * (3 + 4) - 1", "i64", "13", "toy> ")
    s.clear()
    s.paste("12345")
    s.keys("\x7f\x7f")
    s.expect("a paste, shortened", "toy> 123")
    s.keys("\x01" + "9\r")
    s.expect("a paste, changed at its start", "toy> 9123", "i64", "9123", "toy> ")


def lines(s):
    s.keys("1 + 2\r")
    s.expect("a line", "toy> 1 + 2", "i64", "3", "toy> ")
    s.keys("nosuch\r")
    s.expect(
        "an error",
        "toy> 1 + 2",
        "i64",
        "3",
        "toy> nosuch",
        "error[N0101]: unknown name `nosuch`",
        " --> <input 2>:1:1",
        "  |",
        "1 | nosuch",
        "  | ^^^^^^",
        "toy> ",
    )
    s.clear()
    s.keys("var x = 5")
    s.keys("\x03")
    s.expect("a line that was dropped", "toy> var x = 5", "toy> ")
    s.keys("\x1b[A")
    s.expect("history", "toy> var x = 5", "toy> nosuch")
    s.clear()
    long = "var long = [" + ", ".join(str(100 + i) for i in range(20)) + "]"
    s.keys(long)
    rows = [("toy> " + long)[i : i + 60] for i in range(0, len(long) + 5, 60)]
    s.expect("a line of several rows", *rows)
    s.keys("\x01")
    s.keys("\x05;\r")
    s.expect("a line of several rows, run", *rows[:-1], rows[-1] + ";", "toy> ")
    s.clear()
    s.keys("while true { }\r")
    time.sleep(0.5)
    os.kill(s.pid, signal.SIGINT)
    s.keys("", 0.5)
    s.expect(
        "Ctrl-C",
        "toy> while true { }",
        "error[R0114]: interrupted",
        " --> <input 4>:1:1",
        "  |",
        "1 | while true { }",
        "  | ^^^^^^^^^^^^^^",
        "toy> ",
    )


def blocks(s):
    s.keys("def g(x) {\r")
    s.expect("an open block", "toy> def g(x) {", "...> ")
    s.keys("return x; }\r")
    s.expect("a block", "toy> def g(x) {", "...> return x; }", "toy> ")
    s.keys("\x1b[A")
    s.expect("a block from the history", "toy> def g(x) {", "...> return x; }", "toy> def g(x) {", "...> return x; }")
    s.keys("\r")
    s.clear()
    s.keys("g(7)\x01\x1b[C\x1b[C\x7f" + "(\r")
    s.expect("an edit inside a line", "toy> g(7)", "i64", "7", "toy> ")


MARKERS = ("host", "release")


def all_cases():
    for body in (pastes, lines, blocks):
        yield "screens: " + body.__name__, screens(body, NO_COLOR="1")
        yield "screens: " + body.__name__ + " in colours", screens(body)


if __name__ == "__main__":
    import sys

    for name, function in all_cases():
        problem = function(sys.argv[1])
        print(f"{'FAIL' if problem else 'ok'} {name}", problem or "")
