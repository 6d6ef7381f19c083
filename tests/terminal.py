# SPDX-License-Identifier: Apache-2.0
"""A program in a pseudo-terminal: what a person sees on the screen, key by key."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import tempfile
import termios
import time


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


def session(body, kind=Session, **options):
    def test(toy):
        s = kind(toy, **options)
        try:
            return body(s)
        except (EOFError, TimeoutError, OSError) as error:
            return f"{type(error).__name__}: {error}"
        finally:
            s.close()

    test.__name__ = body.__name__
    return test
