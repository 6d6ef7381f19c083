# SPDX-License-Identifier: Apache-2.0
"""The prompt in a pseudo-terminal: what a person sees on the screen, key by key."""
import ast
import fcntl
import os
import pathlib
import pty
import random
import re
import select
import signal
import struct
import subprocess
import tempfile
import termios
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Screen:
    """The few control sequences that the prompt uses."""

    def __init__(self, width):
        self.width, self.rows, self.row, self.column, self.rest, self.colours = width, [""], 0, 0, "", 0

    def feed(self, text):
        text = self.rest + text
        self.rest = ""
        i = 0
        while i < len(text):
            c = text[i]
            if c == "\x1b":
                found = re.match(r"\x1b\[([?0-9;]*)([A-Za-z])", text[i:])
                if not found:
                    if len(text) - i < 12:
                        self.rest = text[i:]
                        return
                    i += 1
                    continue
                n = int(found.group(1) or 1) if found.group(1).isdigit() or not found.group(1) else 0
                kind = found.group(2)
                if kind == "A":
                    self.row = max(self.row - n, 0)
                elif kind == "C":
                    self.column += n
                elif kind == "J" and not found.group(1):
                    self.rows = self.rows[: self.row + 1]
                    self.rows[self.row] = self.rows[self.row][: self.column]
                elif kind == "m":
                    self.colours += 1
                i += found.end()
                continue
            if c == "\r":
                self.column = 0
            elif c == "\n":
                self.row += 1
                while len(self.rows) <= self.row:
                    self.rows.append("")
            elif c == "\a":
                pass
            else:
                if self.column >= self.width:
                    self.column = 0
                    self.row += 1
                    while len(self.rows) <= self.row:
                        self.rows.append("")
                line = self.rows[self.row].ljust(self.column)
                self.rows[self.row] = line[: self.column] + c + line[self.column + 1 :]
                self.column += 1
            i += 1


