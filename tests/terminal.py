# SPDX-License-Identifier: Apache-2.0
"""A program in a pseudo-terminal: what a person sees on the screen, key by key.

Nothing is waited for by time alone, since a loaded machine may take any: a prompt is one that the line editor says it
reads at, a screen is looked at when no thread of the program runs, and a statement is interrupted when it has computed
for a while. Deadlines are for programs that hang."""
import codecs
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


DEADLINE = 120
# What the system echoes of Ctrl-C, Ctrl-Z and Ctrl-\ while a statement runs: a terminal shows nothing of it, but pyte
# forgets what else came in the same piece of output.
UNSEEN = dict.fromkeys(b"\x03\x1a\x1c")


def spent(pid):
    """Seconds of the processor that a program has used."""
    with open(f"/proc/{pid}/stat") as stat:
        user, system = stat.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def said_of(pid, thread):
    """What the system knows of a thread, by names."""
    with open(f"/proc/{pid}/task/{thread}/status") as status:
        return {name: value.strip() for name, value in (line.split(":", 1) for line in status)}


def has_heard(pid):
    """Whether no signal to a program is on its way: the thread that hears them waits."""
    said = said_of(pid, pid)
    return said["State"][0] == "S" and int(said["SigPnd"], 16) == int(said["ShdPnd"], 16) == 0


def threads(pid):
    """The state of each thread, and how often it was taken from a processor."""
    out = {}
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            said = said_of(pid, thread)
            out[thread] = said["State"][0], said["voluntary_ctxt_switches"], said["nonvoluntary_ctxt_switches"]
    except (FileNotFoundError, ProcessLookupError):  # one that ended meanwhile
        out["0"] = "R", "", ""
    return out


class Screen:
    """The few control sequences that the prompt uses."""

    def __init__(self, width):
        self.width, self.rows, self.row, self.column, self.rest, self.colours = width, [""], 0, 0, "", 0
        self.prompts, self.reading = 0, False  # how often the line editor began to read, and whether it reads

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
                elif kind in "JK" and not found.group(1):
                    if kind == "J":
                        self.rows = self.rows[: self.row + 1]
                    self.rows[self.row] = self.rows[self.row][: self.column]
                elif kind == "m":
                    self.colours += 1
                elif found.group(1) == "?2004":  # pastes have brackets, as long as the line editor reads
                    self.prompts += kind == "h"
                    self.reading = kind == "h"
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
    """A program that runs until `close`. Names besides these are of its environment."""

    def __init__(self, toy, arguments=(), width=100, prompt="toy> ", **environment):
        self.home = tempfile.TemporaryDirectory()
        self.screen = Screen(width)
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a piece may end inside a character
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
        self.before = self.ended = None
        self.says_reading = environment.get("TERM") != "dumb"
        self.resize(width)
        if prompt:
            self.wait(prompt)
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
            self.screen.feed(self.decoder.decode(data).translate(UNSEEN))
        return bool(ready)

    def text(self):
        return "\n".join(row.rstrip() for row in self.screen.rows)

    def until(self, what, condition, timeout=DEADLINE, pause=0.005):
        """Takes what the program writes until the condition holds and nothing more comes."""
        limit = time.time() + timeout
        while self.pump(pause) or not condition():
            if time.time() > limit:
                raise TimeoutError(f"no {what} on\n{self.text()[-1500:]}")

    def at(self, prompt):
        """The last row is this prompt without any text, and the line editor reads there."""
        last = self.screen.row == len(self.screen.rows) - 1 and self.screen.rows[-1].rstrip() == prompt.rstrip()
        return last and (self.screen.reading or not self.says_reading)

    def wait(self, end="toy> ", timeout=DEADLINE):
        """Until the screen's last row is a fresh prompt."""
        self.until(repr(end), lambda: self.at(end), timeout)

    def send(self, keys):
        self.before = threads(self.pid)
        data = keys.encode()
        while data:
            n = os.write(self.fd, data[:512])
            data = data[n:]
            while data and self.pump(0):  # not behind the last key: it may end the session
                pass

    def line(self, text, end="toy> ", timeout=DEADLINE):
        """Types a line at a prompt; what came below it until the next one."""
        rows, prompts = len(self.screen.rows), self.screen.prompts
        self.send(text + "\r")
        another = self.says_reading and end.rstrip() != "...>"  # which the editor draws while it goes on reading

        def ended():
            return len(self.screen.rows) > rows and self.at(end) and (not another or self.screen.prompts > prompts)

        self.until(repr(end), ended, timeout, pause=0.005 if another else 0.05)
        return "\n".join(row.rstrip() for row in self.screen.rows[rows:-1])

    def pause(self, seconds):
        """Until the screen was quiet for a while, whatever the program does."""
        while self.pump(seconds):
            pass

    def rest(self, timeout=DEADLINE):
        """Until the program waits for a key: nothing comes from it, and all its threads sleep and have not run for a
        moment, after they did since the last key."""
        seen = None

        def rests():
            nonlocal seen
            before, seen = seen, threads(self.pid)
            return before == seen != self.before and all(state == "S" for state, *_ in seen.values())

        self.until("end of what the keys began", rests, timeout, pause=0.02)
        self.before = None

    def keys(self, keys):
        """Sends keys, and returns the rows when the program waits for the next one."""
        if keys:
            self.send(keys)
        self.rest()
        return self.text()

    def start(self, text, seconds=0.1):
        """Types a statement that goes on, until it has computed for so many seconds, or has ended."""
        rows, prompts = len(self.screen.rows), self.screen.prompts
        self.send(text + "\r")
        self.until("statement", lambda: len(self.screen.rows) > rows, pause=0)
        began, limit = None, time.time() + DEADLINE
        while began is None or spent(self.pid) < began + seconds:
            self.pump(0.005)
            if self.screen.prompts > prompts:
                return
            if began is None and not (self.says_reading and self.screen.reading):
                began = spent(self.pid)
            if time.time() > limit:
                raise TimeoutError(f"{text} does not compute\n{self.text()[-500:]}")

    def interrupt(self, prompt="toy> "):
        """Ctrl-C, wherever the program is: seconds until the prompt is back, or of the processor where those are
        fewer, as the machine does other things as well."""
        cpu, begin = spent(self.pid), time.time()
        os.kill(self.pid, signal.SIGINT)

        self.until(f"{prompt!r} after Ctrl-C", lambda: self.at(prompt) and has_heard(self.pid))
        return min(time.time() - begin, spent(self.pid) - cpu)

    def status(self):
        """The exit status, when the program has ended."""
        try:
            self.until("end of the program", lambda: False)
        except EOFError:
            pass
        self.ended = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.ended

    def close(self):
        if self.ended is None:
            os.kill(self.pid, signal.SIGKILL)
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
