# SPDX-License-Identifier: Apache-2.0
"""What the prompt shows of values, pictures and help on an emulated terminal: parts on lines of their own below each
other, and no more lines than the screen has."""
from screens import screens


def resized(s, rows, columns):
    s.whole.resize(rows, columns)
    s.resize(columns, rows)
    s.keys("")
    s.clear()


def parts_in_lines(s):
    """Tuples, structs and lists of matrices."""
    s.keys("struct P { var name; var m; }\r")
    for text, *lines in (
        (
            '(eye(2), "a", 3, eye(1))',
            "(f64[2, 2], str, i64, f64[1, 1])",
            "([[1.0, 0.0],",
            "  [0.0, 1.0]],",
            ' "a", 3, [[1.0]])',
        ),
        (
            'P(P("x", eye(2)), (1, eye(2)))',
            "P",
            'P{name: P{name: "x",',
            "          m: [[1.0, 0.0],",
            "              [0.0, 1.0]]},",
            "  m: (1,",
            "      [[1.0, 0.0],",
            "       [0.0, 1.0]])}",
        ),
        ("list(eye(2), eye(1))", "list[f64[_, _]]", "list([[1.0, 0.0],", "      [0.0, 1.0]],", "     [[1.0]])"),
        ('(1, [2, 3], "a b", list("c"))', "(i64, f64[2], str, list[str])", '(1, [2.0, 3.0], "a b", list("c"))'),
        ("(1,)", "(i64)", "(1,)"),
    ):
        s.clear()
        s.keys(text + "\r")
        s.expect(text, "toy> " + text, *lines, "toy> ")


def long_lists(s):
    resized(s, 10, 40)
    s.keys("var l = list(); for i in range(1200) { l = append(l, i); }\r")
    s.clear()
    s.keys("l\r")
    shown = s.shown()
    inner = " ".join(row.strip() for row in shown[2:-1])
    if shown[:2] != ["toy> l", "list[i64]"] or shown[-1] != "toy>" or len(shown) < 8 or len(shown) > 10:
        s.problems.append("a list:\n" + "\n".join(shown))
    if not inner.startswith("list(0, 1, 2, 3,") or not inner.endswith(" 1198, 1199)") or inner.count("…") != 1:
        s.problems.append("its ends:\n" + "\n".join(shown))
    s.clear()
    s.keys("l[:14]\r")
    s.expect(
        "what fits",
        "toy> l[:14]",
        "list[i64]",
        "list(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,",
        "     11, 12, 13)",
        "toy> ",
    )
    s.clear()
    s.keys(":set precision full\r")
    s.keys("l\r")
    if len(s.shown()) != 10 or "…" in "".join(s.shown()):
        s.problems.append("the whole list:\n" + "\n".join(s.shown()))


def long_texts(s):
    resized(s, 10, 40)
    s.keys('var t = join(split(f"{arange(300)}", ", "), "; ");\r')
    s.keys('var n = replace(t, "; ", "\\n");\r')
    for text in ("t", "n", '(1, t, "é")', "list(t, t)"):
        s.clear()
        s.keys(text + "\r")
        shown = s.shown()
        if shown[0] != "toy> " + text or shown[-1] != "toy>" or "…" not in "".join(shown) or len(shown) < 7:
            s.problems.append(f"{text}:\n" + "\n".join(shown))
    s.clear()
    s.keys("print(t)\r")
    if "…" in "".join(s.shown()):
        s.problems.append("print:\n" + "\n".join(s.shown()))


def large_parts(s):
    """Matrices share the lines that there are."""
    s.keys("struct P { var name; var m; }\r")
    for rows, columns in ((24, 80), (30, 60), (16, 100)):
        resized(s, rows, columns)
        for text in ('P("x", ones(99, 99))', "(ones(99, 2), ones(99, 9))", "list(ones(9, 9), ones(9, 9), ones(99, 9))"):
            s.clear()
            s.keys(text + "\r")
            shown = s.shown()
            if shown[0] != "toy> " + text or shown[-1] != "toy>" or not shown[-2].endswith(("]]}", "]])")):
                s.problems.append(f"{rows} rows, {text}:\n" + "\n".join(shown))


