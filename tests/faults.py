# SPDX-License-Identifier: Apache-2.0
"""What must not be lost: sessions, after exceptions and faults; output, however a program ends; the time until Ctrl-C
is heard; places of errors."""
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import tempfile
import time

from programs import first, same
from terminal import DEADLINE, Session, spent

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(toy, *arguments, **options):
    return subprocess.run(
        [toy, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        **options,
    )


def library(folder, source):
    """An extern library; what its functions do is the faults' business."""
    path = pathlib.Path(folder, "lib.c")
    path.write_text('#include "toy_extern.h"\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n' + source)
    subprocess.run(
        ["cc", "-w", "-O0", "-shared", "-fPIC", f"-I{ROOT / 'runtime'}", "-o", f"{folder}/lib.so", str(path)],
        check=True,
    )
    return "".join(
        f'extern def {name}(x: f64[N]) -> f64[N] from "{folder}/lib.so";\n'
        for name in re.findall(r"int32_t (\w+)\(", source)
    )


def ends(toy):
    """Lines that were printed are there after every kind of end, in a pipe and on a terminal; the status says which it
    was."""
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        declared = library(
            folder,
            "int32_t leave(const toy_call *call) { (void)call; exit(3); }\nint32_t crash(const toy_call *call) { (void)call; *(volatile int *)8 = 1; return 0; }\n"
            "int32_t lock(const toy_call *call) { (void)call; void *p = malloc(3000), *q = malloc(3000); (void)q; memset((char *)p - 16, 0x41, 6100); free(p); malloc(5000); return 0; }\n",
        )
        for what, end, signals, statuses in (
            ("an error", "assert(false);", None, {1}),
            ("Ctrl-C", "while true { }", signal.SIGINT, {130}),
            ("SIGTERM", "while true { }", signal.SIGTERM, {143}),
            ("SIGHUP", "while true { }", signal.SIGHUP, {129}),
            ("exit", "leave([1]);", None, {3}),
            ("a fault", "crash([1]);", None, {70}),
            ("a damaged heap", "lock([1]);", None, {70, 1}),
        ):
            text = declared + 'print("first");\nwrite("second");\n' + end
            pathlib.Path(folder, "p.toy").write_text(text)
            for on_terminal in (False, True):
                main, side = pty.openpty() if on_terminal else os.pipe()
                begin = time.time()
                child = subprocess.Popen(
                    [toy, f"{folder}/p.toy"],
                    stdin=subprocess.DEVNULL,
                    stdout=side,
                    stderr=subprocess.PIPE,
                    env={**os.environ, "TMPDIR": folder},
                )
                os.close(side)
                if signals:
                    while child.poll() is None and spent(child.pid) < 0.3 and time.time() < begin + DEADLINE:
                        time.sleep(0.02)  # until it computes
                    child.send_signal(signals)
                try:
                    errors = child.communicate(timeout=DEADLINE)[1].decode()
                except subprocess.TimeoutExpired:
                    child.kill()
                    child.communicate()
                    problems.append(f"{what}: the program did not end")
                    continue
                finally:
                    out = b""
                    try:
                        while data := os.read(main, 1 << 16):
                            out += data
                    except OSError:
                        pass
                    os.close(main)
                problems += [
                    same(f"output before {what}", out.decode().replace("\r", ""), "first\nsecond"),
                    None if child.returncode in statuses else f"{what}: status {child.returncode}\n{errors}",
                ]
                if what not in ("Ctrl-C", "SIGTERM", "SIGHUP", "exit"):
                    problems.append(None if "error[" in errors else f"{what}: no reason given")
    return first(*problems)


def lines_at_once(toy):
    """On a terminal a line is there while the program goes on."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(toy, ["toy", "-e", 'print("epoch 1"); while true { }'])
    try:
        ready, _, _ = select.select([fd], [], [], DEADLINE)
        return same("the first line", os.read(fd, 100) if ready else b"", b"epoch 1\r\n")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(fd)


def readers_that_leave(toy):
    """`toy … | head -1` is no error; a full disk is one."""
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {toy} -e 'for i in range(100000) {{ print(i); }}' | head -1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    full = subprocess.run(
        ["bash", "-c", f"{toy} -e 'for i in range(100000) {{ print(i); }}' > /dev/full"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    return first(
        same("head", (done.stdout, done.stderr, done.returncode), ("0\n", "", 141)),
        same("full", (full.returncode, "I0107" in full.stderr), (1, True)),
    )


def places(toy):
    """After a failure inside compiled code, other errors have their own places."""
    s = Session(toy, ["--jit=auto"])
    try:
        s.line("def f(x, i) { return x[i] + sum(x); }")
        s.line("f([1, 2], 1);")
        problems = []
        for between in ("f([1, 2], 5)", ":bench f([1, 2], 5)", ":time f([1, 2], 5)"):
            inside = s.line(between)
            problems.append(None if "def f(x, i)" in inside else f"the place of the failure itself is gone: {inside}")
            for after in ("assert(1 == 2)", "var y = [1, 2]; var j = 7; y[j]"):
                answer = s.line(after)
                problems.append(
                    None
                    if "def f" not in answer and after.split(";")[-1].strip() in answer
                    else f"{after!r} after {between!r} points elsewhere:\n{answer}"
                )
        s.line(":reset")
        answer = s.line("assert(1 == 3)")
        problems.append(None if "def f" not in answer and "assert(1 == 3)" in answer else f"after :reset:\n{answer}")
        return first(*problems)
    finally:
        s.close()


def no_escapes(toy):
    """Escape codes go to terminals that understand them, and nowhere else."""
    program = "show(rand(4, 4)); show([[1i, 2], [3, 4]]); print([1, 2]); nosuch"
    problems = [
        same("pipes", "\x1b" in (done := run(toy, "-e", program)).stdout + done.stderr, False),
        same("always", "\x1b" in run(toy, "--color=always", "-e", program).stdout, True),
    ]
    for settings, want in (
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "xterm"}, True),
        ({"TERM": ""}, False),
    ):
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(
                toy, ["toy", "-e", program], {**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, **settings}
            )
        out = b""
        try:
            while data := os.read(fd, 1 << 16):
                out += data
        except OSError:
            pass
        os.waitpid(pid, 0)
        os.close(fd)
        problems.append(same(f"colours with {settings}", b"\x1b" in out, want))
    return first(*problems)


def command_line(toy):
    """Texts of -e and files that are pipes are input like any other; errors show what was typed."""
    pipe = subprocess.run(
        ["bash", "-c", f"{toy} <(echo 'print(6 * 7);')"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    stage, emitted = run(toy, "--emit=affine", "-e", "1"), run(
        toy, "-e", "def f(x) { return x; }\nf([1, 2])\n:emit nonsense f"
    )
    return first(
        same("-e with a topic", "Fourier" in run(toy, "-e", "?fft").stdout, True),
        same("-e with a command", run(toy, "-e", ":type [1, 2] + 1").stdout, "f64[2]\n"),
        same("several inputs", run(toy, "-e", "var x = 4\n:type x\nx + 1").stdout, "i64\n5\n"),
        same("a pipe", (pipe.stdout, pipe.stderr), ("42\n", "")),
        same("a stage", "tokens, ast, toy" in stage.stderr and "D0103" in stage.stderr, True),
        same("a stage at the prompt", "D0103" in emitted.stderr and "text" not in emitted.stdout, True),
        same("what was typed", "1 | 1 + nosuch\n  |     ^^^^^^" in run(toy, "-e", ":type 1 + nosuch").stderr, True),
        same("what was typed", "1 | nosuch(2)\n" in run(toy, "-e", ":bench nosuch(2)").stderr, True),
    )


def until_prompt(s, text):
    """Seconds from Ctrl-C in a statement to the next prompt; 0 if it had ended before."""
    s.start(text, 0.3)
    rows = len(s.screen.rows)
    seconds = s.interrupt()
    return seconds if "R0114" in "\n".join(s.screen.rows[rows - 1 :]) else 0


def interrupts(toy, every_kind=False):
    """Ctrl-C brings the prompt back at once, whatever runs; the variables are as they were, and a call that was left
    behind disturbs nothing."""
    statements = [
        "var r = conv1d(rand(1, 1, 8000000), rand(1, 1, 20000));",
        "var r = svd(rand(1800, 1800));",
        "for i in range(9) { var r = fft(rand(30000000)); }",
        "var r = rand(4000, 4000) @ rand(4000, 4000);",
        'save("x.csv", rand(3000, 3000));',
        "long(1.0)",
        "while true { }",
        "for i in range(1000000000) { print(i); }",
    ]
    if every_kind:
        statements += [
            "var r = conv_transpose(rand(1, 1, 1000000), rand(1, 1, 3000));",
            "var r = eig(rand(1200, 1200));",
            "var r = inv(rand(4500, 4500));",
            "var r = sort(rand(50000000));",
            "for i in range(99) { var r = rand(50000000)[i64(rand(30000000) * 1000)]; }",
            "var r = rand(100000000); for i in range(99) { r = cumsum(r); }",
            "print(str(rand(3000000)));",
            "slices(ones(3))",
        ]
    s = Session(toy, TOY_FILL_FRESH=None)  # filling a gigabyte hears no Ctrl-C
    try:
        s.line(":set precision full")
        s.line("var x = [1, 2, 3];")
        body = " ".join(f"if x > {i} {{ x = sin(x) * {i} + cos(x); y = y + [x, {i}]; }}" for i in range(1500))
        with open(f"{s.home.name}/long.toy", "w") as file:
            file.write(f"def long(x) {{ var y = [0.0, 0.0]; {body} return y; }}\n")
            file.write("def slices(y) {\n" + "  y = y[1:] + y[:-1];\n" * 20000 + "  return y;\n}\n")
        s.line(":load long.toy", timeout=120)
        problems = []
        for text in statements:
            seconds = until_prompt(s, text)
            problems.append(None if seconds < 2 else f"the prompt came back {seconds:.2f} s after Ctrl-C in {text}")
            problems.append(
                same(
                    f"x after {text}",
                    # The row behind the text, which stands there twice where Ctrl-C came before the text was read.
                    s.line("print(x, sum(ones(300, 300) @ ones(300, 300)), det(eye(300)));").splitlines()[-1],
                    "[1.0, 2.0, 3.0] 27000000.0 1.0",
                )
            )
        return first(*problems)
    finally:
        s.close()


def references(toy):
    """What compiled code held when an error passed through it is given up: a variable's memory is free when it gets
    another value."""
    s = Session(toy, ["--jit=always", "--memory-limit=300000000"])
    try:
        s.line("def g(x, k) { assert(k < 5); return x[k] + sum(x); }")
        s.line(
            "def f(x, k) { var y = x * 2; var z = reshape(x, [2, 500000]); return g(y, 1) + g(x, k) + sum(z @ z.T); }"
        )
        for i in range(50):  # 8 MB each, of which :undo keeps some
            s.line(f"var x = arange(1000000) + {i};")
            if "R0104" not in (answer := s.line("f(x, 7)")):
                return f"call {i}: {answer}"
        answer = s.line("sum(f(x, 1)) > 0")
        s.send(":quit\r")
        return first(same("the last call", answer, "bool\ntrue"), same("status", s.status(), 0))
    finally:
        s.close()


def extern_bounds(toy):
    """--check-bounds sees every access beside the operands, near and far, and the session goes on."""
    with tempfile.TemporaryDirectory() as folder:
        functions = {
            "right": "y[0] = x[0]",
            "after": "y[n] = 1",
            "far": "y[n + 512] = 1",
            "before": "y[-1] = 1",
            "farBefore": "y[-4096] = 1",
            "into": "x[0] = 7",
            "readAfter": "y[0] = x[n]",
            "readFar": "y[0] = x[n + 100000]",
            "million": "memset(y, 1, 1 << 20)",
            "thrown": "abort()",
        }
        declared = library(
            folder,
            "".join(
                f"int32_t {name}(const toy_call *call) {{ double *x = call->arguments[0].data, *y = call->results[0].data; int64_t n = call->arguments[0].sizes[0]; (void)x; (void)y; (void)n; {body}; return 0; }}\n"
                for name, body in functions.items()
            ),
        )
        problems = []
        for mode in ("never", "always"):
            s = Session(toy, ["--check-bounds", f"--jit={mode}"], width=200)
            try:
                for text in declared.splitlines():
                    s.line(text)
                s.line("var kept = 5;")
                for size in (8, 512, 1000):
                    for name in functions:
                        answer = s.line(f"kept = 6; var r = {name}(ones({size}));")
                        code = None if name == "right" else "X0002" if name == "thrown" else "R0121"
                        if size == 1000 and name in ("readAfter",):
                            code = "R0121"
                        problems.append(
                            None
                            if (code in answer if code else answer == "")
                            else f"{name} of {size} elements with --jit={mode}: {answer}"
                        )
                        problems.append(same("a variable", s.line("kept"), "i64\n6" if not code else "i64\n5"))
                        s.line("kept = 5;")
            finally:
                s.close()
    return first(*problems)


def injected(toy):
    """The n-th allocation, write or thread fails: an input ends with an error and the session goes on, or the program
    ends with a message; variables and files are as before or as after."""
    statements = (
        "def f(x) { return x * 2 + sum(x); } f([1, 2, 3])",
        "var y = sort(rand(1000)); y[3] >= y[2]",
        "for i in range(20) { x = x + 0; }",
        'save("a.npz", ones(2000)); load("a.npz")[5]',
        "print(rand(200, 200) @ rand(200, 200));",
        ":type [1, 2] + 1",
        "?fft",
        'struct P { var u; var v; } var p = P(1, "t"); p.u',
        "nosuch + 1",
        ":emit llvm f",
        "fft([1, 2, 3, 4])",
    )
    counts = {"allocation": (1, 2, 3, 5, 9, 17, 40, 90, 200, 500, 1200, 3000, 7000), "write": (1,), "thread": (1, 2)}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [
                "cc",
                "-O1",
                "-shared",
                "-fPIC",
                f"-I{ROOT / 'runtime'}",
                "-o",
                f"{folder}/failing.so",
                str(ROOT / "tests/data/failing.c"),
                "-ldl",
            ],
            check=True,
        )
        declared = "".join(f'extern def fail_{kind}(n: i64) -> i64 from "{folder}/failing.so";\n' for kind in counts)
        path = pathlib.Path(folder, "start.toy")
        path.write_text(declared + "var x = [1, 2, 3];\nfail_allocation(0); fail_write(0); fail_thread(0);\n")
        ended, s = 0, None
        try:
            for kind, numbers in counts.items():
                for n in numbers:
                    for text in (
                        statements if kind != "write" else [t for t in statements if t.startswith(("print", "save"))]
                    ):
                        if s is None:
                            s = Session(toy, LD_PRELOAD=f"{folder}/failing.so")
                            s.line(f":load {path}")
                        try:
                            try:
                                s.line(
                                    f"\x1b[200~fail_{kind}({n});\n{text}\x1b[201~", timeout=10
                                )  # one after the other, without a key in between
                            except TimeoutError:  # what a library's thread says of its own comes behind the prompt
                                s.line("", timeout=10)
                            s.line(f"fail_{kind}(0);", timeout=20)
                            answer = s.line("print(x, sum(x));", timeout=20)
                        except EOFError as error:
                            ended += 1
                            if not any(word in str(error) for word in ("error[", "terminate", "xmalloc")):
                                return f"the session ended without a word when {kind} {n} failed in {text!r}: {error}"
                            s.close()
                            s = None
                            continue
                        if answer != "[1.0, 2.0, 3.0] 6.0":
                            return f"after {kind} {n} failed in {text!r}: {answer}\n{s.text()[-800:]}"
            total = len(counts["allocation"]) * len(statements)
            return None if ended < total / 10 else f"{ended} of {total} failures ended the session"
        except TimeoutError as error:
            return f"{kind} {n} in {text!r}: {error}"
        finally:
            if s:
                s.close()


MARKERS = ("host", "release")


def all_cases():
    for test in (
        ends,
        lines_at_once,
        readers_that_leave,
        places,
        no_escapes,
        command_line,
        interrupts,
        references,
        extern_bounds,
        injected,
    ):
        yield "faults: " + test.__name__.replace("_", " "), test, *(["long"] if test is interrupts else [])
    yield "faults: interrupts of every kind", lambda toy: interrupts(toy, True), "nightly"


if __name__ == "__main__":
    import sys

    for name, function, *_ in all_cases():
        if len(sys.argv) < 3 or any(word in name for word in sys.argv[2:]):
            begin = time.time()
            problem = function(sys.argv[1])
            print(f"{'FAIL' if problem else 'ok'} {name} {time.time() - begin:.1f} s", problem or "")
