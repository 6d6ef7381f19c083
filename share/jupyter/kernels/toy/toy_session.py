# SPDX-License-Identifier: Apache-2.0
"""A session of Toy behind pipes: `toy --notebook` answers requests of JSON-RPC, each message with a header
`Content-Length: N`, as language servers do.

    request                                   result
    execute {code, number}                    {ok, exit?}: runs a cell up to the first input that fails
    complete {code}                           {begin, matches: [{text, detail}]}: `begin` counts bytes of `code`
    inspect {code, behind}                    {text}: help on the word between what is before and behind the cursor
    isComplete {code}                         {complete, indent}

Before the answer to `execute` come notifications `show {kind, …}`: `stdout`, `stderr` and `value` with a `text`,
`picture` with `data` by type, `error` with `code`, `message` and a `text` with carets. SIGINT stops what runs."""
import json
import os
import queue
import shutil
import signal
import subprocess
import threading


class Ended(Exception):
    """The program is gone, and with it all variables."""


class Session:
    def __init__(self, program=None, arguments=()):
        program = program or os.environ.get("TOY") or shutil.which("toy")
        if not program:
            raise FileNotFoundError("the program `toy` is not in PATH; TOY=FILE names it")
        self.process = subprocess.Popen(
            [program, "--notebook", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # an interrupt comes from here alone
        )
        os.set_blocking(self.process.stderr.fileno(), False)
        self.messages = queue.Queue()
        self.requests = 0
        threading.Thread(target=self._read, daemon=True).start()

    def execute(self, code, number, show):
        """Runs a cell. `show` is called with each notification."""
        return self._ask("execute", {"code": code, "number": number}, show)

    def complete(self, before):
        return self._ask("complete", {"code": before})

    def inspect(self, before, behind):
        return self._ask("inspect", {"code": before, "behind": behind})["text"]

    def is_complete(self, code):
        return self._ask("isComplete", {"code": code})

    def interrupt(self):
        """Reaches programs that a cell runs, too."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)

    def close(self):
        """Ends the program, and gives its status."""
        try:
            self.process.stdin.close()
            return self.process.wait(timeout=2)
        except (subprocess.TimeoutExpired, OSError):
            self.process.kill()
            return self.process.wait()
        finally:
            self.process.stdout.close()
            self.process.stderr.close()

    def _read(self):
        out = self.process.stdout
        try:
            while header := out.readline():
                size = int(header.split(b":")[1])
                out.readline()
                self.messages.put(json.loads(out.read(size)))
        except (ValueError, OSError):  # it ended within a message
            pass
        self.messages.put(None)

    def _errors(self, show):
        """What programs and libraries write past the session."""
        try:
            while text := os.read(self.process.stderr.fileno(), 1 << 16):
                show({"kind": "stderr", "text": text.decode(errors="replace")})
        except (BlockingIOError, ValueError):
            pass

    def _ask(self, method, params, show=lambda message: None):
        self.requests += 1
        text = json.dumps({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params}).encode()
        try:
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
            self.process.stdin.flush()
        except OSError:
            raise Ended(self.process.wait()) from None
        while True:
            try:
                message = self._next(show)
            except KeyboardInterrupt:
                self.interrupt()
                continue
            if message is None:
                raise Ended(self.process.wait())
            if message.get("method") == "show":
                show(message["params"])
            elif message.get("id") == self.requests:
                self._errors(show)
                if "error" in message:
                    raise RuntimeError(message["error"]["message"])
                return message["result"]

    def _next(self, show):
        while True:
            self._errors(show)
            try:
                return self.messages.get(timeout=0.1)
            except queue.Empty:
                pass