def plots_that_fit(s):
    """The input, the whole picture and the next prompt are on the screen, as far as a picture can be so small."""
    for rows, columns in ((24, 60), (16, 60), (10, 34), (8, 34), (40, 60)):
        resized(s, rows, columns)
        for text in (
            "plot([1, 2, 3])",
            "plot([1,2],[3,4])",
            "hist([1, 2, 2, 3])",
            "show(ones(99, 9))",
            "show(99.5 * eye(30))",
            "show(eye(4))",
        ):
            s.clear()
            s.keys(text + "\r")
            shown = s.shown()
            if shown[0] != "toy> " + text or shown[-1] != "toy>" or len(shown) < min(rows - 2, 12):
                s.problems.append(f"{rows} rows, {text}:\n" + "\n".join(shown))
    s.clear()
    s.keys("plot([1, 2, 3], height = 30)\r")
    if len(s.shown()) < 32:
        s.problems.append("a height that was asked for:\n" + "\n".join(s.shown()))


def help_that_fits(s):
    """Long lines of help are broken between words, below the column where they began."""
    resized(s, 24, 40)
    s.keys("?fft\r")
    s.expect(
        "a function",
        "toy> ?fft",
        "fft(x, n=, axis=, norm=)",
        "  discrete Fourier transform along an",
        "  axis (the last); n points; norm",
        "  backward, ortho or forward",
        "",
        "  toy> fft([1, 0, 0, 0])",
        "  [1.0+0.0i, 1.0+0.0i, 1.0+0.0i, 1.0+0.0",
        "i]",
        "toy> ",
    )
    s.clear()
    s.keys('?"discrete fourier"\r')
    s.expect(
        "a table",
        'toy> ?"discrete fourier"',
        "  fft                discrete Fourier",
        "                     transform along an",
        "                     axis (the last); n",
        "                     points; norm",
        "                     backward, ortho or",
        "                     forward",
        "toy> ",
    )


def values_before_enter(s):
    """The value of an expression stands below it while it is typed, where that takes no time and does nothing."""
    s.keys("var x = 3;\r")
    s.keys("def f(y) { print(y); return y; }\r")
    s.keys("struct P { var a; }\r")
    s.keys("P p = {4};\r")
    for text, value in {
        "1 + 1": "2",
        "x": "3",
        "x +": None,
        "sqrt(-1 + 0i)": "0.0+1.0i",
        "[1, 2, x] * 2": "[2.0, 4.0, 6.0]",
        "[[1, 2], [3, 4]]": "f64[2, 2]",
        "sum([1, 2]) > 2": "true",
        "p.a + 1": "5",
        "[1, 2][1]": "2.0",
        "_": None,  # there is none yet
        "7": None,
        "true": None,
        "[1, 2][x]": None,  # an error
        "nosuch + 1": None,
        "1 // 0": None,
        "f(1)": None,  # which prints
        "randn(2)": None,
        "clock()": None,
        'load("a.npy")': None,
        "print(1)": None,
        "x = 5": None,
        "var y = 1": None,
        "ones(2000) + 1": None,
        "while true { }": None,
        "exit()": None,
        ":type 1": None,
        "?sin": None,
        "1 + 1 # why": "2",
    }.items():
        s.clear()
        s.keys(text)
        cursor = (0, 5 + len(text))
        s.expect(text, "toy> " + text, *([value] if value else []), cursor=cursor)
    s.clear()
    s.keys("x + 1\r")
    s.expect("run", "toy> x + 1", "i64", "4", "toy> ")
    s.keys("_ * 10\x1b[D\x1b[D")
    s.expect("inside the text", "toy> x + 1", "i64", "4", "toy> _ * 10", "40", cursor=(3, 9))
    s.keys("\x03:vars\r")
    shown = s.shown()
    if [row for row in shown if "preview" in row]:
        s.problems.append("a variable is left:\n" + "\n".join(shown))
    s.keys(":set suggestions off\r")
    s.keys(":set values off\r")
    s.clear()
    s.keys("1 + 1")
    s.expect("switched off", "toy> 1 + 1")


def no_values_before_enter(s):
    s.keys("1 + 1")
    s.expect("without colours", "toy> 1 + 1")


MARKERS = ("host", "release")


def all_cases():
    for body in (parts_in_lines, long_lists, long_texts, large_parts, plots_that_fit, help_that_fits):
        yield "screens: " + body.__name__.replace("_", " "), screens(body, NO_COLOR="1", TOY_GRAPHICS="text")
    yield "screens: values before Enter", screens(values_before_enter, previews=True)
    yield "screens: no values before Enter", screens(no_values_before_enter, NO_COLOR="1")
