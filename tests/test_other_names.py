# SPDX-License-Identifier: Apache-2.0
"""What other languages spell otherwise: each name, type, member, word, character and construct of the table is an
error here that says what to write, in names that exist; `exit`, `quit` and `help` work at the prompt, unless they are
names of the user's."""
import pathlib
import re
import subprocess

from programs import run_parts

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = (ROOT / "support/OtherSpellings.def").read_text()
COMMANDS = (ROOT / "repl/OtherCommands.def").read_text()
ARGUMENTS = "var a = [[1, 2], [3, 4]]; var b = a; var x = a; var y = a; var n = 2; var low = 1; var high = 2;\n"
ARGUMENTS += "var z = a + 1i; var xs = (1, 2); var ys = (3, 4); var start = zeros(2); def f(p, q) { return p + q; }\n"
ARGUMENTS += 'var text = "a b"; var part = "b";\n'


# Programs of the kind's rows, and the codes of their errors.
KINDS = {
    "NAME": (("{};", "{}(1);"), "N010[12]", 210),
    "TYPE": (("var q: {} = 1;", "def f(q: {}) {{ return q; }} f(1);"), "N0107", 35),
    "MEMBER": (("var x = [1, 2]; print(x.{});",), "N0106", 8),
    "DECLARATION": (("{} q = 3;", "{} q;"), "P0120", 6),
    "WORD": (("{} q;",), "P0120", 30),
    "CHARACTER": (("3 {} 4;",), "L0101", 11),
}
# Constructs, and the heads of their helps.
CONSTRUCTS = {
    "def f(x) = 2 * x;": "write `def f(x) {",
    "if (1 > 0) print(2);": "a block stands in braces",
    "def f(x: f64[N]) where N > 2 -> f64[N] { return x; }": "the type of the result stands before `where`",
    "for i in range(3): print(i)": "a block stands in braces",
    "if 1 > 0 then print(1) end": "a block stands in braces",
    "var x = 3; x = 4 then": "a block stands in braces",
    "try { print(1); } except { print(2); }": "`try {",
    "try: print(1)": "`try {",
    "map(x -> x + 1, [1])": "`x => x + 1`",
    "[x * x for x in range(3)]": "`map(x => …, xs)`",
    "[1, 2; 3, 4]": "rows are brackets",
    "[1 2 3]": "commas stand between",
    "var a = 1 if 2 > 1 else 0;": "`where(c, a, b)`",
    "print(1 if 2 > 1 else 0);": "`where(c, a, b)`",
    "else { }": "`else` stands on the line",
    "var x = 1; x++;": "`x += 1` counts",
    "print(3 in [1, 2]);": "`contains(xs, x)`",
    "print(3 not in [1, 2]);": "`contains(xs, x)`",
    "try { fail(); } catch (e) { }": "write `catch e {",
    "print(sum(x for x in [1, 2]));": "`map(x => …, xs)`",
    "struct P { x, y }": "members are declared",
    "struct P { var x: f64, var y; }": "declarations end with",
    "x := 3;": "`var x = …;`",
    "print(3 is nan);": "`==` compares",
    "print(5 mod 3);": "write `a % b`",
    "var x = 5 mod 3;": "write `a % b`",
    "var x = 5 div 3;": "write `a // b`",
    "var x = 3 end": "a block ends with",
    "print(1 === 1);": "write `a == b`",
    "print(1 !== 1);": "write `a != b`",
    "print(1 <> 1);": "write `a != b`",
    "true xor false;": "`a != b`",
    "struct P { var x, y; }": "members are declared one by one",
    "f(x) = x + 1;": "`def f(x) {",
    "norm([1, 2], ord = 1);": "`sum(svdvals(x))`",
    "norm([1, 2], p = 1);": "`sum(svdvals(x))`",
    'norm([[1, 2]], "nuc");': "`sum(svdvals(x))`",
    "cout << 3;": "integers have no operators of bits",
    "print(8 >> 1);": "integers have no operators of bits",
    "var a, b = 1, 2;": "`var (a, b) = (1, 2);`",
    "var a = 1; var b = 2; a, b = b, a;": "`(a, b) = (b, a);`",
    "var a = b = 1;": "assignments do not chain",
    "def f(*xs) { }": "`xs: list[f64]`",
    "def f(x, **more) { }": "`def f(x, scale = 1)",
    "for i in 0..3 { }": "`range(0, 3)`",
    "for i in 0..n { }": "`range(0, n)`",
    "for i in 1:3 { }": "`range(1, 4)`",
    "for (i in range(3)) { }": "write `for i in xs {",
    "for (i = 0; i < 3; i += 1) { }": "`for i in range(n) {",
    "print(sin.([1, 2]));": "functions take tensors",
    'print("a" . "b");': "`+` joins texts",
    'print("a" "b");': "`+` joins texts",
    "print([1] .* [2]);": "operators work element by element",
    "print([1] ./ [2]);": "operators work element by element",
    "print([1] .** [2]);": "operators work element by element",
    "print([1] .== [2]);": "operators work element by element",
    "struct P { x: f64; }": "members are declared",
    "struct P { x; }": "members are declared",
    "print(1:3);": "`x[1:3]` is a part",
    "// words": "`#` begins a comment",
    "/* words */": "`#` begins a comment",
    "/** words */": "`#` begins a comment",
    "% words": "`#` begins a comment",
    "var a = {1, 2};": "`[1, 2, 3]` is a tensor",
    "switch (1) { }": "`if … { … } else if",
    "loop { }": "`while true",
    "f64 x = 3;": "`var x: f64 =",
    "print(2im);": "write `2i`",
    "print(1_000);": "digits stand side by side",
    "print(0x1F);": "integers are decimal",
    "print([1, 2].len);": "`len` is a function",
    "linspace(0, 1, num = 5);": "write `n`",
    "var x = 1:10;": "`arange(1, 4)`",
    "print([1] .+ [2]);": "operators work element by element",
    "randn(3, seed = 1);": "write `key = key(1)`",
    "for i, x in enumerate([1]) { }": "`for (i, x) in enumerate(xs)",
    'print("x = %d" % 3);': '`f"{x:.3f}"` is a text',
    'zeros(3, dtype = "float32");': "write `f32`",
    'zeros(3, dtype = "f32");': "write `f32`",
    'save([1, 2], "x.npy");': "`save(path, x)` is the order",
    'join("-", split("a b"));': "`join(xs, sep)` is the order",
    'write_text("x.txt", "a line", "a");': "`append = true`",
}


