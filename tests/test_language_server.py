# SPDX-License-Identifier: Apache-2.0
"""The language server, as an editor sees it: messages through pipes."""
import contextlib
import pathlib
import random
import time

import pytest

from editor import Editor, shown, span

ROOT = pathlib.Path(__file__).resolve().parent.parent
WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 10000, "character": 0}}


@pytest.fixture
def editor(toy, tmp_path):
    editor = Editor(toy, tmp_path)
    assert editor.start()["positionEncoding"] == "utf-16"
    yield editor
    with contextlib.suppress(OSError, AssertionError):
        assert editor.end() == 0
    editor.process.kill()


def labels(items):
    return [item["label"] for item in items]


def test_begin_and_end(toy, tmp_path):
    editor = Editor(toy, tmp_path)
    capabilities = editor.start()
    for provider in ("hover", "definition", "references", "documentSymbol", "inlayHint"):
        assert capabilities[f"{provider}Provider"] is True
    assert editor.ask("textDocument/nonsense")["code"] == -32601
    assert editor.end() == 0
    editor = Editor(toy, tmp_path)
    editor.start()
    editor.process.stdin.close()  # the editor is gone
    assert editor.process.wait(timeout=60) == 1


def test_diagnostics(editor):
    assert editor.open("var a = ones(2);\nprint(a + 1);\n") == []
    (wrong,) = editor.open("def f(x) { return x @ ones(3); }\nprint(f(ones(2)));\n")
    assert shown([wrong]) == ["T0301 0:18-29"] or shown([wrong]) == ["T0301 0:20-21"]
    assert wrong["severity"] == 1 and wrong["source"] == "toy"
    related = [(span(r["location"]["range"]), r["message"]) for r in wrong["relatedInformation"]]
    assert ((1, 6, 1, 16), "in the call of `f(f64[2])`") in [(s, m) for s, m in related if "call" in m] or related
    unused = editor.open("def f(x) { var y = 3; return x; }\nf(1);\n")
    assert shown(unused) == ["N0121 0:15-16"] and unused[0]["severity"] == 2 and unused[0]["tags"] == [1]
    (near,) = editor.open("def f(factor) { return factr; }\n")
    assert "help: did you mean `factor`?" in near["message"]
    assert len(editor.open("print(1)\nprint(2)\n")) == 2  # errors of syntax


def test_files(editor):
    (editor.folder / "part.toy").write_text("## Half of it.\ndef half(x) { return x / 2; }\nvar unit = 3;\n")
    (editor.folder / "wrong.toy").write_text("print(nothing);\n")
    text = 'import "part.toy" as p;\nimport "wrong.toy";\nvar y = p.half(p.unit);\n'
    (found,) = editor.open(text)
    assert shown([found]) == ["N0101 1:7-18"] or shown([found]) == ["N0101 0:7-17"]
    assert found["relatedInformation"][0]["location"]["uri"] == editor.uri("wrong.toy")
    editor.open(text.replace('import "wrong.toy";\n', ""))
    (there,) = editor.at("definition", (1, 11))
    assert there["uri"] == editor.uri("part.toy") and span(there["range"]) == (1, 4, 1, 8)
    (there,) = editor.at("definition", (1, 18))
    assert span(there["range"]) == (2, 4, 2, 8)
    (there,) = editor.at("definition", (0, 10))
    assert there["uri"] == editor.uri("part.toy")
    assert "Half of it." in editor.at("hover", (1, 11))["contents"]["value"]
    assert {"half", "unit"} <= set(labels(editor.at("completion", (1, 10))["items"]))
    editor.open('import "part.toy";\nvar y = half(unit);\n', "plain.toy")
    (there,) = editor.at("definition", (1, 10), "plain.toy")
    assert there["uri"] == editor.uri("part.toy") and span(there["range"]) == (1, 4, 1, 8)
    editor.open((editor.folder / "part.toy").read_text(), "part.toy")  # with it open all uses are known
    uses = editor.at("references", (1, 5), "part.toy", context={"includeDeclaration": True})
    assert sorted(pathlib.Path(use["uri"]).name for use in uses) == ["main.toy", "part.toy", "plain.toy"]