class Session:
    def __init__(self, toy, arguments=(), width=100, **environment):
        self.home = tempfile.TemporaryDirectory()
        self.screen = Screen(width)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(self.home.name)
            settings = {
                **os.environ,
                "TERM": "xterm-256color",
                "HOME": self.home.name,
                "XDG_STATE_HOME": self.home.name,
                "XDG_CONFIG_HOME": self.home.name,
                "TMPDIR": self.home.name,
                **environment,
            }
            if "NO_COLOR" not in environment:
                settings.pop("NO_COLOR", None)
            os.execve(toy, ["toy", *arguments], {name: v for name, v in settings.items() if v is not None})
        self.resize(width)
        self.wait("toy> ")
        self.above = self.text().splitlines()[:-1]  # what was there before the first prompt

    def resize(self, width):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))

    def pump(self, seconds):
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if ready:
            try:
                data = os.read(self.fd, 1 << 16)
            except OSError:
                data = b""
            if not data:
                raise EOFError("the session has ended: " + self.text()[-2000:])
            self.screen.feed(data.decode(errors="replace"))
        return bool(ready)

    def text(self):
        return "\n".join(row.rstrip() for row in self.screen.rows)

    def wait(self, end="toy> ", timeout=30):
        """Until the screen's last row is a fresh prompt."""
        limit = time.time() + timeout
        while time.time() < limit:
            if (
                not self.pump(0.02)
                and self.screen.rows[-1].rstrip() == end.rstrip()
                and self.screen.row == len(self.screen.rows) - 1
            ):
                return
        raise TimeoutError(f"no {end!r} on\n{self.text()[-1500:]}")

    def send(self, keys):
        data = keys.encode()
        while data:
            n = os.write(self.fd, data[:512])
            data = data[n:]
            while self.pump(0):
                pass

    def line(self, text, end="toy> ", timeout=30):
        """Types a line; what came below it."""
        before = len(self.screen.rows)
        self.send(text + "\r")
        self.settle(before)
        self.wait(end, timeout)
        return "\n".join(row.rstrip() for row in self.screen.rows[before:-1])

    def settle(self, rows):
        limit = time.time() + 10
        while len(self.screen.rows) <= rows and time.time() < limit:
            self.pump(0.05)

    def keys(self, keys, pause=0.3):
        """Sends keys and returns the last rows after the screen was quiet for a while."""
        self.send(keys)
        while self.pump(pause):
            pass
        return self.text()

    def close(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def session(body, **options):
    def test(toy):
        s = Session(toy, **options)
        try:
            return body(s)
        except (EOFError, TimeoutError, OSError) as error:
            return f"{type(error).__name__}: {error}"
        finally:
            s.close()

    test.__name__ = body.__name__
    return test


def expect(what, got, want):
    return None if got == want else f"{what}: got {got!r}, expected {want!r}"


def first(*problems):
    return next((p for p in problems if p), None)


def editing(s):
    problems = [expect("sum", s.line("1+1"), "i64\n2")]
    s.line("def f(a) {", "...>")
    s.line("return a * 2;", "...>")
    s.line("}")
    problems.append(expect("block", s.line("f(21)"), "i64\n42"))
    s.keys("\x1b[A")
    recalled = s.keys("\x1b[A")
    problems.append(expect("recalled block", recalled.endswith("toy> def f(a) {\n...>   return a * 2;\n...> }"), True))
    s.keys("\x1b[A\x1b[A")  # up inside would leave it: an older entry
    s.keys("\x03")
    s.keys("def f")
    recalled = s.keys("\x1b[A")
    problems.append(
        expect("entry with the prefix", recalled.endswith("toy> def f(a) {\n...>   return a * 2;\n...> }"), True)
    )
    s.keys("\x03")
    s.wait()
    problems.append(expect("unmatched brace", "error[P" in s.line("1 + }"), True))
    problems.append(expect("failed input", s.line("var u = 1; var w = unknown;").startswith("error[N0101]"), True))
    problems.append(expect("nothing changed", "N0101" in s.line("u"), True))
    s.line("var a = 5;")
    s.line("a = 6;")
    s.line(":undo")
    problems.append(expect("undo", s.line("a"), "i64\n5"))
    problems.append(expect("ans", s.line("ans + 1"), "i64\n6"))
    problems.append(expect("_", s.line("_ * 2") + s.line("for _ in range(3) { } _ + _"), "i64\n12i64\n24"))
    s.line("a = _;")
    s.line(":undo")
    problems.append(expect("_ after undo", s.line("_ + a"), "i64\n29"))
    s.line("var (first, _) = (1, 50);")
    problems.append(expect("a variable _", s.line("first") + s.line("_"), "i64\n1i64\n50"))
    s.line(":undo")
    s.line(":undo")
    s.line(":undo")
    problems.append(expect("_ without it", s.line("_"), "i64\n29"))
    s.line("def g(x) { return f(x) + 1; }")
    problems.append(expect("caller", s.line("g(1)"), "i64\n3"))
    s.line("def f(a) { return a * 10; }")
    problems.append(expect("caller follows", s.line("g(1)"), "i64\n11"))
    s.line("def f(a) { return a * ; }")
    problems.append(expect("failed redefinition", s.line("g(1)"), "i64\n11"))
    wide = s.line('var text = "' + "x" * 150 + '"; len(text)')
    problems.append(expect("long line", wide.endswith("i64\n150"), True))
    problems.append(expect("type", s.line(":type [1i, 2] @ [1, 2]"), "c128"))
    problems.append(expect("vars", "a: i64" in s.line(":vars"), True))
    problems.append(expect("command", "did you mean `:vars`?" in s.line(":var"), True))
    problems.append(expect("shell", s.line(":!echo hello"), "hello"))
    problems.append(expect("reset", s.line(":reset") + s.line(":vars"), ""))
    return first(*problems)


def completion(s):
    s.line(":set suggestions off")
    s.line("struct Pair { var left; var right; }")
    s.line("Pair couple = {1, [2i]};")
    s.line("var longVariable = ones(2, 3);")
    s.line("var scaledBy = (x, factor = 2) => x * factor;")
    pathlib.Path(s.home.name, "data-file.npy").write_bytes(b"")
    cases = {
        "zero\t": "toy> zeros",
        "longV\t": "toy> longVariable",
        "ret\t": "toy> return",
        "couple.l\t": "toy> couple.left",
        "\\alpha\t": "toy> α",
        "\\the\t": "toy> \\theta",
        ":ben\t": "toy> :bench",
        ":set pre\t": "toy> :set precision",
        'load("data-\t': 'toy> load("data-file.npy',
        ":load data\t": "toy> :load data-file.npy",
        ":emit rec\t": "toy> :emit recognized",
        "scaledB\t": "toy> scaledBy",
        "Pai\t": "toy> Pair",
        "def g(alphabet) { alph\t": "toy> def g(alphabet) { alphabet",
        "def g(x) { for (row, column) in zip(x, x) { col\t": "toy> def g(x) { for (row, column) in zip(x, x) { column",
        "var h = stretch => stre\t": "toy> var h = stretch => stretch",
        "Pair([1], 2).l\t": "toy> Pair([1], 2).left",
        ":set format p\t": "toy> :set format polar",
        ":edit scal\t": "toy> :edit scaled",
        ":explain softmax(ones(2), ax\t": "toy> :explain softmax(ones(2), axis=",
        "?T0300\x7f1\t": "toy> ?T0301",
        "?soft\t": "toy> ?soft",
        ":!cat data-\t": "toy> :!cat data-file.npy",
        'f"{couple.l\t': 'toy> f"{couple.left',
        "# zero\t": "toy> # zero",
    }
    s.line("def scaled(x) { return x; }")
    for keys, want in cases.items():
        got = s.keys(keys).splitlines()[-1]
        if got and not got.startswith("toy>"):  # the parameters of the call
            got = s.text().splitlines()[-2]
        s.keys("\x03")
        s.wait()
        if got != want:
            return f"{keys!r}: {got!r}, expected {want!r}"
    listed = s.keys("ar\t")
    s.keys("\x03")
    return first(
        expect(
            "list with signatures",
            re.search(r"argmax +\(x, axis=, keepdims=\)", listed) is not None
            and re.search(r"arange +\(start", listed) is not None,
            True,
        ),
        expect("a key that arguments have", s.keys("softmax([1], ax\t").splitlines()[-2], "toy> softmax([1], axis="),
    )


def paste(s):
    block = "\n".join(f"var p{i} = ({i} + [1, 2, {{}}][0]);".replace("{}", "3") for i in range(500))
    begin = time.time()
    s.send("\x1b[200~" + block + "\x1b[201~")
    s.keys("")
    s.send("\r")
    s.wait(timeout=60)
    seconds = time.time() - begin
    problems = [
        expect("pasted lines", s.line("p499"), "f64\n500.0"),
        None if seconds < 5 else f"500 pasted lines took {seconds:.1f} s",
    ]
    s.send("\x1b[200~toy> def h(x) {\n...>   return x + 1;\n...> }\ntoy> var k = h(2)\ntoy> k\ni64\n3\n\x1b[201~")
    s.keys("")
    s.send("\r")
    s.wait()
    problems.append(expect("copied session", s.line("k + 1"), "i64\n4"))
    return first(*problems)


def interrupts(s):
    problems = []
    for text, limit in (
        ("while true { }", 1.0),
        ("var m = complex(rand(2000, 2000), 1.0); for i in range(100) { m = m @ m; m = m / norm(m); }", 2.0),
        ("for i in range(1000000000) { print(i); }", 2.0),
        ("print(rand(10000000) @ rand(10000000)); var b = sort(rand(30000000));", 4.0),
    ):
        s.line("var x = [1, 2, 3];")
        s.send(text + "\r")
        time.sleep(0.7)
        os.kill(s.pid, signal.SIGINT)
        begin = time.time()
        while s.pump(0.05) or s.screen.rows[-1].rstrip() != "toy>":
            if time.time() - begin > 20:
                return f"no prompt after Ctrl-C in {text}\n{s.text()[-500:]}"
        seconds = time.time() - begin
        problems.append(
            None if seconds < limit + 0.1 else f"the prompt came back {seconds:.2f} s after Ctrl-C in {text}"
        )
        problems.append(expect("variable", s.line("x"), "f64[3]\n[1.0, 2.0, 3.0]"))
    return first(*problems)


def interrupts_at_random(s):
    s.line("seed(1); var total = rand(200, 200); var check = sum(total);")
    rng = random.Random(3)
    for _ in range(200):
        s.send(
            rng.choice(
                [
                    "var y = total @ total; y = y @ total;",
                    "for i in range(100000) { var q = total + i; }",
                    "total * 2 - total",
                    "def z(x) { return x @ x; } var r = z(total);",
                    "1 + 1",
                    "sort(rand(100000))[0]",
                ]
            )
            + "\r"
        )
        time.sleep(rng.random() * 0.02)
        os.kill(s.pid, signal.SIGINT)
        s.keys("", 0.02)
    s.keys("\x03")
    s.wait()
    return expect("checksum", s.line("sum(total) == check"), "bool\ntrue")


def typed_rubbish(s):
    rng = random.Random(5)
    programs = [p.read_text() for p in sorted((ROOT / "examples").glob("*.toy"))]
    s.line("var keep = 42;")
    for _ in range(150):
        lines = rng.choice(programs).splitlines()
        at = rng.randrange(len(lines))
        text = "\n".join(lines[at : at + rng.randint(1, 4)])
        for _ in range(rng.randint(0, 4)):
            i = rng.randrange(len(text) + 1)
            text = (
                text[:i]
                + rng.choice(["", "(", "}", "[", '"', "\\", ";", "@", "\t", "é", "1e999"])
                + text[i + rng.randint(0, 3) :]
            )
        if "load(" in text or "read_binary" in text or text.lstrip().startswith((":", "?")):
            continue
        s.send("\x1b[200~" + text.replace("\x1b", "") + "\x1b[201~\r")
        s.keys("", 0.05)
        s.send("\x03")
        s.keys("", 0.05)
        if os.waitpid(s.pid, os.WNOHANG) != (0, 0):
            return f"the session ended at {text!r}"
    s.wait()
    return expect("variable", s.line("keep"), "i64\n42")


def colours(toy):
    for environment, arguments, coloured in (
        ({}, [], True),
        ({"NO_COLOR": "1"}, [], False),
        ({"TERM": "dumb"}, [], False),
        ({}, ["--color=never"], False),
        ({"NO_COLOR": "1"}, ["--color=always"], True),
    ):
        s = Session(toy, arguments, **environment)
        try:
            problem = expect("sum", s.line('var x = "a"; 1+1').splitlines()[-1], "2") or expect(
                f"colours with {environment} {arguments}", s.screen.colours > 0, coloured
            )
        finally:
            s.close()
        if problem:
            return problem
    return None


def banner(toy):
    """A line at a prompt on a terminal, and nothing where a program reads or writes."""
    line = "toy 0.1.0: `:help` shows what can be typed, Ctrl-D leaves"
    problems = []
    for environment in ({}, {"TERM": "dumb"}):
        s = Session(toy, **environment)
        problems.append(expect(f"the banner with {environment}", s.above, [line]))
        s.close()
    file = pathlib.Path(s.home.name, "one.toy")
    file.write_text("print(1);\n")
    s = Session(toy, ["-i", str(file)])
    problems.append(expect("the prompt after a file", s.above, ["1"]))
    s.close()
    keyboard, terminal = pty.openpty()
    os.write(keyboard, b":quit\n")
    for what, source in (("a pipe", subprocess.DEVNULL), ("a terminal", terminal)):
        done = subprocess.run([toy], stdin=source, capture_output=True, text=True, timeout=60)
        problems.append(expect(f"output to a pipe, input from {what}", "toy 0" in done.stdout + done.stderr, False))
    os.close(terminal)
    os.close(keyboard)
    return first(*problems)


def resized(s):
    s.keys("var wide = [" + ", ".join(["1"] * 40))
    s.resize(60)
    s.screen.width = 60
    os.kill(s.pid, signal.SIGWINCH)
    s.keys("")
    s.send("]; sum(wide)\r")
    s.keys("")
    return expect("sum after a resize", "40.0" in s.text(), True)


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
                expect("last entry once", five, True),
                expect("block", block, True),
                expect("secret", "secret" in found, False),
                expect("search", "var second = 2;" in found, True),
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
                    expect("the last entry", f"var a{entries - 1} = " in s.keys("\x1b[A"), True),
                    expect("a dropped entry", "a4999 = 4999;" in s.keys("\x03\x12a4999 "), False),
                ]
                s.keys("\x03")
                s.line("var new = 1;")
            finally:
                s.close()
            problems.append(expect("the file", file.read_text().splitlines() == [*lines[-kept:], "var new = 1;"], True))
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
                if problem := expect("variable after a fault", s.line("x"), "i64\n1") or expect(
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
        return expect(
            "a script's fault", (done.returncode, done.stdout, "X0002" in done.stderr), (70, "1\n", True)
        ) or expect("a reproducer", len(list(pathlib.Path(folder).glob("toy/toy-reproducer-*.toy"))), 1)


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
        expect("after :load", s.line(show), before), expect("after :reload", s.line(":reload") + s.line(show), before)
    )


