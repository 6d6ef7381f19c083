# SPDX-License-Identifier: Apache-2.0
"""Whole screens of the prompt, as an emulated terminal shows them after each step: nothing is drawn twice, left over,
or in the wrong row."""
import fcntl
import struct
import termios
import time

import pyte

import terminal


class Screens(terminal.Session):
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

    def resize(self, width, height=None):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", height or self.whole.lines, width, 0, 0))
        if self.screen.prompts:
            self.pause(0.2)  # the text is drawn again

    def expect(self, what, *lines, cursor=None):
        """The screen holds these lines and no others, the cursor stands behind the last one or where it is said."""
        place = cursor or (len(lines) - 1, len(lines[-1]))
        wanted, limit = [line.rstrip() for line in lines], time.time() + 20
        while (got := self.shown()) != wanted and time.time() < limit:
            self.pump(0.1)
        if got != wanted:
            self.problems.append(f"{what}: the screen shows\n" + "\n".join(got) + "\ninstead of\n" + "\n".join(lines))
        elif (self.whole.cursor.y, self.whole.cursor.x) != place:
            self.problems.append(f"{what}: the cursor is at {(self.whole.cursor.y, self.whole.cursor.x)}")

    def paste(self, text):
        self.keys("\x1b[200~" + text + "\x1b[201~")

    def clear(self):
        self.keys("\x03")
        self.keys("\x0c")


def screens(body, previews=False, **options):
    """A body on a terminal; values of what is being typed are shown where it is about them."""

    def shown(s):
        if not previews and "NO_COLOR" not in options:
            s.keys(":set values off\r")
            s.clear()
        body(s)
        return "\n".join(s.problems) or None

    shown.__name__ = body.__name__
    return terminal.session(shown, Screens, **options)


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
    s.clear()
    s.paste("1 + \x1b[31m1\x07")
    s.expect("control characters", "toy> 1 + ^[[31m1^G")
    s.clear()
    s.paste("  toy> 1 + 1\n  i64\n  2\n  toy> 3")
    s.keys("\r")
    pasted = ["toy>   toy> 1 + 1", "...>   i64", "...>   2", "...>   toy> 3"]
    s.expect("a session with a margin", *pasted, "i64", "2", "i64", "3", "toy> ")


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
    s.start("while true { }")
    s.interrupt()
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
    s.expect("an open block", "toy> def g(x) {", "...>   ")
    s.keys("if x > 1 {\r")
    s.keys("return x;\r")
    s.keys("}")
    block = ["toy> def g(x) {", "...>   if x > 1 {", "...>     return x;", "...>   }"]
    s.expect("a bracket that closes a block", *block)
    s.keys("\r")
    s.keys("return 1;\r")
    block += ["...>   return 1;", "...>   "]
    s.expect("behind an inner block", *block)
    s.keys("\x1b[A\x1b[A\x1b[A\x1b[F")
    s.expect("up in a block, and End", *block, cursor=(2, 18))
    s.keys("\x1b[H")
    s.expect("Home", *block, cursor=(2, 5))
    s.keys("\x1b[H")
    s.expect("Home again", *block, cursor=(0, 5))
    s.keys("\x1b[B")
    s.expect("down", *block, cursor=(1, 5))
    s.keys("\x1b[F\x1b[F")
    s.expect("End twice", *block)
    s.keys("}\r")
    block[-1] = "...> }"
    s.expect("a block", *block, "toy> ")
    s.keys("\x1b[A")
    s.expect("a block from the history", *block, *block)
    s.keys("\r")
    s.clear()
    s.keys("f(\r")
    s.keys("\x7f1)")
    s.expect("a step back", "toy> f(", "...> 1)")
    s.clear()
    s.keys("g(7)\x01\x1b[C\x1b[C\x7f" + "(\r")
    s.expect("an edit inside a line", "toy> g(7)", "i64", "7", "toy> ")


