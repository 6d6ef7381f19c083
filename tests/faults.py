# SPDX-License-Identifier: Apache-2.0
"""What must not be lost: sessions, after exceptions and faults; output, however a program ends; the time until Ctrl-C is heard; places of errors."""
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import tempfile
import time

import prompt
from prompt import expect, first

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(toy, *arguments, **options):
    return subprocess.run([toy, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, **options)


def library(folder, source):
    """An extern library; what its functions do is the faults' business."""
    path = pathlib.Path(folder, "lib.c")
    path.write_text('#include "toy_extern.h"\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n' + source)
    subprocess.run(["cc", "-w", "-O0", "-shared", "-fPIC", f"-I{ROOT / 'runtime'}", "-o", f"{folder}/lib.so", str(path)], check=True)
    return "".join(f'extern def {name}(x: f64[N]) -> f64[N] from "{folder}/lib.so";\n' for name in re.findall(r"int32_t (\w+)\(", source))


def ends(toy):
    """Lines that were printed are there after every kind of end, in a pipe and on a terminal; the status says which it was."""
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        declared = library(folder, "int32_t leave(const toy_call *call) { (void)call; exit(3); }\nint32_t crash(const toy_call *call) { (void)call; *(volatile int *)8 = 1; return 0; }\n"
                                   "int32_t lock(const toy_call *call) { (void)call; void *p = malloc(3000), *q = malloc(3000); (void)q; memset((char *)p - 16, 0x41, 6100); free(p); malloc(5000); return 0; }\n")
        for what, end, signals, statuses in (("an error", "assert(false);", None, {1}), ("Ctrl-C", "while true { }", signal.SIGINT, {130}), ("SIGTERM", "while true { }", signal.SIGTERM, {143}), ("SIGHUP", "while true { }", signal.SIGHUP, {129}),
                                             ("exit", "leave([1]);", None, {3}), ("a fault", "crash([1]);", None, {70}), ("a damaged heap", "lock([1]);", None, {70, 1})):
            text = declared + 'print("first");\nwrite("second");\n' + end
            pathlib.Path(folder, "p.toy").write_text(text)
            for on_terminal in (False, True):
                main, side = pty.openpty() if on_terminal else os.pipe()
                begin = time.time()
                child = subprocess.Popen([toy, f"{folder}/p.toy"], stdin=subprocess.DEVNULL, stdout=side, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": folder})
                os.close(side)
                if signals:
                    time.sleep(0.5)
                    child.send_signal(signals)
                try:
                    errors = child.communicate(timeout=20)[1].decode()
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
                problems += [expect(f"output before {what}", out.decode().replace("\r", ""), "first\nsecond"), None if child.returncode in statuses else f"{what}: status {child.returncode}\n{errors}"]
                if what not in ("Ctrl-C", "SIGTERM", "SIGHUP", "exit"):
                    problems.append(None if "error[" in errors else f"{what}: no reason given")
    return first(*problems)


def lines_at_once(toy):
    """On a terminal a line is there while the program goes on."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(toy, ["toy", "-e", 'print("epoch 1"); while true { }'])
    try:
        ready, _, _ = select.select([fd], [], [], 20)
        return expect("the first line", os.read(fd, 100) if ready else b"", b"epoch 1\r\n")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(fd)


def readers_that_leave(toy):
    """`toy … | head -1` is no error; a full disk is one."""
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {toy} -e 'for i in range(100000) {{ print(i); }}' | head -1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    full = subprocess.run(["bash", "-c", f"{toy} -e 'for i in range(100000) {{ print(i); }}' > /dev/full"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    return first(expect("head", (done.stdout, done.stderr, done.returncode), ("0\n", "", 141)), expect("full", (full.returncode, "I0107" in full.stderr), (1, True)))


def places(toy):
    """After a failure inside compiled code, other errors have their own places."""
    s = prompt.Session(toy, ["--jit=auto"])
    try:
        s.line("def f(x, i) { return x[i] + sum(x); }")
        s.line("f([1, 2], 1);")
        problems = []
        for between in ("f([1, 2], 5)", ":bench f([1, 2], 5)", ":time f([1, 2], 5)"):
            inside = s.line(between)
            problems.append(None if "def f(x, i)" in inside else f"the place of the failure itself is gone: {inside}")
            for after in ("assert(1 == 2)", "var y = [1, 2]; var j = 7; y[j]"):
                answer = s.line(after)
                problems.append(None if "def f" not in answer and after.split(";")[-1].strip() in answer else f"{after!r} after {between!r} points elsewhere:\n{answer}")
        s.line(":reset")
        answer = s.line("assert(1 == 3)")
        problems.append(None if "def f" not in answer and "assert(1 == 3)" in answer else f"after :reset:\n{answer}")
        return first(*problems)
    finally:
        s.close()


def no_escapes(toy):
    """Escape codes go to terminals that understand them, and nowhere else."""
    program = "show(rand(4, 4)); show([[1i, 2], [3, 4]]); print([1, 2]); nosuch"
    problems = [expect("pipes", "\x1b" in (done := run(toy, "-e", program)).stdout + done.stderr, False), expect("always", "\x1b" in run(toy, "--color=always", "-e", program).stdout, True)]
    for settings, want in (({"TERM": "dumb"}, False), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "xterm", "NO_COLOR": ""}, True), ({"TERM": "xterm"}, True), ({"TERM": ""}, False)):
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(toy, ["toy", "-e", program], {**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, **settings})
        out = b""
        try:
            while data := os.read(fd, 1 << 16):
                out += data
        except OSError:
            pass
        os.waitpid(pid, 0)
        os.close(fd)
        problems.append(expect(f"colours with {settings}", b"\x1b" in out, want))
    return first(*problems)


MARKERS = ("host", "release")


def all_cases():
    for test in (ends, lines_at_once, readers_that_leave, places, no_escapes):
        yield "faults: " + test.__name__.replace("_", " "), test


if __name__ == "__main__":
    import sys
    for name, function in all_cases():
        if len(sys.argv) < 3 or any(word in name for word in sys.argv[2:]):
            begin = time.time()
            problem = function(sys.argv[1])
            print(f"{'FAIL' if problem else 'ok'} {name} {time.time() - begin:.1f} s", problem or "")