def function_values(s):
    """A value follows a new definition, a lambda keeps its code; :undo, :save and :guards know both."""
    problems = [expect("echo", s.line("x => 2 * x"), "fn @1:1")]
    s.line("def f(x) { return x + 1; }")
    s.line("var g = f;")
    s.line("def made(w, m) { def step(x) { return x * w + sum(m); } return (step, x => x - w); }")
    s.line("var h = made(2.5, ones(300));")
    s.line("struct Op { var run; var kind; }")
    s.line("var op = Op((x, y = 3) => x * y, f32);")
    problems.append(
        expect("echo of a definition's value", s.line("(g, op)"), "(fn f, Op)\n(fn f, Op{run: fn @1:13, kind: f32})")
    )
    show = "print(g(1), h[0](2), h[1]([1, 2]), op.run(2), op.kind(1).dtype)"
    before = s.line(show)
    problems.append(expect("values", before, "2 305.0 [-1.5, -0.5] 6 f32"))
    s.line("def f(x) { return x + 10; }")
    problems.append(expect("the value follows", s.line("g(1)"), "i64\n11"))
    s.line(":undo")
    s.line(":undo")
    problems.append(expect("undone definition", s.line("g(1)"), "i64\n2"))
    s.line("var k = x => 100 * x;")
    s.line("k = x => -x;")
    problems.append(expect("new lambda", s.line("k(2)"), "i64\n-2"))
    s.line(":undo")
    s.line(":undo")
    problems.append(expect("undone lambda", s.line("k(2)"), "i64\n200"))
    problems.append(expect("types", "h: (fn @1:18{m: f64[300], w: f64}, fn @1:71{w: f64})" in s.line(":vars"), True))
    s.line("var scaled = made(2, [1, 2])[0];")
    s.line("scaled(3)")
    problems.append(
        expect("guards", s.line(":guards scaled").startswith("scaled(i64, f64[2], i64) -> f64: 1 call"), True)
    )
    problems.append(expect("warning", "warning[N0115]" in s.line("var sum = x => 5;"), True))
    problems.append(expect("in place of a built-in", s.line("sum([1])"), "i64\n5"))
    s.line(":undo")
    s.line(":undo")
    s.line(f":save {s.home.name}/saved.toy")
    s.line(":reset")
    s.line(f":load {s.home.name}/saved.toy")
    problems.append(expect("after :load", s.line(show), before))
    return first(*problems)


