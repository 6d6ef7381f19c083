# SPDX-License-Identifier: Apache-2.0
"""The rows of docs/prompt-rows.md, key by key, at the prompt and at its peers in an emulated terminal: after each keys
the cursor's place and the lines of the screen from the first one that has changed. Peers that are not installed are
left out. Nothing here is a test. Usage: screens.py TOY [NAME=PROGRAM…] [ROW…]
(peers: apt install clang-tools-22 octave nodejs fish; IPython and Python 3.13 in an environment of their own,
`ipython=ENV/bin/ipython python=ENV/bin/python`)"""
import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time

import pyte

from screen_keys import ROWS

PEERS = {
    "ipython": ["ipython", "--no-confirm-exit"],
    "python": ["python3"],
    "octave": ["octave-cli", "-q"],
    "node": ["node"],
    "clang-repl": ["clang-repl-22"],
    "fish": ["fish"],
}
QUIET = {"ipython": 1.5}  # seconds without output that end an answer; the first Tab of IPython loads for a second
COLUMNS, LINES, MOST = 80, 24, 14


class Screen(pyte.Screen):
    """A terminal that answers when it is asked what it is."""

    answer = None

    def write_process_input(self, data):
        if self.answer:
            self.answer(data.encode())


class Player:
    def __init__(self, name, command):
        self.quiet = QUIET.get(name, 0.5)
        self.screen = Screen(COLUMNS, LINES)
        self.stream = pyte.ByteStream(self.screen)
        self.home = tempfile.TemporaryDirectory()
        self.before = []
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(self.home.name)
            places = dict.fromkeys(("HOME", "IPYTHONDIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"), self.home.name)
            os.execvpe(command[0], command, {**os.environ, **places, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"})
        self.screen.answer = lambda data: os.write(self.fd, data)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        limit = time.time() + 30
        while not "".join(self.screen.display).strip() and time.time() < limit:
            self.rest(0.1)
        self.rest(max(2, 2 * self.quiet))

    def rest(self, quiet):
        """Until nothing has come for a while; programs that end are told by EOFError."""
        last, limit = time.time(), time.time() + 20
        while time.time() < min(limit, last + quiet):
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    data = os.read(self.fd, 1 << 16)
                except OSError:
                    data = b""
                if not data:
                    raise EOFError
                self.stream.feed(data)
                last = time.time()

    def play(self, keys):
        os.write(self.fd, keys.encode())
        self.rest(self.quiet)

    def shown(self):
        """The lines from the first one that has changed."""
        rows = [row.rstrip() for row in self.screen.display]
        while rows and not rows[-1]:
            rows.pop()
        same = 0
        while same < min(len(rows), len(self.before)) and rows[same] == self.before[same]:
            same += 1
        self.before = rows
        return rows[min(same, self.screen.cursor.y) :]

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def play(row, name, command):
    print(f"\n## {row}: {name}")
    player = Player(name, command)
    try:
        player.shown()
        for keys in ROWS[row][name]:
            player.play(keys)
            cursor = player.screen.cursor
            print(f"{keys!r} (cursor {cursor.y}, {cursor.x})")
            print("\n".join("    " + line for line in player.shown()[-MOST:]))
    except EOFError:
        print("(the program has ended)")
    finally:
        player.close()


def main(toy, *arguments):
    programs = {"toy": [os.path.abspath(toy)], **PEERS}
    for name, program in (a.split("=", 1) for a in arguments if "=" in a):
        programs[name] = [program, *PEERS[name][1:]]
    wanted = [a for a in arguments if "=" not in a] or list(ROWS)
    for row in wanted:
        for name in ROWS[row]:
            if shutil.which(programs[name][0]):
                play(row, name, programs[name])


if __name__ == "__main__":
    main(*sys.argv[1:])
