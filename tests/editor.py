# SPDX-License-Identifier: Apache-2.0
"""An editor: speaks with `toy --lsp` through pipes."""
import json
import pathlib
import queue
import subprocess
import threading


class Editor:
    def __init__(self, toy, folder):
        self.folder = pathlib.Path(folder)
        self.process = subprocess.Popen(
            [toy, "--lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder
        )
        self.messages, self.requests, self.versions = queue.Queue(), 0, {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        out = self.process.stdout
        while header := out.readline():
            size = int(header.split(b":")[1])
            out.readline()
            self.messages.put(json.loads(out.read(size)))
        self.messages.put(None)

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.raw(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def ask(self, method, params=None):
        """The result of a request, or its error; what is published meanwhile is kept."""
        self.requests += 1
        self.send({"id": self.requests, "method": method, "params": params or {}})
        kept = []
        while (message := self.messages.get(timeout=30)) is not None:
            if message.get("id") == self.requests:
                for one in kept:
                    self.messages.put(one)
                return message["result"] if "result" in message else message["error"]
            kept.append(message)
        raise AssertionError(f"the server ended with status {self.process.wait()}: {self.process.stderr.read()}")

    def start(self):
        answer = self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.notify("initialized", {})
        return answer["capabilities"]

    def uri(self, name):
        return (self.folder / name).as_uri()

    def open(self, text, name="main.toy"):
        """Opens a text, or gives it another content; what is found in it."""
        self.versions[name] = self.versions.get(name, 0) + 1
        document = {"uri": self.uri(name), "version": self.versions[name]}
        if self.versions[name] == 1:
            self.notify("textDocument/didOpen", {"textDocument": {**document, "languageId": "toy", "text": text}})
        else:
            self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        return self.found(name)

    def edit(self, changes, name="main.toy"):
        self.versions[name] += 1
        document = {"uri": self.uri(name), "version": self.versions[name]}
        changes = [{"range": {"start": place(a), "end": place(b)}, "text": text} for a, b, text in changes]
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": changes})
        return self.found(name)

    def found(self, name="main.toy"):
        """The diagnostics of the newest version."""
        while (message := self.messages.get(timeout=30)) is not None:
            params = message.get("params", {})
            if params.get("uri") == self.uri(name) and params.get("version") == self.versions[name]:
                return params["diagnostics"]
        raise AssertionError(f"the server ended with status {self.process.wait()}: {self.process.stderr.read()}")

    def at(self, kind, position, name="main.toy", **more):
        return self.ask(
            f"textDocument/{kind}", {"textDocument": {"uri": self.uri(name)}, "position": place(position), **more}
        )

    def about(self, kind, name="main.toy", **more):
        return self.ask(f"textDocument/{kind}", {"textDocument": {"uri": self.uri(name)}, **more})

    def end(self):
        """The status of the server."""
        self.ask("shutdown")
        self.notify("exit", {})
        return self.process.wait(timeout=30)


def place(position):
    return {"line": position[0], "character": position[1]}


def span(range):
    """(line, column, line, column), from 0."""
    return tuple(range[end][part] for end in ("start", "end") for part in ("line", "character"))


def shown(diagnostics):
    """`CODE line:column-column`, from 0, each."""
    return [f"{d['code']} {span(d['range'])[0]}:{span(d['range'])[1]}-{span(d['range'])[3]}" for d in diagnostics]