def lists(s):
    """Lists go from input to input, also those that have no type yet; :undo, :vars and :save know them."""
    s.line("struct P { var name; var x; }")
    s.line("var kept = list();")
    problems = [expect("an open list", s.line("kept"), "list()")]
    for word in "abc":
        s.line(f'kept = append(kept, "{word}");')
    problems.append(expect("echo", s.line("kept"), 'list[str]\nlist("a", "b", "c")'))
    s.line(":undo")
    s.line(":undo")
    problems.append(expect("undone", s.line("kept"), 'list[str]\nlist("a", "b")'))
    s.line("for i in range(2) { kept[i] = kept[i] + str(i); }")
    problems.append(expect("failed input", "error[R0101]" in s.line("kept[0] = kept[1]; kept[9];"), True))
    s.line("var ps = list(P(kept, 1.0), P(list(), 2.5));")
    s.line("var rows = list([1i], [2, 3]); var none: list[f64[_]] = list(); var open = list();")
    problems.append(
        expect(
            "a list of structs",
            s.line("ps[:1]"),
            'list[P{name: list[str], x: f64}]\nlist(P{name: list("a0", "b1"), x: 1.0})',
        )
    )
    problems.append(expect("types", "rows: list[c128[_]]" in s.line(":vars"), True))
    show = "print(kept, ps, rows, none, open, ps[1].name + kept)"
    before = s.line(show)
    s.line(f":save {s.home.name}/saved.toy")
    s.line(":reset")
    s.line(f":load {s.home.name}/saved.toy")
    problems.append(expect("after :load", s.line(show), before))
    return first(*problems)