def rows(kind="NAME"):
    found = re.findall(rf'^TOY_OTHER_{kind}\("(.+?)", "(.*)"\)$', TABLE, re.M)
    assert len(found) >= KINDS[kind][2] and len(dict(found)) == len(found)
    return [(word.replace("\\\\", "\\"), help.replace('\\"', '"')) for word, help in found]


def test_rows(toy):
    cases = [
        (program.format(word), help, code)
        for kind, (programs, code, _) in KINDS.items()
        for word, help in rows(kind)
        for program in programs
    ]
    for (text, help, code), [done] in zip(cases, run_parts(toy, [(text, [""]) for text, _, _ in cases]), strict=True):
        assert re.match(rf"error\[{code}\]", done.stderr) and f"help: {help}\n" in done.stderr, (text, done.stderr)


def test_constructs(toy):
    """Each construct has its help, and each row of constructs is met by one."""
    given = set()
    for (text, help), [done] in zip(
        CONSTRUCTS.items(), run_parts(toy, [(text, [""]) for text in CONSTRUCTS]), strict=True
    ):
        found = re.findall(r"^help: (.*)$", done.stderr, re.M)
        assert done.stderr.startswith("error") and found and found[0].startswith(help), (text, done.stderr)
        given |= set(found)
    table = re.findall(r'^TOY_OTHER_SYNTAX\(.*", "(.*)"\)$', TABLE, re.M)
    assert len(table) > 40 and not set(table) - given, set(table) - given