def signatures(s):
    """The parameters of the call around the cursor stand below the text, the current one marked."""
    s.keys("def scale(x: f64[N], by = 2) -> f64[N] { return x * by; }\r")
    s.keys("struct Pair { var left; var right; }\r")
    s.clear()
    for text, row in {
        "sum(": "sum(«x», axis=, keepdims=)",
        "sum(x, ": "sum(x, «axis=», keepdims=)",
        "sum(x, keepdims = true": "sum(x, axis=, «keepdims=»)",
        "sum(x, keepdims = true, ": "sum(x, «axis=», keepdims=)",
        "x.sum(": "sum(x, «axis=», keepdims=)",
        "sum(scale([1, 2], ": "scale(x: f64[N], «by = 2») -> f64[N]",
        "sum(scale([1, 2], 3), ": "sum(x, «axis=», keepdims=)",
        "sum([(1 + 2), (3 ": "sum(«x», axis=, keepdims=)",
        "Pair(1, ": "Pair(left, «right»)",
        "stack(a, b, c, ": "stack(«*xs», axis=)",
        'f"{sum(x, ': "sum(x, «axis=», keepdims=)",
    }.items():
        s.keys(text)
        s.expect(text, "toy> " + text, row, cursor=(0, 5 + len(text)))
        s.keys("\x15")
    for text in ("sum(1) + ", "def own(", "if (", "# sum(", '"sum('):
        s.keys(text)
        s.expect(text, "toy> " + text, cursor=(0, 5 + len(text)))
        s.keys("\x15")
    s.keys("sum([1, 2], 0)\x1b[D\x1b[D")
    s.expect("inside a call", "toy> sum([1, 2], 0)", "sum(x, «axis=», keepdims=)", cursor=(0, 17))
    s.keys("\r")
    s.expect("accepted", "toy> sum([1, 2], 0)", "f64", "3.0", "toy> ")


def suggestions(s):
    """The newest entry that goes on like the text, behind it."""
    for line in ("var first = 1;", "var second = 2;", "1 + first", ":set suggestions on"):
        s.keys(line + "\r")
    s.clear()
    s.keys("var ")
    s.expect("a suggestion", "toy> var second = 2;", cursor=(0, 9))
    s.keys("\x1b[1;5C")
    s.expect("its first word", "toy> var second = 2;", cursor=(0, 15))
    s.keys("\x1b[F")
    s.expect("taken", "toy> var second = 2;")
    s.keys("\x15var f\x1b[C")
    s.expect("an older one", "toy> var first = 1;")
    s.keys("\x1b[D")
    s.expect("not inside the text", "toy> var first = 1;", cursor=(0, 18))
    s.keys("\x15var \r")
    s.clear()
    s.keys(":set suggestions off\r")
    s.clear()
    s.keys("var ")
    s.expect("switched off", "toy> var", cursor=(0, 9))


def no_suggestions(s):
    s.keys("var first = 1;\r")
    s.clear()
    s.keys("var ")
    s.expect("without colours", "toy> var", cursor=(0, 9))


def pages(s):
    """A list of completions that is longer than the screen stops where it is full."""
    s.keys("s\t")
    page = s.shown()
    names = [row.split()[0] for row in page[:-1]]
    if page[-1] != "--More--" or len(page) != 24 or names != sorted(names):
        s.problems.append("the first page:\n" + "\n".join(page))
    s.keys("\r")
    if s.shown()[-1] != "--More--" or s.shown()[:-2] != page[1:-1]:
        s.problems.append("another line:\n" + "\n".join(s.shown()))
    s.keys("q")
    if s.shown()[-1] != "toy> s":
        s.problems.append("the end:\n" + "\n".join(s.shown()))
    s.keys("\x7f1 + 1\r")
    if s.shown()[-4:] != ["toy> 1 + 1", "i64", "2", "toy>"]:
        s.problems.append("what follows:\n" + "\n".join(s.shown()))
    for key, text in {"i": "si", "\x7f": "", "\x1b[D(": "(s", "\x15nan": "nan"}.items():
        s.clear()
        s.keys("s\t")
        s.keys(key)
        if s.shown()[-1] != f"toy> {text}".rstrip():
            s.problems.append(f"{key!r}, which is typed:\n" + "\n".join(s.shown()))