def editor_command(s):
    script = pathlib.Path(s.home.name, "ed.sh")
    script.write_text("#!/bin/sh\nsed -i 's/2/3/' \"$1\"\n")
    script.chmod(0o755)
    s.line("def f(x) { return 2 * x; }")
    s.line(":edit f")
    return expect("edited function", s.line("f(10)"), "i64\n30")


def caught_errors(s):
    """An input whose block fails succeeds, and `:undo` takes back what its handler did. What failed inputs compiled
    keeps its constants."""
    s.line("var a = 1;")
    s.line('try { a = 2; fail("x"); } catch e { a = 10; }')
    problems = [expect("handled", s.line("a"), "i64\n10")]
    s.line(":undo")
    s.line(":undo")
    problems.append(expect("undone", s.line("a"), "i64\n1"))
    failed = s.line('try { a = 3; a = [1][a]; } catch e { print(e.code); a = 4; fail("again"); }')
    problems.append(expect("a handler that fails", failed.startswith("R0101\nerror[R0128]: again"), True))
    problems.append(expect("changes nothing", s.line("a"), "i64\n1"))
    s.line("def row(i) { var table = [[1.5, 2], [3, 4]]; return table[i]; }")
    problems.append(expect("failed", "R0101" in s.line("row(5)"), True))
    s.line("var other = [[7, 8], [9, 10]] * 2;")
    problems.append(expect("constants", s.line("row(1)"), "f64[2]\n[3.0, 4.0]"))
    return first(*problems)


