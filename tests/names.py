# SPDX-License-Identifier: Apache-2.0
"""Keywords and names: words that are reserved and words that are not, names of any script in one spelling, characters
that deceive the reader, names that the library shares with the program, and names that two texts define."""
import pathlib
import re
import subprocess
import tempfile
import unicodedata

import programs

RESERVED = "and break continue def else false for if in not or return struct true try var while".split()
CONTEXTUAL = "assert extern from import newaxis print symbol where write".split()
MODES = [["--jit=auto"], ["--jit=always"], ["--jit=never"], ["--dynamic=on"]]


def run(toy, text, *flags, **kwargs):
    return programs.run([toy, *flags, "-e", text], **kwargs)


def errors(done):
    """(code, column) of each error."""
    return [(m[1], int(m[2])) for m in re.finditer(r"^error\[(\w+)\].*\n *--> .*:(\d+)$", done.stderr, re.M)]


def refused(toy, text, code, at, part=""):
    done = run(toy, text)
    if done.returncode != 1 or errors(done)[:1] != [(code, at + 1)] or part not in done.stderr:
        return (
            f"{text!r}: expected {code} at {at + 1} with {part!r}, status {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return None


def reserved(toy):
    for word in RESERVED:
        places = [
            f"var @{word} = 3;",
            f"var (a, @{word}) = (1, 2);",
            f"def f(x, @{word}) {{ return x; }}",
            f"for @{word} in range(3) {{ }}",
            f"struct @{word} {{ var a; }}",
            f"struct S {{ var @{word}; }}",
            f"def f(x) {{ return x; }} f(@{word} = 3);",
        ]
        if word != "var":  # the variance, which programs may replace
            places.append(f"def @{word}(x) {{ return x; }}")
        if word in ("and", "or", "in", "else", "var"):
            places.append(f"1; @{word} = 3;" if word != "var" else "var x: @var = 3;")
        for place in places:
            if problem := refused(toy, place.replace("@", ""), "P0124", place.index("@"), f"`{word}` is a keyword"):
                return problem
    for text, code in {
        "true = false;": "P0108",
        "print(1 or);": "P0102",
        "if true { var x = else; }": "P0102",
        "f64[or];": "P0102",
    }.items():
        if (done := run(toy, text)).returncode != 1 or code not in done.stderr:
            return f"{text}: {done.stderr}"
    return None


def contextual(toy):
    want = ""
    text = ""
    for i, word in enumerate(CONTEXTUAL):
        text += f"var {word} = {i}; print({word} + 1, -{word}); def g{i}({word}, x = 2) {{ var y = {word} * x; return y + {word}; }} print(g{i}({word} = 3), g{i}(4, x = {word}));\n"
        text += f"for {word} in range(2) {{ print({word}); }} struct S{i} {{ var {word}; var b; }} S{i} s{i} = {{5, 6}}; print(s{i}.{word});\n"
        want += f"{i + 1} {-i}\n9 {4 * i + 4}\n0\n1\n5\n"
    text += "assert = 40; assert assert == 40; print = 3; print(print); where = [1.0]; print(where[0]); write = 1; from = 2; symbol = from + write; print(symbol);"
    want += "3\n1.0\n3\n"
    text += "def size(x: f64[N]) -> f64[N] where N > 0 { return x; } print(size([2])); print(ones(2)[newaxis, :].shape, x_var()); def x_var() { return var([1, 3]) + [1, 3].var(); }"
    want += "[2.0]\n(1, 2) 2.0\n"
    for mode in MODES:
        done = run(toy, text, *mode)
        if done.returncode or done.stdout != want:
            return f"{mode}: {done.stderr}{done.stdout}\nwanted {want}"
    return None


def scripts(toy):
    text = (
        "var α = 2; var größe = 3; var 変数 = 4; var Δt = 0.5; var ñ = 1; print(α + größe + 変数, Δt); def сумма(первый, второй = α) { return первый + второй; } print(сумма(1), сумма(1, второй = 5));\n"
        # one name, two spellings: composed and decomposed, marks in another order, the sign of angstrom and of kelvin,
        # Hangul in syllables and letters
        "var \u00e9 = 1; print(e\u0301); e\u0301 = 2; print(\u00e9); var a\u0323\u0302 = 3; print(\u1ead, a\u0302\u0323); var \u212b = 4; print(\u00c5, A\u030a); var \ud55c = 5; print(\u1112\u1161\u11ab); var \u212a = 6; print(K);\n"
        "struct Größe { var länge; var breite; } Größe g = {1, 2}; print(g.la\u0308nge); def f(x: f64[N], ζ) { return x * ζ; } print(f([1], ζ = 2), f([1], 2));\n"
        'for ι in range(2) { α += ι; } print(α); print("\u200b \u00a0 ∂ é" == "\u200b \u00a0 ∂ é"); # ∂ \u200b \u00a0\n'
    )
    want = "9 0.5\n3 6\n1\n2\n3 3\n4 4\n5\n6\n1\n[2.0] [2.0]\n3\ntrue\n"
    for mode in MODES:
        done = run(toy, text, *mode)
        if done.returncode or done.stdout != want:
            return f"{mode}: {done.stderr}{done.stdout}\nwanted {want}"
    return None


def normalization(toy):
    """Every letter that can be spelled in two ways is one name, in whichever order its marks come."""
    text, count = "", 0
    for code in [*range(0xC0, 0xAC00), *range(0xAC00, 0xD7A4, 97), *range(0xF900, 0x30000)]:
        letter = chr(code)
        apart = unicodedata.normalize("NFD", letter)
        whole = unicodedata.normalize("NFC", letter)
        if apart != letter and letter.isidentifier() and whole.isidentifier() and apart.isidentifier():
            count += 1
            text += (
                f"def f{count}() {{ var v{whole} = {count}; return v{apart} + v{letter}; }} assert f{count}() == {2 * count};\n"
                if count % 40 == 0
                else f"struct S{count} {{ var {apart}; var b; }} S{count} s{count} = {{{count}, 0}}; assert s{count}.{whole} == {count};\n"
            )
    if count < 500:
        return f"only {count} letters"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.toy")
        path.write_text(text)
        done = subprocess.run(
            [toy, "--jit=never", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120
        )
    return done.stderr[:2000] if done.returncode else None


def deceiving(toy):
    bidi = [0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
    invisible = [0xAD, 0x34F, 0x115F, 0x180E, 0x200B, 0x200C, 0x200D, 0x2060, 0x3164, 0xFE0F, 0xFEFF, 0xFFA0, 0xE0041]
    blanks = [0xA0, 0x2003, 0x2028, 0x2029, 0x202F, 0x3000]
    strange = ["∂", "²", "€", "😀", "\u0301", "\u0080", "\ue000"]
    for codes, code in ((bidi, "L0109"), (invisible, "L0110"), (blanks, "L0111")):
        for c in codes:
            name = f"U+{c:04X}"
            for place in (f"var x@ = 1;", f"var @x = 1;", f"var a@b = 1;", "1 +@ 2;", "2@;"):
                if problem := refused(toy, place.replace("@", chr(c)), code, place.index("@"), name):
                    return problem
    for c in strange:
        if problem := refused(toy, f"var x = {c};", "L0101", 8):
            return problem
    for c in bidi:  # hidden in strings and comments, too
        for place in ('print("a@b");', "print(1); # a@b", "## @\ndef f() { return 1; }"):
            done = run(toy, place.replace("@", chr(c)))
            if done.returncode != 1 or "error[L0109]" not in done.stderr or chr(c) in done.stderr:
                return f"{place} with U+{c:04X}: {done.stderr}"
    if (done := run(toy, 'print(len("\\xE2\\x80\\xAE"));')).stdout != "3\n":
        return done.stderr
    for raw in (b"var \xff = 1;", b"var a\xc3 = 1;", b"print(1\x00);"):
        done = subprocess.run([toy, "-"], input=raw, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        if done.returncode != 1 or b"error[L010" not in done.stderr:
            return f"{raw}: {done.stderr}"
    return None


def two_files(toy):
    with tempfile.TemporaryDirectory() as folder:

        def write(name, text):
            pathlib.Path(folder, name).write_text(text)

        def check(text, status, out, *parts):
            write("main.toy", text)
            for flags in (["--jit=auto"], ["--jit=always"], ["--jit=never"]):
                done = subprocess.run(
                    [toy, *flags, "main.toy"],
                    cwd=folder,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    timeout=60,
                )
                if (
                    done.returncode != status
                    or done.stdout != out
                    or any(part not in done.stderr for part in parts)
                    or (not parts and done.stderr)
                ):
                    return f"{text}: status {done.returncode}\n{done.stdout}{done.stderr}"
            return None

        write("lib.toy", 'print("lib"); def f() { return 10; } var state = 1;')
        write("other.toy", "def f() { return 20; }")
        write("deep.toy", 'import "lib.toy"; def g() { return f(); }')
        write("broken.toy", 'print("never"); def h( { }')
        write("circle.toy", 'import "main.toy";')
        return (
            check(
                'def f() { return 1; } print(f()); import "lib.toy"; print(f());',
                1,
                "",
                "error[N0113]",
                "`f` is defined in two files",
                "lib.toy:1",
            )
            or check('import "lib.toy"; def f() { return 1; } print(f());', 1, "", "error[N0113]")
            or check('import "lib.toy"; import "other.toy"; print(f());', 1, "", "error[N0113]")
            or check('import "deep.toy"; def f() { return 1; }', 1, "", "error[N0113]")
            or check('import "deep.toy"; import "lib.toy"; print(g(), f(), state);', 0, "lib\n10 10 1\n")
            or check('print(1); import "lib.toy"; print(f()); import "lib.toy";', 0, "1\nlib\n10\n")
            or check(
                "def f() { return 1; } print(f()); def f() { return 2; } print(f());",
                0,
                "1\n2\n",
                "warning[N0112]",
                "main.toy:1:39",
                "main.toy:1:5",
            )
            or check(
                "struct S { var a; var c; } S s = {1, 0}; struct S { var b; var d; } print(s.a); S t = {2, 0}; print(t.b);",
                0,
                "1\n2\n",
                "warning[N0112]",
            )
            or check(
                "def main() { print(f()); } def f() { return 1; } def f() { return 2; }", 0, "2\n", "warning[N0112]"
            )
            or check('print(1); import "broken.toy";', 1, "", "broken.toy:1")
            or check('print(1); import "missing.toy";', 1, "", "I0101")
            or check('import "circle.toy";', 1, "", "I0109")
        )


def called_library(toy):
    """A program is the user's whatever its file is called: the library's functions alone see no variables."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("main.toy", "<library>"):
            path = pathlib.Path(folder, name)
            path.write_text("var n = 2; def f(x) { return x + n; } print(f(1)); print(f(ones(2) @ ones(3)));")
            done = programs.run([toy, path])
            if done.stdout != "3\n" or errors(done) != [("T0301", 68)] or done.returncode != 1:
                return f"{name}: {done}"
    return None


def emitted(toy):
    """What --emit shows is what runs: definitions in their order, top-level variables where functions read them."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.toy")
        path.write_text(
            "def f() { return 11; } print(f()); def f() { return 22; } print(f()); var n = 33; def peek() { return n; } for i in range(2) { n = i; print(peek ()); }"
        )
        done = subprocess.run(
            [toy, "--emit=toy", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60
        )
        if done.returncode or "11" not in done.stdout or "22" not in done.stdout:
            return done.stderr + done.stdout
        body = done.stdout[done.stdout.index("@__top") :]
        return None if re.search(r"global_store[^\n]*\n(.*\n){0,3}.*call @peek", body) else done.stdout


def prompt_follows(toy):
    done = subprocess.run(
        [toy, "-"],
        input="def f() { return 1; }\ndef g() { return f(); }\nprint(g());\ndef f() { return 2; }\nprint(g());\nstruct P { var a; var c; }\nP p = {1, 0};\nstruct P { var b; var d; }\nP q = {3, 0};\nprint(q.b, p.a);\n",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    return None if (done.stdout, done.stderr, done.returncode) == ("1\n2\n3 1\n", "", 0) else done.stdout + done.stderr


# Functions of a number, and what f(1.0) gives while the `n` outside is 0.0 and while it is 1.0.
HIDING = {
    "if x > 0 { var n = 5.0; x += n; } return x + n;": (6, 7),
    "for n in range(3) { x += n; } return x + n;": (4, 5),
    "try { x = ones(2)[i64(x) + 4]; } catch n { x += 1; } return x + n;": (2, 3),
}
# Those that the `n` outside is nothing to: 2.0, whatever type it has.
WITHOUT = [
    "var n = 1.0; return x + n;",
    "if x > 0 { var n = 1.0; x += n; } return x;",
    "for n in range(2) { x += n; } return x;",
    "try { x = ones(2)[i64(x) + 4]; } catch n { if len(n.text) > 0 { x += 1; } } return x;",
    "def g(n) { return n + 1; } return g(x);",
    "def n(y) { return y + 1; } return n(x);",
    "return map(n => n + 1, [x])[0];",
    "def g(y: f64[n]) { return y + n; } return g([x])[0];",
]

# A function that is given to another reads `n`, too.
GIVEN = "def g(x) { return x + n; } def f(x) { return sum(map(g, x)) / len(x) - 1; }"


def hiding(toy):
    """Names of blocks, loops, handlers, functions inside and sizes hide a variable outside as far as they reach; where
    it is not read, its type makes no other instance."""
    modes = ["--jit=never", "--jit=always --no-cache"]
    rows = [
        (f"var n = 0.0; def f(x) {{ {body} }} for i in range(2) {{ n = f64(i); print(f(1.0)); }}", f"{a}.0\n{b}.0\n")
        for body, (a, b) in HIDING.items()
    ] + [
        (f"var n = 0.0; def f(x) {{ {body} }} print(f(1.0)); n = [1, 2]; print(f(1.0));", "2.0\n2.0\n")
        for body in WITHOUT
    ]
    for read in ("def f(x) { var y: f64[n] = x; return sum(y); }", GIVEN):
        rows += [(f"var n = 0; {read} for i in range(2, 4) {{ n = i; print(f(ones(i))); }}", "2.0\n3.0\n")]
    for (text, want), done in zip(rows, programs.run_parts(toy, [(text, modes) for text, _ in rows])):
        if [d.stdout for d in done] != [want] * 2 or done[1].compiles != 1:
            return f"{text}\n{done}\nwanted {want} and one compile"
    return None


def mutual(toy):
    """Of functions that call each other, each reads what any of them reads, whichever was called first."""
    text = (
        "var n = 0.0; def a(k: i64) -> f64 { if k > 0 { return b(k - 1); } return n; }"
        " def b(k: i64) -> f64 { if k > 0 { return a(k - 1); } return 5.0; }"
        " print(a(2)); for i in range(2, 4) { n = f64(i); print(b(1)); }"
    )
    [done] = programs.run_parts(toy, [(text, [mode for [mode] in MODES])])
    return None if {d.stdout for d in done} == {"0.0\n2.0\n3.0\n"} else f"{text}\n{done}"


def explained(toy):
    """What `:explain` tells of is in the functions that an input reaches, by calls or as values, and in no others."""
    names = ("called", "given", "neither")
    text = "".join(f"def {name}(a, b, c, d) {{ return (a*c - b*d, a*d + b*c); }}\n" for name in names)
    text += """def turns(n) { if n == 0 { return called(5.0, 2.0, 3.0, 4.0); } return turns(n - 1); }
def hands(f) { return f(5.0, 2.0, 3.0, 4.0); }
print(neither(1.0, 2.0, 3.0, 4.0));
:explain turns(3)
:explain hands(given)
:explain sin(1.0)
"""
    done = subprocess.run([toy], input=text, capture_output=True, text=True, timeout=120)
    told = re.findall(r"^<stdin.*:1:(\d+): recognized mul|^(no hidden)", done.stdout, re.M)
    return None if told == [("34", ""), ("33", ""), ("", "no hidden")] else f"{done.stdout}{done.stderr}"


def words_of_loops(toy):
    """`range` and the like, and `load` under a type, are what the program makes of them, in all kinds of scopes: also
    of a function the first definition behind, and of a variable what was made behind the first use. Numbers of the
    name hide nothing."""
    rows = {
        "var range = n => [5, 6]; for i in range(2) { print(i); }": "5.0\n6.0\n",
        "def f() { for i in range(1) { print(i); } return 0; } f(); def range(n) { return [9]; } f();": "9.0\n9.0\n",
        "def f() { for i in range(1) { print(i); } return 0; } f(); var range = n => [9]; f();": "0\n9.0\n",
        "def f(zip) { for i in zip([1], [3]) { print(i); } return 0; } f((a, b) => b);": "3.0\n",
        "var enumerate = x => x; def f() { for i in enumerate([7]) { print(i); } return 0; } f();": "7.0\n",
        "var progress = n => [4]; for i in progress(2) { print(i); }": "4.0\n",
        "def f() { var range = 3; for i in range(range - 1) { print(i); } return 0; } f();": "0\n1\n",
        "var range = 1; for i in range(range) { print(i); }": "0\n",
        "var load = x => x + 1; var y: f64 = load(3.0); print(y);": "4.0\n",
        "def f(load) { var y: f64[N] = load(3); return N; } print(f(n => ones(n)));": "3\n",
        "var list = (a, b) => [a, b]; var y: f64[2] = list(1, 2); print(y);": "[1.0, 2.0]\n",
    }
    parts = [(text, [mode for [mode] in MODES]) for text in rows]
    for (text, want), done in zip(rows.items(), programs.run_parts(toy, parts)):
        if {d.stdout for d in done} != {want}:
            return f"{text}\n{done}"
    return None


def statements(toy):
    """Parts of a complex value are found in statements of their own, whatever these are called and say."""
    values = "var a = [1, 2]; var b = [3, 4]; var c = [5, 6]; var d = [7, 8];"
    rows = {
        "var re = a*c - b*d; var im = a*d + b*c; print(re, im);": "mul",
        'var load = a*c - b*d; # print(\nprint(a*d + b*c, "load");': "mul",
        "print(a*c - b*d); print(a*d + b*c);": "mul",
        "var x = a * cos(b); var y = a * sin(b); print(complex(x, y));": "polar",
    }
    for (text, kind), [done] in zip(rows.items(), programs.run_parts(toy, [(values + t, [MODES[1][0]]) for t in rows])):
        if done.recognized != [kind]:
            return f"{text}\n{done}"
    return None


def all_cases():
    return [
        ("names: parts in several statements", statements),
        ("names: functions that call each other", mutual),
        ("names: functions that an input reaches", explained),
        ("names: what hides a variable outside", hiding),
        ("names: words of loops", words_of_loops),
        ("names: reserved words", reserved),
        ("names: words that are keywords in one place", contextual),
        ("names: scripts and spellings", scripts),
        ("names: normalization", normalization),
        ("names: characters that deceive", deceiving),
        ("names: files that define the same", two_files),
        ("names: a file that is called as the library", called_library),
        ("names: definitions under --emit", emitted),
        ("names: the prompt redefines silently", prompt_follows),
    ]