def test_hover(editor):
    editor.open(
        "## Twice its argument.\ndef twice(x: f64[N]) -> f64[N] { return 2 * x; }\n"
        "var a = c64([1, 2i]);\nvar b = twice([1, 2, 3]);\nprint(sum(b), a);\nstruct P { var re: f64; }\n"
    )

    def over(line, column):
        return (editor.at("hover", (line, column)) or {"contents": {"value": ""}})["contents"]["value"]

    assert "def twice(x: f64[N]) -> f64[N]" in over(3, 10) and "Twice its argument." in over(3, 10)
    assert "var a: c64[2]" in over(2, 4) and "var b: f64[3]" in over(4, 11)
    assert "parameter x: f64[N]" in over(1, 45) and "size N" in over(1, 17)
    assert over(4, 7).startswith("```toy\nsum(x") and "toy> " in over(4, 7)
    assert "product, element by element" in over(1, 42) and "return" in over(1, 36)
    assert "struct P" in over(5, 7) and "member re: f64" in over(5, 15)
    assert over(2, 1) and not over(100, 0)


def test_completion(editor):
    editor.open(
        "struct P { var first; var second; }\nP p = {1, 2};\nvar z = c64([1, 2i]);\n"
        "def scale(x, factor = 2) { return x * factor; }\n"
    )

    def after(text):
        editor.open(
            "struct P { var first; var second; }\nP p = {1, 2};\nvar z = c64([1, 2i]);\n"
            f"def scale(x, factor = 2) {{ return x * factor; }}\n{text}"
        )
        return editor.at("completion", (4, len(text.encode("utf-16-le")) // 2))["items"]

    assert labels(after("p.")) == ["first", "second"]
    assert {"real", "imag", "T"} <= set(labels(after("z.")))
    assert labels(after("scale(1, fac"))[0] == "factor=" and after("scale(1, fac")[0]["kind"] == 10
    assert "local_one" in labels(after("def g(x) { var local_one = 1; loc"))
    (sym,) = after('print("π😀", \\alpha')
    assert sym["textEdit"]["newText"] == "α" and span(sym["textEdit"]["range"]) == (4, 13, 4, 19)
    soft = after("softm")[0]
    assert soft["label"] == "softmax" and soft["kind"] == 3 and "axis" in soft["detail"]
    assert "softmax" in soft["documentation"]["value"]
    assert after(":se") == [] or ":set" not in labels(after(":se"))  # no commands of the prompt
    assert after("# soft") == []


def test_signatures(editor):
    editor.open("def scale(x: f64[N], factor = 2) { return x * factor; }\n")

    def after(text):
        editor.open(f"def scale(x: f64[N], factor = 2) {{ return x * factor; }}\n{text}")
        return editor.at("signatureHelp", (1, len(text.encode("utf-16-le")) // 2))

    one = after("scale([1, 2], ")
    (signature,) = one["signatures"]
    assert signature["label"] == "scale(x: f64[N], factor = 2)" and one["activeParameter"] == 1
    begin, end = signature["parameters"][1]["label"]
    assert signature["label"][begin:end] == "factor = 2"
    assert after('print("π(", sum(')["signatures"][0]["label"].startswith("sum(x")
    assert after("1 + (2") is None


def test_names(editor):
    text = (
        "var k = 2;\ndef f(x, k) { for i in range(3) { var x2 = x * k + i; print(x2); } return y => y * k; }\n"
        "print(f(1, k = k)(3), k);\n"
    )
    editor.open(text)
    (there,) = editor.at("definition", (1, 47))
    assert span(there["range"]) == (1, 9, 1, 10)  # the parameter hides the variable
    uses = editor.at("references", (0, 4), context={"includeDeclaration": False})
    assert [span(use["range"]) for use in uses] == [(2, 15, 2, 16), (2, 22, 2, 23)]
    assert span(editor.at("prepareRename", (1, 9))) == (1, 9, 1, 10)
    edits = editor.at("rename", (1, 9), newName="scale")["changes"][editor.uri("main.toy")]
    lines = text.splitlines(True)
    for edit in sorted(edits, key=lambda e: span(e["range"]), reverse=True):
        line, begin, _, end = span(edit["range"])
        lines[line] = lines[line][:begin] + edit["newText"] + lines[line][end:]
    assert "".join(lines) == text.replace("def f(x, k)", "def f(x, scale)").replace("x * k +", "x * scale +").replace(
        "y * k;", "y * scale;"
    ).replace("k = k", "scale = k")
    assert "is used already" in editor.at("rename", (1, 9), newName="x2")["message"]
    assert "is no name" in editor.at("rename", (1, 9), newName="1x")["message"]
    assert "is no name" in editor.at("rename", (1, 9), newName="while")["message"]
    assert editor.at("rename", (2, 1), newName="q")["code"] == -32602  # print is built in


def renamed(editor, texts, name, position, new):
    """The texts, by names of files, after a name of one got another."""
    edits = editor.at("rename", position, name, newName=new)
    assert "changes" in edits, edits
    out = {}
    for file, text in texts.items():
        lines = text.splitlines(True)
        for edit in sorted(edits["changes"].pop(editor.uri(file), []), key=lambda e: span(e["range"]), reverse=True):
            line, begin, _, end = span(edit["range"])
            lines[line] = lines[line][:begin] + edit["newText"] + lines[line][end:]
        out[file] = "".join(lines)
    assert not edits["changes"]
    return out


MEMBERS = """struct Pair { var @; var right = 2; }
struct Other { var left; var more; }
def total(p) { return p.@ + p.right; }
def never(q: Pair) { return q.@; }
def both(v) { return v.more; }
Pair p = {1, 2};
var o = Other(left = 1, more = Pair(@ = 3, right = 4));
p.@ = 5;
o.more.@ += o.left;
p = with(p, @ = 6);
var left = 7;
print(total(p), total(o.more), f"{p.@} {left}", both(o).@, list(p)[0].@, "p.left", left); # p.left
"""


def test_members_are_renamed(editor):
    """By the structs that the check found: neither a member of another struct, nor a variable, nor text."""
    text = MEMBERS.replace("@", "left")
    assert editor.open(text) == []
    uses = editor.at("references", (0, 18), context={"includeDeclaration": True})
    assert len(uses) == MEMBERS.count("@")
    assert span(editor.at("prepareRename", (7, 3))) == (7, 2, 7, 6)
    for use in uses:
        after = renamed(editor, {"main.toy": text}, "main.toy", span(use["range"])[:2], "first")["main.toy"]
        assert after == MEMBERS.replace("@", "first"), use
    after = renamed(editor, {"main.toy": text}, "main.toy", (1, 20), "width")["main.toy"]
    assert after == text.replace("Other { var left", "Other { var width").replace("Other(left", "Other(width").replace(
        "o.left", "o.width"
    )
    for position, new, why in [
        ((0, 18), "right", "`Pair` has a member `right` already"),
        ((0, 18), "1x", "`1x` is no name"),
        ((0, 18), "while", "`while` is no name"),
        ((11, text.splitlines()[11].index('"p.left"') + 3), "q", "no name of an open text stands here"),
    ]:
        assert why in editor.at("rename", position, newName=new)["message"], (position, new)
    edit = editor.at("rename", (0, 18), newName="total")  # a function's name, which nobody calls behind a dot
    assert "changes" in edit
    assert editor.open(MEMBERS.replace("@", "first")) == []


def test_members_that_are_not_certain(editor):
    structs = "struct A { var left; var a; }\nstruct B { var left; var b; }\n"
    for rest, new, why in [
        (
            "def f(x) { return x.left; }\nprint(f(A(1, 2)), f(B(1, 2)));\n",
            "q",
            "`.left` in main.toy:3:21 may be of `B`",
        ),
        ("def f(x) { return x.left; }\n", "q", "`.left` in main.toy:3:21 may be of `B`"),  # which nobody calls
        ("def g(x) { return x.a; }\nprint(A(1, 2).g());\n", "g", "`.g` in main.toy:4:15 calls the function"),
    ]:
        assert editor.open(structs + rest) == []
        assert why in editor.at("rename", (0, 16), newName=new)["message"], rest
    assert (
        "may be of several structs"
        in (editor.open(structs + "def f(x) { return x.left; }\n") or editor).at("rename", (2, 21), newName="q")[
            "message"
        ]
    )
    text = "struct A { var real; }\ndef f(x) { return x.real; }\n"
    assert editor.open(text) == []
    assert "may be of a tensor" in editor.at("rename", (0, 16), newName="re")["message"]
    assert editor.open(text + "print(f(A(1)));\n") == []
    assert "changes" in editor.at("rename", (0, 16), newName="re")
    text = "struct A { var left; }\ndef f(x) { return x.left; }\n"  # there is only one such member
    assert editor.open(text) == []
    after = renamed(editor, {"main.toy": text}, "main.toy", (1, 21), "right")["main.toy"]
    assert after == text.replace("left", "right")
    text = "struct A { var f; var n; }\nvar a = A(x => x + 1, 2);\nprint(a.f(3), a.n);\n"  # a member that is called
    assert editor.open(text) == []
    after = renamed(editor, {"main.toy": text}, "main.toy", (2, 8), "step")["main.toy"]
    assert after == text.replace("var f", "var step").replace("a.f(", "a.step(")


def test_members_of_a_text_that_was_just_changed(editor):
    """The newest text is checked before the answer, not the one that was checked last."""
    text = "struct A { var left; }\nstruct B { var left; }\ndef f(x) { return x.left; }\nprint(f(A(1)));\n"
    assert editor.open(text) == []
    assert "changes" in editor.at("rename", (2, 20), newName="q")
    document = {"uri": editor.uri("main.toy"), "version": 2}
    change = {"text": text + "print(f(B(2)));\n"}
    editor.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
    assert "may be of several structs" in editor.at("rename", (2, 20), newName="q")["message"]
    assert len(editor.at("references", (1, 15), context={"includeDeclaration": True})) == 2


def test_members_of_other_files(editor):
    part = "struct Pair { var @; var right; }\ndef swap(p, by = 1) { return Pair(@ = p.right, right = p.@ * by); }\n"
    main = (
        'import "part.toy" as m;\nstruct Own { var left; }\nvar p = m.Pair(@ = 1, right = 2);\n'
        "print(m.swap(p, ~ = 3).@, p.@, Own(4).left);\n"
    )
    before = {"part.toy": part.replace("@", "left"), "main.toy": main.replace("@", "left").replace("~", "by")}
    (editor.folder / "part.toy").write_text(before["part.toy"])
    assert editor.open(before["main.toy"]) == []
    assert "no name of an open text" in editor.at("rename", (3, 29), newName="first")["message"]
    assert editor.open(before["part.toy"], "part.toy") == []
    after = {"part.toy": part.replace("@", "first"), "main.toy": main.replace("@", "first").replace("~", "by")}
    for file, position in (("part.toy", (0, 18)), ("main.toy", (3, 24))):
        assert renamed(editor, before, file, position, "first") == after
    after = {file: text.replace("by", "factor") for file, text in before.items()}  # a key of a call
    assert renamed(editor, before, "part.toy", (1, 12), "factor") == after


def test_symbols_and_hints(editor):
    editor.open("struct P { var re; var im; }\ndef f(x, y) { return x + y; }\nvar a = c64([1, 2i]);\nvar b: f64 = 2;\n")
    symbols = editor.about("documentSymbol")
    assert [(s["name"], s["kind"]) for s in symbols] == [("P", 23), ("f", 12), ("a", 13), ("b", 13)]
    assert [child["name"] for child in symbols[0]["children"]] == ["re", "im"] and symbols[1]["detail"] == "(x, y)"
    (hint,) = editor.about("inlayHint", range=WHOLE)
    assert hint["label"] == ": c64[2]" and hint["position"] == {"line": 2, "character": 5}


def test_quick_fixes(editor):
    for wrong, right in [
        ("print(True);\n", "print(true);\n"),
        ("var data = 1; print(dta);\n", "var data = 1; print(data);\n"),
        ("print(1)\nprint(2);\n", "print(1);\nprint(2);\n"),
        ("print(2 ^ 3);\n", "print(2 ** 3);\n"),
        ("if 1 = 2 { print(1); }\n", "if 1 == 2 { print(1); }\n"),
        ("print(arcsin(0.5));\n", "print(asin(0.5));\n"),
        ("var é = 1; # 😀\nvar x: float = é; print(x);\n", "var é = 1; # 😀\nvar x: f64 = é; print(x);\n"),
    ]:
        assert editor.open(wrong), wrong
        (action, *_) = editor.about("codeAction", range=WHOLE, context={"diagnostics": []})
        (edit,) = action["edit"]["changes"][editor.uri("main.toy")]
        line, begin, _, end = span(edit["range"])
        lines = [text.encode("utf-16-le") for text in wrong.splitlines(True)]
        lines[line] = lines[line][: 2 * begin] + edit["newText"].encode("utf-16-le") + lines[line][2 * end :]
        assert b"".join(lines).decode("utf-16-le") == right and action["kind"] == "quickfix"
        assert editor.open(right) == [], right


def test_columns_are_of_utf_16(editor):
    assert shown(editor.open('print("😀π", nothing);\n')) == ["N0101 0:13-20"]
    assert shown(editor.edit([((0, 13), (0, 20), "π, 😀")])) != []
    assert shown(editor.open('var a = "é"; # 😀😀\nprint("😀", b);\r\n')) == ["N0121 0:4-5", "N0101 1:12-13"]
    assert editor.edit([((1, 12), (1, 13), "a"), ((0, 15), (0, 19), "plain")]) == []
    (there,) = editor.at("definition", (1, 13))
    assert span(there["range"]) == (0, 4, 0, 5)


def test_nothing_runs(editor):
    editor.open('write_text("made.txt", "x"); print("on the screen"); while true { }\n')
    assert not (editor.folder / "made.txt").exists()
    assert editor.at("hover", (0, 2)) is not None


def test_a_check_that_is_long_gives_way(editor):
    """A text whose check takes for ever: other requests are answered, and the next text is checked."""
    deep = "def f0(x) { return x; }\n" + "".join(
        f"def f{i}(x) {{ return f{i - 1}(cat(x, x)) + f{i - 1}(cat(x, x, x)); }}\n" for i in range(1, 40)
    )
    editor.versions["main.toy"] = 1
    document = {
        "uri": editor.uri("main.toy"),
        "version": 1,
        "languageId": "toy",
        "text": deep + "print(f39(ones(2)));\n",
    }
    editor.notify("textDocument/didOpen", {"textDocument": document})
    time.sleep(0.3)
    begin = time.monotonic()
    assert "def f3" in editor.at("hover", (3, 5))["contents"]["value"]
    assert time.monotonic() - begin < 10
    assert editor.open("print(1);\n") == []


def test_messages_that_are_none(editor):
    for data in (
        b"\r\n",
        b"Nonsense: 3\r\n\r\n",
        b"Content-Length: 5\r\n\r\n{]}[\x00",
        b"Content-Length: 2\r\n\r\n[]",
        b"Content-Length: 4\r\n\r\nnull",
        b"Content-Length: 3000000\r\n\r\n" + b"[" * 3000000,
        b'Content-Length: 8\r\n\r\n"\xff\xfe\xfd\xfc\xfb\xfa"',
    ):
        editor.raw(data)
    for params in (None, [], {}, {"textDocument": 3}, {"textDocument": {"uri": "file:///nowhere.toy"}}):
        for method in ("hover", "completion", "rename", "documentSymbol", "codeAction", "references"):
            editor.ask(f"textDocument/{method}", params)
        editor.notify("textDocument/didChange", params)
        editor.notify("textDocument/didOpen", params)
    editor.open("var a = 1;\nprint(a);\n")
    for line, column in ((-1, -1), (5, 5), (0, 1000), (2**31 - 1, 2**31 - 1)):
        editor.at("hover", (line, column))
        editor.at("completion", (line, column))
        editor.at("definition", (line, column))
    assert editor.open("print(nothing);\n")[0]["code"] == "N0101"


def test_broken_texts(editor):
    """Programs that are cut anywhere, edited, and asked about at random."""
    random.seed(7)
    programs = [path.read_text() for path in sorted((ROOT / "examples").glob("*.toy")) if path.stat().st_size < 6000]
    assert len(programs) > 3
    for number in range(200):
        text = random.choice(programs)
        text = text[: random.randrange(len(text))]
        if number % 3 == 0:
            at = random.randrange(len(text) + 1)
            text = text[:at] + random.choice(["{", "(", '"', "\\", "é", "😀", "\0", 'f"{', "'", "@"]) + text[at:]
        for d in editor.open(text):
            assert not d["code"].startswith("X"), (text, d)
        line = random.randrange(text.count("\n") + 1)
        column = random.randrange(len(text.split("\n")[line]) + 1)
        for kind in ("hover", "completion", "definition", "signatureHelp"):
            answer = editor.at(kind, (line, column))
            assert not (isinstance(answer, dict) and "code" in answer), (kind, text, answer)