def tracing(s):
    s.line("def fib(n) { if n < 2 { return n; } return fib(n - 1) + fib(n - 2); }")
    s.line("struct P { var x; var name; }")
    s.line('def g(p, f) { return P(f(p.x), p.name + "!"); }')
    s.line("fib(10)")  # compiled before
    s.line("def caught(x) { try { assert x > 1.0; } catch e { return f64(fib(1)); } return x; }")
    return first(
        expect(
            "calls",
            s.line(":trace fib(2)"),
            "fib(n = 2)\n  fib(n = 1)\n  -> 1\n  fib(n = 0)\n  -> 0\n-> 1\ni64\n1",
        ),
        expect("as before", s.line("fib(3)"), "i64\n2"),
        expect(
            "structs and functions",
            s.line(':trace var p = g(P(2.0, "a"), x => x + 1);').replace("\r", ""),
            'g(p = P{x: 2.0, name: "a"}, f = fn @1:24)\n  fn @1:24(x = 2.0)\n  -> 3.0\n-> P{x: 3.0, name: "a!"}',
        ),
        expect("kept", s.line("p.x"), "f64\n3.0"),
        expect("what is long", s.line(":trace fib(sum(i64(ones(100, 100))) % 3)")[:10], "fib(n = 1)"),
        expect("matrices", s.line(":trace caught(sum(ones(3, 3)))"), "caught(x = 9.0)\n-> 9.0\nf64\n9.0"),
        expect("caught", s.line(":trace caught(0.5)"), "caught(x = 0.5)\n  fib(n = 1)\n  -> 1\n-> 1.0\nf64\n1.0"),
        expect("an error", "R0101" in s.line(":trace [1, 2, 3][fib(5)]"), True),
        expect("a function alone", "`:trace fib(…)`" in s.line(":trace fib"), True),
        expect("nothing to trace", s.line(":trace 1 + 1"), "i64\n2"),
    )


def looking(s):
    s.line("def mul(a, b, c, d) { return (a*c - b*d, a*d + b*c); }")
    early = s.line(":emit toy mul")
    s.line("mul([1, 2], [3, 4], [5, 6], [7, 8]);")
    explained, emitted, benched = (
        s.line(":explain mul"),
        s.line(":emit recognized mul"),
        s.line(":bench mul([1, 2], [3, 4], [5, 6], [7, 8])", timeout=60),
    )
    s.line(f":graph mul {s.home.name}/g.dot")
    graph = pathlib.Path(s.home.name, "g.dot").read_text()
    return first(
        expect("before a call", "D0105" in early, True),
        expect("explain", "recognized mul: re = a*c - b*d" in explained.replace("\n", ""), True),
        expect("source lines", "// 1 | def mul" in emitted, True),
        expect("complex product", "toy.complex" in emitted, True),
        expect("bench", all(word in benched for word in ("compile", "median", "GFLOP/s")), True),
        expect("graph", "after inlining and recognition" in graph and "->" in graph, True),
        expect("graph of a stage", "  ├ sub f64[2]\n  │ ├ mul f64[2]\n" in s.line(":graph unpacked mul"), True),
        expect("graph of an input", s.line(":graph toy 1.5 * 2").split("\n")[2:4], ["  use", "  └ mul f64"]),
        expect("graph without an input", "D0108" in s.line(":graph toy"), True),
        expect("operation", "toy.mul\n  Product.\n  Complex: the four-product form" in s.line("?toy.mul"), True),
        expect("time", "parse" in s.line(":time 1 + 1"), True),
        expect("a variable", s.line("var u = [1, 2]"), ""),
        expect("undo", s.line(":undo"), "took back `var u = [1, 2]`"),
        expect("instances", "mul(f64[2]" in s.line(":guards mul"), True),
        expect("compiles", "mul: first call" in s.line(":recompiles"), True),
        expect("device", s.line(":device").startswith("cpu"), True),
        expect("polar", s.line(":set format polar") + s.line("[2i]"), "c128[1]\n[2.0∠90.00°]"),
        expect("setting", "D0102" in s.line(":set edge 0"), True),
    )


