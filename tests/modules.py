# SPDX-License-Identifier: Apache-2.0
"""Files that are imported under a name: their names, where they are found, that they run once, and what is refused. At
the prompt: completion, help, `:undo`, `:save`."""
import os
import pathlib
import subprocess
import tempfile

from programs import first, same
from terminal import session

FILES = {
    "filters.toy": """
import "lib/shared.toy" as shared;
var order = 2;
struct Band { var low; var high; }
struct Filter { var n = order; var gain = gain(n = order) + shared.offset; }
## Twice the mean.
def lowpass(x, n = order) { return mean(x) * gain(n) + shared.offset; }
def gain(n) { return f64(n); }
def mean(x) { return shared.first(x); }
def width(b: Band) { return b.high - b.low; }
def counted(n) { var f = k => gain(k) + order; return f(n); }
print("filters run");
""",
    "lib/shared.toy": """
var offset = 100.0;
def first(x) { return x[0]; }
def fallible(x, i) { try { return x[i]; } catch e { return -first(x); } }
print("shared runs");
""",
    "plain.toy": 'import "lib/shared.toy" as s;\ndef both(x) { return s.first(x) + own; }\nvar own = 5;\n',
    "one.toy": 'import "lib/shared.toy" as m;\ndef by_one(x) { var f = y => m.first([y]); return f(x) + m.offset; }\n',
    "two.toy": """
import "filters.toy" as m;
def by_two(x, low = m.order) { return f"{m.gain(x) + low}"; }
def lazy(x) { var m = 3; return x + m; }
def pair(low, high) { return m.Band(low, high); }
""",
    "a.toy": 'import "b.toy" as b;\ndef fa() { return 1; }\n',
    "b.toy": 'import "a.toy" as a;\ndef fb() { return 2; }\n',
}
SETTINGS = ["--jit=never"], ["--jit=always"], ["--jit=auto"], ["--jit=always", "--unpack"], ["--dynamic=on"]