def test_advice_works(toy):
    """What stands in the backquotes of a help is an expression, the head of a loop or a type, or an option."""
    pieces = {p for _, help in rows() for p in re.findall(r"`([^`]*)`", help)}
    pieces -= {"return e", "seed(n)", "print(x)", 'fail("text")', "if true { }", "print(x, y)", "_", "_3"}
    for piece in sorted(p for p in pieces if p[0] in ":?"):  # commands of the prompt
        text = f"var x = 3;\ndef f(x) {{ return x; }}\nf(x)\n{piece}\n"
        done = subprocess.run([toy], input=text, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and done.stderr.count("\n") <= 1, (piece, done.stderr)
    pieces = {p for p in pieces if p[0] not in ":?"}
    parts = []
    for piece in sorted(p for p in pieces if not p.startswith("--")):
        statement = f"{piece} {{ }}" if piece.startswith("for ") else f"var result = {piece};"
        if piece in ("f32", "f64", "c64", "c128", "i32", "i64"):
            statement = f"var result = {piece}(1);"
        parts.append((ARGUMENTS + statement + "\nprint(1);", [""]))
    for (text, _), [done] in zip(parts, run_parts(toy, parts)):
        assert done.status == 0, text + done.stderr


def test_words(toy):
    def piped(text):
        return subprocess.run([toy], input=text, capture_output=True, text=True, timeout=60).stdout

    for word in ("exit", "quit", "exit()", "quit();", " exit ;"):
        assert piped(f"1\n{word}\n2\n") == "1\n"
    assert piped("help\n") == piped("help();\n") == piped(":help\n") != ""
    assert piped("var exit = 7;\nexit\ndef help(x) { return x; }\nhelp(3)\n") == "7\n3\n"


def test_questions_of_other_prompts(toy):
    """`help sin` and IPython's `sin?` are the question `?sin`; names of the user's come first."""

    def piped(text):
        done = subprocess.run([toy], input=text, capture_output=True, text=True, timeout=60)
        return done.stdout + done.stderr

    known = piped("?sin\n")
    assert "sin(x)" in known
    for question in ("help sin", "help(sin)", 'help("sin");', "help 'sin'", "sin?", "sin??", " SIN? "):
        assert piped(question + "\n") == known, question
    assert piped("?matmul\n") == piped("matmul?\n") != piped("@?\n") == piped("?@\n")
    assert piped("def help(x) { return 2 * x; }\nhelp(4)\n") == "8\n"
    for text in ("help(1 + 2)", "(sin)?", "1 > 2 ? 3 : 4", "? ?", "help sin cos"):
        assert "error[" in piped(text + "\n"), text


def test_commands_of_other_prompts(toy):
    """Each names the command that does it here, with its argument; no program is taken for one."""
    table = re.findall(r'^TOY_OTHER_COMMAND\("(.+)", "(.+)"\)$', COMMANDS, re.M)
    ours = set(re.findall(r"^TOY_COMMAND\((\w+),", (ROOT / "repl/Commands.def").read_text(), re.M))
    assert len(table) > 40 and len(ours) > 20
    for word, here in table:
        assert here.split()[0][1:] in ours or here[:2] == ":!" or here == "?", here
        argument = "" if here.startswith((":!", "?")) else " "
        line = f"{word}x" if word == "!" else f"{word} x"
        for text, want in {line: f"{here}{argument}x", word: here}.items():
            done = subprocess.run([toy], input=text + "\n", capture_output=True, text=True, timeout=60)
            assert done.returncode == 1
            if text != "!":
                told = f"error[D0106]: unknown command `{text.split()[0]}`\nhelp: write `{want}`\n"
                assert done.stderr == told, (text, done.stderr)
    for text in ("%timeitx 1", "% time", "@timed 1", ".helpful", "!"):
        done = subprocess.run([toy], input=text + "\n", capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and "D0106" not in done.stderr, text
