# SPDX-License-Identifier: Apache-2.0
"""When output goes out: what waits is seen within 0.1 seconds while the program goes on, before what is written to
standard error, and where nobody reads the program ends with status 141. `progress` draws on a terminal and nowhere
else."""
import os
import pty
import select
import subprocess
import time

BUSY = "var t = clock(); while clock() - t < 0.6 { }"


def seen_early(toy):
    """A line arrives while the program is still busy, which reads no clock but its own."""
    with subprocess.Popen([toy, "-e", f'print("first"); {BUSY} print("last");'], stdout=subprocess.PIPE) as run:
        ready, _, _ = select.select([run.stdout], [], [], 30)
        text = os.read(run.stdout.fileno(), 100) if ready else b""
        early = run.poll() is None
        rest = run.stdout.read()
    return None if early and (text, rest) == (b"first\n", b"last\n") else f"{text} {rest}, early: {early}"


def in_order(toy):
    """Both streams into one pipe."""
    program = (
        'print(1); print(2, to = "stderr"); print(3); print(4, end = "", to = "stderr"); print([1, 2] + [1, 2, 3]);'
    )
    done = subprocess.run([toy, "-e", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wanted = "1\n2\n3\n4error[T0304]"
    return None if done.stdout.startswith(wanted) else done.stdout


def nobody_reads(toy):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [toy, "-e", "for i in range(100000) { print(i); }"], stdout=writing, stderr=subprocess.PIPE, timeout=60
    )
    os.close(writing)
    return None if (done.returncode, done.stderr) == (141, b"") else f"{done.returncode} {done.stderr}"


def drawn(toy):
    """A bar on a terminal, and what is printed meanwhile; to a pipe nothing."""
    program = 'for i in progress(range(3), "turns") { print(i); }'
    if (done := subprocess.run([toy, "-e", program], capture_output=True)).stderr:
        return f"{done.stderr} on a pipe"
    master, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen([toy, "-e", program], stdout=subprocess.PIPE, stderr=terminal, env=environment) as run:
        printed = run.stdout.read()
    os.close(terminal)
    shown = b""
    deadline = time.time() + 10
    while time.time() < deadline:
        try:
            piece = os.read(master, 4096)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    text = shown.decode()
    fits = "turns" in text and "0/3" in text and text.rstrip("\x1b[K\r\n").count("3/3") == 1 and text.endswith("\r\n")
    return None if printed == b"0\n1\n2\n" and fits else f"{printed} {text!r}"


def all_cases():
    yield "output: seen while the program goes on", seen_early, "release"
    yield "output: in order with errors", in_order
    yield "output: nobody reads", nobody_reads
    yield "output: progress on a terminal", drawn