def folder():
    place = tempfile.TemporaryDirectory()
    for name, text in FILES.items():
        path = pathlib.Path(place.name, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return place


def run(toy, program, flags=(), environment=None, name="main.toy", cwd=None):
    with folder() as place:
        path = pathlib.Path(place, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(program)
        return subprocess.run(
            [toy, *flags, str(path)],
            capture_output=True,
            text=True,
            cwd=cwd or place,
            env={**os.environ, **{k: v.replace("@", place) for k, v in (environment or {}).items()}},
        )


def programs(toy):
    """(program, output): the same in all settings."""
    wrong = []
    for program, want in (
        (
            'import "filters.toy" as flt;\nimport "lib/shared.toy" as other;\nprint(flt.lowpass([3, 4]), flt.order);\n'
            "print(mean([3, 4]), other.offset, map(other.first, [[7, 8], [9, 10]]));\n"
            "var b = flt.Band(1, 4); print(b, flt.width(b), flt.counted(3));\n"
            "def local(flt) { return flt.low; } print(local(b), other.fallible([5, 6], 9));\n"
            "def deep(x) { return flt.lowpass(x, n = 3); } print(deep([1]), flt.lowpass);\n",
            "shared runs\nfilters run\n106.0 2\n3.5 100.0 [7.0, 9.0]\nflt.Band{low: 1, high: 4} 3 5.0\n"
            "1 -5.0\n103.0 fn flt.lowpass\n",
        ),
        (
            'import "filters.toy" as flt;\nvar order = "mine";\ndef made() { return flt.Filter(); }\n'
            "print(flt.Filter(), made(), flt.Filter(n = 1).with(gain = 0));\n",
            "shared runs\nfilters run\nflt.Filter{n: 2, gain: 102.0} flt.Filter{n: 2, gain: 102.0} flt.Filter{n: 1, gain: 0}\n",
        ),
        (
            'import "plain.toy";\nprint(both([1, 2]), own);\nown = 6; print(both([1, 2]));\n',
            "shared runs\n6.0 5\n7.0\n",
        ),
        (
            'import "lib/shared.toy" as s;\nvar offset = 1; def first(x) { return x; }\n'
            "print(first(2), s.first([3]), offset + s.offset);\ns.offset = 7.0; print(s.offset);\n"
            "for s in range(2) { print(s); }\nvar f = s.first; print(f([4]), [1.5, 2].first());\n",
            "shared runs\n2 3.0 101.0\n7.0\n0\n1\n4.0 [1.5, 2.0]\n",
        ),
    ):
        for flags in SETTINGS:
            done = run(toy, program, flags)
            if done.stdout != want or done.returncode:
                wrong.append(f"{program} {flags}: {done}")
    return "\n".join(wrong) or None


REFUSED = (
    ('import "filters.toy" as flt;\nvar m = flt;\n', "error[N0116]", "`flt` is a module", ":2:9"),
    ('import "filters.toy" as flt;\nprint(flt.lowpas([1]));\n', "error[N0102]", "did you mean `flt.lowpass`?", ":2:"),
    ('import "filters.toy" as flt;\nprint(flt.ordr);\n', "error[N0101]", "did you mean `flt.order`?", ":2:"),
    ('import "filters.toy" as flt;\nprint(order);\n', "error[N0101]", "unknown name `order`", ":2:7"),
    ('import "a.toy";\n', "error[I0109]", "`a.toy` imports `b.toy` imports `a.toy`", ""),
    ('def first(x) { return 1; }\nimport "lib/shared.toy";\n', "error[N0113]", "`first` is defined in two files", ""),
    ('import "nowhere.toy" as n;\n', "error[I0101]", "cannot open", ":1:8"),
    ("import lib2;\n", "error[P0127]", 'write `import "lib2.toy";`', ":1:8"),
    ("import numpy as np;\n", "error[P0127]", "nothing has to be imported", ":1:8"),
    ("import lib2 as l;\n", "error[P0127]", 'write `import "lib2.toy" as l;`', ":1:8"),
    ("from lib2 import f;\n", "error[P0127]", 'write `import "lib2.toy" as lib2;`', ":1:6"),
)


def refused(toy):
    wrong = []
    for program, *texts in REFUSED:
        done = run(toy, program)
        if any(text not in done.stderr for text in texts) or done.returncode != 1:
            wrong.append(f"{program}: {done.stderr}")
    return "\n".join(wrong) or None


def found(toy):
    """The folder of the importing file, then TOY_PATH, never the current folder."""
    program = 'import "shared.toy" as s;\nprint(s.first([1]));\n'
    here = run(toy, program, name="lib/main.toy")
    path = run(toy, program, environment={"TOY_PATH": "/nowhere::@/lib"})
    with folder() as place:
        current = run(toy, program, cwd=place + "/lib")
    if here.stdout != "shared runs\n1.0\n" or path.stdout != here.stdout or "I0101" not in current.stderr:
        return f"{here}\n{path}\n{current}"
    return None


ALIASES = '(f64, str, i64, i64)\n(102.0, "4.0", 4, 1)'


def at_prompt(s):
    for name, text in FILES.items():
        pathlib.Path(s.home.name, name).parent.mkdir(exist_ok=True)
        pathlib.Path(s.home.name, name).write_text(text)
    home = s.home.name
    problems = [same("import", s.line(f'import "{home}/filters.toy" as flt;'), "shared runs\nfilters run")]
    problems.append(same("call", s.line("flt.lowpass([3, 4])"), "f64\n106.0"))
    problems.append(same("type", s.line(":type flt.order"), "i64"))
    problems.append(same("help", "Twice the mean." in s.line("?flt.lowpass"), True))
    problems.append(same("completion", s.line("flt.lowp\t([3, 4])"), "f64\n106.0"))
    s.line("var b = flt.Band(1, 2.5);")
    s.line("flt.order = 5;")
    problems.append(same("changed", s.line("flt.lowpass([3, 4])"), "f64\n115.0"))
    s.line(":undo")
    s.line(":undo")
    problems.append(same("undone", s.line("flt.lowpass([3, 4])"), "f64\n106.0"))
    s.line(f":save {home}/saved.toy")
    s.line(":reset")
    problems.append(same("reset", "N0101" in s.line("flt.order"), True))
    s.line(f":load {home}/saved.toy")
    problems.append(same("loaded", s.line("(flt.width(b), flt.lowpass([3, 4]))"), "(f64, f64)\n(1.5, 106.0)"))
    s.line(":reset")
    s.line(f'import "{home}/plain.toy";')
    s.line(f":save {home}/saved.toy")
    s.line(":reset")
    s.line(f":load {home}/saved.toy")
    problems.append(same("what a plain import sees", s.line("both([3])"), "f64\n8.0"))
    s.line(":reset")
    s.line(f'import "{home}/one.toy";')
    s.line(f'import "{home}/two.toy";')
    s.line("var kept = pair(1, 2);")
    s.line(f":save {home}/saved.toy")
    s.line(":reset")
    s.line(f":load {home}/saved.toy")
    problems.append(same("one name for two modules", s.line("(by_one(2), by_two(2), lazy(1), kept.low)"), ALIASES))
    s.line(":reset")
    s.line(f'import "{home}/lib/shared.toy" as s;')
    s.line(":undo")
    problems.append(same("undone import", "N0101" in s.line("s.offset"), True))
    problems.append(same("again", s.line(f'import "{home}/lib/shared.toy" as s;'), "shared runs"))
    problems.append(same("value", s.line("s.offset"), "f64\n100.0"))
    return first(*problems)


def functions_that_go(s, home):
    """What a file does not define any more is gone after `:reload`, if that succeeds, and comes back by `:undo`."""
    file = home / "goes.toy"
    s.line(":reset")
    s.line("def own(x) { return x; }")
    file.write_text("def kept(x) { return x; } def gone(x) { return kept(x); } def caller(x) { return gone(x); }")
    s.line(f":load {file}")
    problems = [same("there", s.line("(gone(1), caller(2), own(3))"), "(i64, i64, i64)\n(1, 2, 3)")]
    file.write_text("def kept(x) { return 2 * x; def")
    s.line(":reload")
    problems.append(same("broken", s.line("gone(1)"), "i64\n1"))
    file.write_text("def kept(x) { return 2 * x; } def caller(x) { return kept(x); }")
    s.line(":reload")
    problems.append(same("gone", "N0102" in s.line("gone(1)"), True))
    problems.append(same("kept", s.line("(kept(1), caller(1), own(3))"), "(i64, i64, i64)\n(2, 2, 3)"))
    s.line(":undo")
    s.line(":undo")
    problems.append(same("undone", s.line("gone(1)"), "i64\n1"))
    return first(*problems)


def run_again(s):
    """`:reload` runs what the file imports again; a module's variables that the session has changed are saved."""
    home = pathlib.Path(s.home.name)

    def tools(text):
        (home / "tools.toy").write_text(text)

    tools("var scale = 2.0; def twice(x) { return scale * x; } def old(x) { return x; }")
    (home / "plain.toy").write_text("def plus(x) { return x + 1; }")
    (home / "main.toy").write_text(
        'import "tools.toy" as t; import "plain.toy"; var f = t.twice; var g = x => f(x) + 1;'
    )
    s.line(f":load {home}/main.toy")
    problems = [same("first", s.line("(f(1), g(1), plus(1))"), "(f64, f64, i64)\n(2.0, 3.0, 2)")]
    tools("var scale = 3.0; def twice(x) { return 100 + scale * x; } def new(x) { return -x; }")
    (home / "plain.toy").write_text("def plus(x) { return x + 2; }")
    s.line(":reload")
    problems.append(
        same("again", s.line("(f(1), g(1), plus(1), t.new(4))"), "(f64, f64, i64, i64)\n(103.0, 104.0, 3, -4)")
    )
    tools("def twice(x) {")
    problems.append(same("broken", "P01" in s.line(":reload"), True))
    problems.append(same("as before", s.line("(f(1), plus(1))"), "(f64, i64)\n(103.0, 3)"))
    tools("var scale = 3.0; var bias = 1; def twice(x) { return scale * x + bias; }")
    s.line(":reload")
    s.line("t.scale = 10;")
    problems.append(same("changed", s.line("g(1)"), "i64\n12"))
    s.line(f":save {home}/saved.toy")
    saved = (home / "saved.toy").read_text()
    problems.append(same("saved", ("t.scale = " in saved, "bias" in saved), (True, False)))
    s.line(":reset")
    s.line(f":load {home}/saved.toy")
    problems.append(same("loaded", s.line("(g(1), t.bias)"), "(i64, i64)\n(12, 1)"))
    problems.append(functions_that_go(s, home))
    return first(*problems)


def all_cases():
    yield "modules: programs", programs
    yield "modules: what is refused", refused
    yield "modules: where they are found", found
    yield "modules: at the prompt", session(at_prompt)
    yield "modules: run again", session(run_again)
