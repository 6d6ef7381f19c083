#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernel of Jupyter notebooks: ipykernel speaks with the notebook, a session of Toy runs the cells."""
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

from toy_session import Ended, Session


class ToyKernel(Kernel):
    implementation = "toy"
    implementation_version = "0.1.0"
    banner = "Toy: tensors with complex numbers. `?name` explains a function, `:help` lists commands."
    language_info = {
        "name": "toy",
        "mimetype": "text/x-toy",
        "file_extension": ".toy",
        "pygments_lexer": "text",
        "codemirror_mode": "julia",
    }
    session_of_toy = None

    def toy(self):
        if not self.session_of_toy:
            self.session_of_toy = Session()
        return self.session_of_toy

    def ended(self):
        """The session is gone; the next cell gets another one."""
        status = self.session_of_toy.close()
        self.session_of_toy = None
        return f"the program ended with status {status}: variables and functions are gone"

    def publish(self, kind, **content):
        self.send_response(self.iopub_socket, kind, content)

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, **_):
        errors = []

        def show(message):
            kind = message["kind"]
            if kind == "error":
                errors.append((message["code"], message["message"], message["text"].rstrip("\n")))
            elif silent:
                pass
            elif kind == "picture":
                self.publish("display_data", data=message["data"], metadata={}, transient={})
            elif kind == "value":
                data = {"text/plain": message["text"].rstrip("\n")}
                self.publish("execute_result", execution_count=self.execution_count, data=data, metadata={})
            else:
                self.publish("stream", name=kind, text=message["text"])

        payload = []
        try:
            result = self.toy().execute(code, self.execution_count, show)
            if "exit" in result:
                payload.append({"source": "ask_exit", "keepkernel": False})
        except Ended:
            errors.append(("Ended", text := self.ended(), text))
        except (OSError, RuntimeError) as problem:
            errors.append((type(problem).__name__, str(problem), str(problem)))
        if not errors:
            return {
                "status": "ok",
                "execution_count": self.execution_count,
                "payload": payload,
                "user_expressions": {},
            }
        error = {"ename": errors[0][0], "evalue": errors[0][1], "traceback": [text for _, _, text in errors]}
        if not silent:
            self.publish("error", **error)
        return {"status": "error", "execution_count": self.execution_count, **error}

    def ask(self, method, *arguments, otherwise):
        try:
            return getattr(self.toy(), method)(*arguments)
        except Ended:
            self.ended()
        except (OSError, RuntimeError):
            pass
        return otherwise

    def do_complete(self, code, cursor_pos):
        found = self.ask("complete", code[:cursor_pos], otherwise={"begin": 0, "matches": []})
        return {
            "status": "ok",
            "matches": [match["text"] for match in found["matches"]],
            "cursor_start": len(code[:cursor_pos].encode()[: found["begin"]].decode()),
            "cursor_end": cursor_pos,
            "metadata": {},
        }

    def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        text = self.ask("inspect", code[:cursor_pos], code[cursor_pos:], otherwise="")
        return {"status": "ok", "found": bool(text), "data": {"text/plain": text} if text else {}, "metadata": {}}

    def do_is_complete(self, code):
        found = self.ask("is_complete", code, otherwise={"complete": True, "indent": 0})
        if found["complete"]:
            return {"status": "complete"}
        return {"status": "incomplete", "indent": " " * found["indent"]}

    def do_shutdown(self, restart):
        if self.session_of_toy:
            self.session_of_toy.close()
            self.session_of_toy = None
        return {"status": "ok", "restart": restart}


if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=ToyKernel)