def examples_of_help(toy):
    rows = re.findall(
        r'^TOY_EXAMPLE\("((?:[^"\\]|\\.)*)", "((?:[^"\\]|\\.)*)", "((?:[^"\\]|\\.)*)"\)',
        (ROOT / "repl/Examples.def").read_text(),
        re.M,
    )
    unescape = lambda t: ast.literal_eval(f'"{t}"')
    names = {unescape(name) for name, _, _ in rows}
    import matrix

    problems = [f"?{name} has no example" for name in matrix.functions() if name not in names]
    for name, text, want in rows:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [toy, "-e", unescape(text)],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
            )
        if done.returncode or done.stdout.rstrip("\n") != unescape(want):
            problems.append(f"{name}: {text} gives {done.stdout!r} {done.stderr}")
    return "\n".join(problems) or None


def help_topics(s):
    s.line("## adds one", "...> ")
    s.line("def inc(x) { return x + 1; }")
    s.line("struct Pair { var first; var second; }")
    for topic, part in {
        "fft": "discrete Fourier transform",
        "@": "matrix product",
        "T0301": "inner sizes",
        ":bench": "median",
        "inc": "adds one",
        "c64": "8 bytes",
        "while": "runs while",
        '"Fourier"': "discrete",
        "nosuch": "D0107",
        "zip": "for (a, b) in zip(x, y)",
        "EINSUM": "Einstein summation",
        "matmull": "did you mean `?matmul`?",
        "Pair": "struct Pair { var first; var second; }",
        '"FOURIER"': "discrete",
        "unbiased": "D0107",
        "without a bias": '`?"without a bias"` shows where it is mentioned',
    }.items():
        if part not in s.line(f"?{topic}"):
            return f"?{topic} does not say {part!r}"
    import matrix

    groups = s.line("?")
    for name in matrix.functions():
        if not re.search(rf"(?m)^ .*(?<= ){name}( |$)", groups):
            return f"? does not name {name}"
    return expect(":help", all(f":{c}" in s.line(":help") for c in ("undo", "save", "graph")), True)


def start_up_file(toy):
    with tempfile.TemporaryDirectory() as config:
        pathlib.Path(config, "toy").mkdir()
        pathlib.Path(config, "toy/init.toy").write_text("var fromInit = 7;\n")
        s = Session(toy, XDG_CONFIG_HOME=config)
        try:
            with_file = s.line("fromInit")
        finally:
            s.close()
        s = Session(toy, ["--no-init"], XDG_CONFIG_HOME=config)
        try:
            return first(
                expect("init.toy", with_file, "i64\n7"), expect("--no-init", "N0101" in s.line("fromInit"), True)
            )
        finally:
            s.close()


MARKERS = ("host", "release", "long")


def all_cases():
    yield "prompt: editor command", session(editor_command, EDITOR="./ed.sh", VISUAL="")
    for body in (
        editing,
        completion,
        paste,
        interrupts,
        interrupts_at_random,
        typed_rubbish,
        resized,
        saved_sessions,
        function_values,
        caught_errors,
        lists,
        looking,
        tracing,
        help_topics,
    ):
        yield "prompt: " + body.__name__.replace("_", " "), session(body)
    for test in (banner, colours, history, long_history, faults, examples_of_help, start_up_file):
        yield "prompt: " + test.__name__.replace("_", " "), test