def heights(s):
    """What is echoed fits the screen: the prompt, the input and the type are still there."""
    for text in (
        "reshape(arange(360), 10, 6, 6)",
        "reshape(arange(96), 2, 4, 3, 4)",
        "ones(300, 3)",
        "arange(900)",
        "ones(30, 30)",
        "ones(100, 100, 100)",
        "zeros(2, 0, 3)",
    ):
        s.clear()
        s.keys(text + "\r")
        shown = s.shown()
        if shown[0] != "toy> " + text or shown[-1] != "toy>" or "64[" not in shown[1]:
            s.problems.append(f"{text}:\n" + "\n".join(shown))
    s.clear()
    s.keys("reshape(arange(48), 2, 8, 3)\r")
    whole = s.shown()
    if len(whole) != 20 or any("…" in row for row in whole):
        s.problems.append("what fits:\n" + "\n".join(whole))
    s.clear()
    s.keys("arange(10) + 100\r")
    s.expect(
        "the width", "toy> arange(10) + 100", "i64[10]", "[100, 101, 102, 103, 104, 105, 106, 107, 108, 109]", "toy> "
    )
    s.whole.resize(24, 30)
    s.screen.width = 30
    s.resize(30)
    s.keys("")
    s.clear()
    s.keys("arange(10) + 100\r")
    s.expect(
        "narrower",
        "toy> arange(10) + 100",
        "i64[10]",
        "[100, 101, 102, 103, 104, 105,",
        " 106, 107, 108, 109]",
        "toy> ",
    )


def luminance(colour):
    """That of WCAG; names are the 16 colours of xterm."""
    named = {
        "red": "cd0000",
        "green": "00cd00",
        "brown": "cdcd00",
        "blue": "0000ee",
        "magenta": "cd00cd",
        "cyan": "00cdcd",
    }
    bright = {"red": "ff0000", "blue": "5c5cff", "magenta": "ff00ff"}
    digits = bright[colour[6:]] if colour.startswith("bright") else named.get(colour, colour)
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def themes(s):
    """What is typed, an error and help have colours, legible ones on a light background, and none without a theme."""
    for theme, background in (("light", 1.0), ("dark", 0.0), ("none", None)):
        s.keys(f":set theme {theme}\r")
        s.clear()
        s.keys('var t = (f32(1.5), 2i, sum([3]), "text"); nosuch\r')
        s.keys("?sum\r")
        cells = [s.whole.buffer[y][x] for y in range(24) for x in range(60)]
        if "error[N0101]" not in "".join(cell.data for cell in cells):
            s.problems.append(f"{theme}: no error is shown")
        coloured = {cell.fg for cell in cells} - {"default"}
        if background is None:
            if coloured or any(cell.bold or cell.reverse for cell in cells):
                s.problems.append(f"{theme}: {coloured}")
            continue
        if len(coloured) < 6:
            s.problems.append(f"{theme}: only {coloured}")
        for colour in coloured if theme == "light" else ():  # pyte takes bright colours for the plain ones
            bright, dim = sorted((luminance(colour), background), reverse=True)
            if (bright + 0.05) / (dim + 0.05) < 4:
                s.problems.append(f"{theme}: {colour} cannot be read")


def guessed(toy):
    """The first theme is that of COLORFGBG, where it names a background."""
    problems = []
    for value, theme in (("0;15", "light"), ("0;default;7", "light"), ("15;0", "dark"), ("7;8", "dark"), ("x", "dark")):
        s = terminal.Session(toy, COLORFGBG=value)
        if not any(row.split()[:2] == ["theme", theme] for row in s.line(":set").splitlines()):
            problems.append(f"COLORFGBG={value}: {s.text()}")
        s.close()
    return "\n".join(problems) or None


MARKERS = ("host", "release")


def all_cases():
    for body in (pastes, lines, blocks):
        yield "screens: " + body.__name__, screens(body, NO_COLOR="1")
        yield "screens: " + body.__name__ + " in colours", screens(body)
    for body in (signatures, no_suggestions, pages, heights):
        yield "screens: " + body.__name__.replace("_", " "), screens(body, NO_COLOR="1")
    yield "screens: suggestions", screens(suggestions)
    yield "screens: themes", screens(themes)
    yield "screens: guessed themes", guessed


if __name__ == "__main__":
    import sys

    for name, function in all_cases():
        problem = function(sys.argv[1])
        print(f"{'FAIL' if problem else 'ok'} {name}", problem or "")
