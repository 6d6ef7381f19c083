# SPDX-License-Identifier: Apache-2.0
"""The line that a terminal shows of work that takes more than a second, as whole screens: what it says, that it goes
when it has to, and that pipes, dumb terminals and short work have none. Results are the same with it."""
import os
import re
import signal
import subprocess
import tempfile
import time

from screens import screens
from terminal import DEADLINE, Session

LOOP = r"loop (?:[█░]{24} )?(?:\d+/\d+ )?\d+ %(?: \d+:\d\d left)?"


def drawn(s, pattern):
    """The last row when it is a line of progress; else None."""
    end = time.time() + DEADLINE
    while time.time() < end:
        s.pump(0.05)
        rows = s.shown()
        if rows and re.fullmatch(pattern, rows[-1]):
            return rows
    s.problems.append(f"no line like {pattern}:\n" + "\n".join(s.shown()))
    return None


def counted(row):
    return int(re.search(r"(\d+)/\d+", row).group(1))


def take_long(s, text, begun):
    """Runs a text that would be done too soon: the process, which has computed for so many seconds, stands still for
    one."""
    s.start(text, begun)
    os.kill(s.pid, signal.SIGSTOP)
    time.sleep(1)
    os.kill(s.pid, signal.SIGCONT)


def loops(s):
    """It counts up, stands below what is printed, and is gone at the end."""
    s.send("for i in range(32) { sleep(0.2); if i % 8 == 7 { print(i); } }\r")
    first = drawn(s, LOOP)
    time.sleep(1)
    later = drawn(s, LOOP)
    if first and later and not 2 <= counted(first[-1]) < counted(later[-1]) <= 32:
        s.problems.append(f"{first[-1]}, then {later[-1]}")
    if later and [row for row in later if row.startswith("loop")] != later[-1:]:
        s.problems.append("more than one line:\n" + "\n".join(later))
    drawn(s, "toy>")
    if s.shown()[-5:] != ["7", "15", "23", "31", "toy>"] or any(row.startswith("loop") for row in s.shown()):
        s.problems.append("the end:\n" + "\n".join(s.shown()))


def interrupted(s, declaration, loop, turns):
    """A loop that would last says how many turns it has, and Ctrl-C ends it and its line."""
    s.keys(declaration + "\r")
    s.clear()
    s.send(loop + "\r")
    rows = drawn(s, LOOP)
    if rows and f"/{turns}" not in rows[-1]:
        s.problems.append(rows[-1])
    os.kill(s.pid, signal.SIGINT)
    drawn(s, "toy>")
    if any(row.startswith("loop") for row in s.shown()) or not any("R0114" in row for row in s.shown()):
        s.problems.append("Ctrl-C:\n" + "\n".join(s.shown()))


def compiled(s):
    """A loop of machine code in one that the statement leads with."""
    interrupted(s, "var sum = 0.0", "for i in range(2000000) { for j in range(i) { sum += sin(f64(j)); } }", 2000000)


def strips(s):
    """A loop whose turns are vector code, in which nothing is called."""
    interrupted(s, "var x = 0.1;", "for i in range(4000000000) { x = 3.7 * x * (1.0 - x); }", 4000000000)


def narrow(s):
    s.send("for i in range(100) { sleep(0.1); }\r")
    drawn(s, r"(loop )?(\d+/\d+ )?\d+ %( \d+:\d\d left)?")
    os.kill(s.pid, signal.SIGINT)
    drawn(s, "toy>")
    if any("left" in row or row.startswith("loop") for row in s.shown()):
        s.problems.append("\n".join(s.shown()))


def unfinished_rows(s):
    """A text that stands in its row is not drawn over."""
    s.send('for i in range(6) { print(".", end = ""); sleep(0.4); }\r')
    end, seen = time.time() + DEADLINE, set()
    while time.time() < end and s.shown()[-2:] != ["......", "toy>"]:
        s.pump(0.05)
        seen.update(s.shown())
    if any("%" in row for row in seen) or s.shown()[-2:] != ["......", "toy>"]:
        s.problems.append("\n".join([*sorted(seen), "at the end", *s.shown()]))


def loading(s):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "large.csv")
        with open(path, "w") as file:
            line = ",".join("-12345.678901234" for _ in range(20)) + "\n"
            for _ in range(60):
                file.write(line * 5000)
        take_long(s, f'var m = load("{path}"); print(m.shape);', 0.1)
        drawn(s, r"load large.csv ([█░]{24} )?\d+\.\d/\d+\.\d MB \d+ % \d+:\d\d left")
        drawn(s, "toy>")
        if "(300000, 20)" not in s.shown():
            s.problems.append("\n".join(s.shown()))


def compiling(s):
    """A statement that calls many functions, each with a loop."""
    body = "s += sin(x * i + {0}.5) * cos(x) + sqrt(x + s * s); if s > {0} {{ s = s / 2.0; }}"
    head = "def f{0}(x) {{ var s = 0.0; for i in range(2000) {{ "
    functions = [(head + body + " }} return s; }}").format(i) for i in range(400)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "many.toy")
        with open(path, "w") as file:
            calls = " + ".join(f"f{i}(1.5)" for i in range(400))
            file.write("\n".join(functions) + f"\ndef all_of_them() {{ return {calls}; }}\n")
        s.keys(f":load {path}\r")
        s.clear()
        take_long(s, "all_of_them() > 0", 0.3)
        drawn(s, r"compiling( \d+/\d+ functions)? \d:\d\d")
        drawn(s, "toy>")
        s.expect("the end", "toy> all_of_them() > 0", "bool", "true", "toy> ")


def nothing(toy):
    """Into pipes, on a dumb terminal, and for work that is short."""
    program = "for i in range(14) { sleep(0.1); } print(7);"
    done = subprocess.run([toy, "-e", program], capture_output=True, text=True)
    if (done.stdout, done.stderr) != ("7\n", ""):
        return f"pipe: {done}"
    for line, environment in ((program, {"TERM": "dumb"}), ("for i in range(5) { sleep(0.1); } print(7);", {})):
        s = Session(toy, NO_COLOR="1", **environment)
        raw = s.line(line)
        s.close()
        if raw != "7":
            return f"{environment}: {raw}"
    return None


MARKERS = ("host", "release")


def all_cases():
    for body in (loops, compiled, strips, unfinished_rows, loading, compiling):
        yield "progress: " + body.__name__.replace("_", " "), screens(body, NO_COLOR="1", width=100)
    yield "progress: narrow", screens(narrow, NO_COLOR="1", width=20)
    yield "progress: nothing", nothing


if __name__ == "__main__":
    import sys

    for name, function in all_cases():
        problem = function(sys.argv[1])
        print(f"{'FAIL' if problem else 'ok'} {name}", problem or "")
