# SPDX-License-Identifier: Apache-2.0
"""Names of other languages: each is unknown here, and its error says what to write, in names that exist; `exit`, `quit`
and `help` work at the prompt, unless they are names of the user's."""
import pathlib
import re
import subprocess

from programs import run_parts

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r'^TOY_OTHER_NAME\("(\w+)", "(.*)"\)$', re.M)
ARGUMENTS = "var a = [[1, 2], [3, 4]]; var b = a; var x = a; var y = a; var n = 2; var low = 1; var high = 2;\n"
ARGUMENTS += "var z = a + 1i; var xs = (1, 2); var ys = (3, 4); var start = zeros(2); def f(p, q) { return p + q; }\n"
ARGUMENTS += 'var text = "a b"; var part = "b";\n'


def rows():
    found = ROW.findall((ROOT / "irgen/OtherNames.def").read_text())
    assert len(found) > 90 and len(dict(found)) == len(found)
    return found


def test_names(toy):
    parts = [(f"{name}{call};", [""]) for name, _ in rows() for call in ("", "(1)")]
    helps = [help for _, help in rows() for _ in range(2)]
    for (text, _), help, [done] in zip(parts, helps, run_parts(toy, parts), strict=True):
        assert re.match(r"error\[N010[12]\]", done.stderr) and f"help: {help}\n" in done.stderr, (text, done.stderr)


def test_advice_works(toy):
    """What stands in the backquotes of a help is an expression, the head of a loop or a type, or an option."""
    pieces = {p for _, help in rows() for p in re.findall(r"`([^`]*)`", help)}
    pieces -= {"return e", "seed(n)", "print(x)", "print(x, y)", ":type x"}
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
