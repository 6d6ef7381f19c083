# SPDX-License-Identifier: Apache-2.0
"""What the prompt keeps and survives: its beginning, history, saved sessions, faults."""
import os
import pathlib
import pty
import subprocess
import tempfile

from programs import first, same
from terminal import Session, session

ROOT = pathlib.Path(__file__).resolve().parent.parent


def banner(toy):
    """A line at a prompt on a terminal, and nothing where a program reads or writes."""
    line = "toy 0.1.0: `:help` shows what can be typed, Ctrl-D leaves"
    problems = []
    for environment in ({}, {"TERM": "dumb"}):
        s = Session(toy, **environment)
        problems.append(same(f"the banner with {environment}", s.above, [line]))
        s.close()
    file = pathlib.Path(s.home.name, "one.toy")
    file.write_text("print(1);\n")
    s = Session(toy, ["-i", str(file)])
    problems.append(same("the prompt after a file", s.above, ["1"]))
    s.close()
    keyboard, terminal = pty.openpty()
    os.write(keyboard, b":quit\n")
    for what, source in (("a pipe", subprocess.DEVNULL), ("a terminal", terminal)):
        done = subprocess.run([toy], stdin=source, capture_output=True, text=True, timeout=60)
        problems.append(same(f"output to a pipe, input from {what}", "toy 0" in done.stdout + done.stderr, False))
    os.close(terminal)
    os.close(keyboard)
    return first(*problems)


def history(toy):
    with tempfile.TemporaryDirectory() as state:
        a, b = Session(toy, XDG_STATE_HOME=state), Session(toy, XDG_STATE_HOME=state)
        try:
            a.line("var first = 1;")
            b.line("var second = 2;")
            a.line("def t(x) {", "...> ")
            a.line("return x; }")
            a.line(" var secret = 3;")
            a.line("5")
            a.line("5")
        finally:
            a.close()
            b.close()
        c = Session(toy, XDG_STATE_HOME=state)
        try:
            five = c.keys("\x1b[A").endswith("toy> 5")
            block = c.keys("\x1b[A").endswith("toy> def t(x) {\n...>   return x; }")
            c.keys("\x03")
            found = c.keys("\x12second")
            return first(
                same("last entry once", five, True),
                same("block", block, True),
                same("secret", "secret" in found, False),
                same("search", "var second = 2;" in found, True),
            )
        finally:
            c.close()


def long_history(toy):
    """Of very many entries the last are kept, in the file, too; a file that fits stays as it is."""
    problems = []
    for entries, kept in ((25000, 10000), (15000, 15000)):
        with tempfile.TemporaryDirectory() as state:
            file = pathlib.Path(state, "toy/history")
            file.parent.mkdir(0o700)
            lines = [f"var a{i} = {i};\\n# \\\\" for i in range(entries)]
            file.write_text("\n".join(lines) + "\n")
            file.chmod(0o600)
            s = Session(toy, XDG_STATE_HOME=state)
            try:
                problems += [
                    same("the last entry", f"var a{entries - 1} = " in s.keys("\x1b[A"), True),
                    same("a dropped entry", "a4999 = 4999;" in s.keys("\x03\x12a4999 "), False),
                ]
                s.keys("\x03")
                s.line("var new = 1;")
            finally:
                s.close()
            problems.append(same("the file", file.read_text().splitlines() == [*lines[-kept:], "var new = 1;"], True))
    return first(*problems)


def faults(toy):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "bad.c")
        source.write_text(
            '#include "toy_extern.h"\n#include <stdlib.h>\nint32_t crash(const toy_call *call) { (void)call; *(volatile int *)8 = 1; return 0; }\nint32_t stop(const toy_call *call) { (void)call; abort(); }\n'
        )
        subprocess.run(
            ["cc", "-shared", "-fPIC", f"-I{ROOT / 'runtime'}", "-o", f"{folder}/libbad.so", str(source)], check=True
        )
        declared = "".join(f'extern def {f}(x: f64) -> f64 from "{folder}/libbad.so";\n' for f in ("crash", "stop"))
        s = Session(toy)
        try:
            for text in declared.splitlines():
                s.line(text)
            s.line("var x = 1;")
            for f, reason in (("crash", "invalid memory access"), ("stop", "abort")):
                answer = s.line(f"x = 2; {f}(1.0)")
                if f"error[X0002]: fault: {reason}" not in answer:
                    return answer
                if problem := same("variable after a fault", s.line("x"), "i64\n1") or same(
                    "function", s.line("def f(x) { return x + 1; } f(41)"), "i64\n42"
                ):
                    return problem
        finally:
            s.close()
        path = pathlib.Path(folder, "p.toy")
        path.write_text(declared + "print(1);\nprint(crash(2.0));\n")
        done = subprocess.run(
            [toy, str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            env={**os.environ, "XDG_STATE_HOME": folder},
        )
        return same(
            "a script's fault", (done.returncode, done.stdout, "X0002" in done.stderr), (70, "1\n", True)
        ) or same("a reproducer", len(list(pathlib.Path(folder).glob("toy/toy-reproducer-*.toy"))), 1)


def saved_sessions(s):
    folder = s.home.name
    for text in (
        "struct P { var x; var y; }",
        "## doubles",
        "def twice(x) { return 2 * x; }",
        "P p = {1-0i, [nan, -inf]};",
        'var text = "a\\n\\"b\\"";',
        "seed(3); var big = randn(40, 30, dtype=c64);",
        "var half = f16([0.1, 65504]);",
        "var t = (1, [2i]);",
        "var e = zeros(0, 3, dtype=i32);",
        "var wide = bf16(big.real);",
    ):
        s.line(text, "...> " if text.startswith("##") else "toy> ")
    show = "print(p.x, p.y, text, sum(big), half, t, e, twice(3), any(f32(wide) != f32(bf16(big.real))))"
    before = s.line(show)
    s.line(f":save {folder}/saved.toy")
    s.line(":reset")
    s.line(f":load {folder}/saved.toy")
    return first(
        same("after :load", s.line(show), before), same("after :reload", s.line(":reload") + s.line(show), before)
    )


def start_up_file(toy):
    """What it defines and sets is there, an error in it has its line, and it can be left out."""
    with tempfile.TemporaryDirectory() as config:
        file = pathlib.Path(config, "toy/init.toy")
        file.parent.mkdir()

        def begun(text, *arguments):
            file.write_text(text)
            s = Session(toy, arguments, XDG_CONFIG_HOME=config)
            try:
                settings = [
                    row.split()[1] for row in s.line(":set").splitlines() if row.split()[0] in ("edge", "values")
                ]
                return "\n".join(s.above), s.line("fromInit"), settings
            finally:
                s.close()

        above, value, settings = begun(":set edge 5\nvar fromInit = 7;\n:set values off\n")
        wrong = begun(":set edge 5\n:nosuch\nvar fromInit = 7;\nvar x = nosuch;\n")
        without = begun(":set edge 5\nvar fromInit = 7;\n", "--no-init")
        return first(
            same("init.toy", value, "i64\n7"),
            same("its commands", settings, ["5", "off"]),
            same("its messages", above.count("error"), 0),
            same("the line of an error", "init.toy:2:1" in wrong[0] and wrong[2] == ["5", "on"], True),
            same("--no-init", "N0101" in without[1] and without[2] == ["3", "on"], True),
        )


MARKERS = ("host", "release", "long")


def all_cases():
    yield "prompt: saved sessions", session(saved_sessions)
    for test in (banner, history, long_history, faults, start_up_file):
        yield "prompt: " + test.__name__.replace("_", " "), test
