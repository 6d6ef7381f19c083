# SPDX-License-Identifier: Apache-2.0
"""The kernel of notebooks: the session behind pipes, and, where Jupyter is installed, a notebook's view of it."""
import base64
import importlib
import os
import pathlib
import sys
import threading
import time

import pytest

from terminal import has_heard

KERNEL = pathlib.Path(__file__).resolve().parent.parent / "share/jupyter/kernels/toy"
sys.path.insert(0, str(KERNEL))
toy_session = importlib.import_module("toy_session")


class Cells:
    """Runs cells and keeps what they show."""

    def __init__(self, toy):
        self.session, self.number = toy_session.Session(toy, ["--no-cache"]), 0

    def run(self, code):
        self.number += 1
        shown = []
        result = self.session.execute(code, self.number, shown.append)
        return result, [message for message in shown if message["kind"] != "stderr"], shown

    def texts(self, code):
        """(kind, text) of what a cell shows; texts in a row of one kind are one."""
        out = []
        for message in self.run(code)[1]:
            text = message.get("text", "")
            if out and out[-1][0] == message["kind"] == "stdout":
                out[-1] = ("stdout", out[-1][1] + text)
            else:
                out.append((message["kind"], text))
        return out


@pytest.fixture
def cells(toy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = Cells(toy)
    yield cells
    cells.session.close()


def test_values_and_output_in_their_order(cells):
    assert cells.texts("print(1);\n2 + 3\nprint(4);\n5 * 1i") == [
        ("stdout", "1\n"),
        ("value", "i64\n5\n"),
        ("stdout", "4\n"),
        ("value", "c128\n0.0+5.0i\n"),
    ]
    assert cells.texts("def f(x) {\n  return x * 2;\n}\nf([1, 2])") == [("value", "f64[2]\n[2.0, 4.0]\n")]
    assert cells.texts("_2 + 1") == [("value", "f64[2]\n[3.0, 5.0]\n")]
    assert cells.texts("var x = 1;") == []
    assert cells.texts('print("π😀");') == [("stdout", "π😀\n")]
    text = "".join(text for kind, text in cells.texts('for i in range(30000) { write("é😀"); }') if kind == "stdout")
    assert text == "é😀" * 30000


def test_errors(cells):
    result, shown, _ = cells.run("var a = 1;\nprint(a);\na @ nothing\nprint(2);")
    assert not result["ok"]
    assert [message["kind"] for message in shown] == ["stdout", "error"]
    error = shown[1]
    assert error["code"] == "N0101" and error["message"] == "unknown name `nothing`"
    assert "<cell 1 from line 3>:1:5" in error["text"] and "^^^^^^^" in error["text"]
    assert cells.texts("a") == [("value", "i64\n1\n")]
    result, shown, _ = cells.run("def f(x) {\n  return x")
    assert not result["ok"] and shown[0]["code"].startswith("P")
    assert cells.run("1 // 0")[0]["ok"] is False


def test_commands_and_questions(cells):
    (kind, text), *_ = cells.texts("?sin")
    assert kind == "stdout" and text.startswith("sin(x)")
    assert cells.texts(":type 1 + 1i") == [("stdout", "c128\n")]
    assert cells.run(":nonsense")[0]["ok"] is False
    assert cells.run("exit(3);")[0] == {"ok": True, "exit": 3}


def test_pictures(cells):
    _, shown, _ = cells.run("print(1);\nplot([1, 4, 9])\nimage(rand(4, 4))\nprint(2);")
    assert [message["kind"] for message in shown] == ["stdout", "picture", "picture", "stdout"]
    assert shown[1]["data"]["image/svg+xml"].startswith("<svg") and shown[1]["data"]["text/plain"]
    assert base64.b64decode(shown[2]["data"]["image/png"]).startswith(b"\x89PNG")


def test_completion_inspection_and_more_lines(cells):
    cells.run("## Half of it.\ndef halfway(x) { return x / 2; }\nvar z = 2i;")
    found = cells.session.complete('print("π", halfw')
    assert found["matches"] == [{"text": "halfway", "detail": "(x)"}]
    assert 'print("π", halfw'.encode()[: found["begin"]].decode() == 'print("π", '
    assert "real" in [match["text"] for match in cells.session.complete("z.")["matches"]]
    assert "Half of it." in cells.session.inspect("1 + half", "way(2)")
    assert cells.session.inspect("sum([1, 2], ", ")").startswith("sum(x")
    assert cells.session.inspect("1 + ", "") == ""
    assert cells.session.is_complete("1 + 1") == {"complete": True, "indent": 0}
    assert cells.session.is_complete("def f(x) {\n  if x {") == {"complete": False, "indent": 4}


def interrupted(cells, code):
    """Runs a cell that is interrupted every half a second until it ends: what comes before it begins is not heard."""
    done = threading.Event()

    def press():
        while not done.wait(0.5):
            cells.session.interrupt()

    presses = threading.Thread(target=press)
    presses.start()
    try:
        return cells.run(code)
    finally:
        done.set()
        presses.join()
        rest(cells)


def rest(cells):
    """Until no interrupt is on its way: the next cell does not hear it."""
    while not has_heard(cells.session.process.pid):
        time.sleep(0.01)


def test_interrupts(cells):
    cells.run("var k = 0;")
    begin = time.monotonic()
    result, shown, _ = interrupted(cells, "while true { k += 1; }")
    assert not result["ok"] and shown[-1]["code"] == "R0114" and time.monotonic() - begin < 60
    cells.session.interrupt()  # too late: nothing runs
    rest(cells)
    assert cells.texts("k") == [("value", "i64\n0\n")]
    begin = time.monotonic()
    interrupted(cells, ":!sleep 100")
    assert time.monotonic() - begin < 60


def test_what_is_written_past_the_session(cells):
    """Programs that a cell starts have no standard input, and their output comes, too."""
    result, _, shown = cells.run(":!echo outside; cat")
    assert result["ok"] and {"kind": "stderr", "text": "outside\n"} in shown


def test_an_end_of_the_program(cells):
    with pytest.raises(toy_session.Ended):
        cells.run(":!kill -9 $PPID")
    with pytest.raises(toy_session.Ended):
        cells.run("1")


def jupyter():
    pytest.importorskip("ipykernel")
    return pytest.importorskip("jupyter_client")


def reply_to(client, request):
    while (message := client.get_shell_msg(timeout=60))["parent_header"].get("msg_id") != request:
        pass
    return message["content"]


def asked(client, code):
    """The reply to a cell, and what came before its end."""
    # What is asked within a moment of an error would be given up, as one of the cells behind it.
    request, shown = client.execute(code, stop_on_error=False), []
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != request:
            continue
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            break
        shown.append((message["msg_type"], message["content"]))
    return reply_to(client, request), [(kind, c) for kind, c in shown if kind not in ("execute_input", "status")]


def test_a_notebook(toy, tmp_path):
    """What a front end of Jupyter gets."""
    client_of = jupyter()
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "toy").symlink_to(KERNEL)
    manager = client_of.KernelManager(kernel_name="toy")
    manager.kernel_spec_manager.kernel_dirs.insert(0, str(kernels))
    manager.kernel_spec_manager.ensure_native_kernel = False
    environment = {**os.environ, "TOY": toy, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    manager.start_kernel(env=environment, cwd=tmp_path)
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=120)
        reply, shown = asked(client, "print(1);\n2 + 3")
        assert reply["status"] == "ok"
        assert shown[0] == ("stream", {"name": "stdout", "text": "1\n"})
        assert shown[1][1]["data"] == {"text/plain": "i64\n5"} and shown[1][1]["execution_count"] == 1
        _, ((kind, content),) = asked(client, "plot([1, 2])")
        assert kind == "display_data" and "image/svg+xml" in content["data"]
        reply, ((kind, content),) = asked(client, "nothing")
        assert reply["status"] == kind == "error" and content["ename"] == "N0101" and "^^^" in content["traceback"][0]
        content = reply_to(client, client.complete("print(softm", 11))
        assert content["matches"] == ["softmax"] and content["cursor_start"] == 6
        assert "softmax(x" in reply_to(client, client.inspect("softmax(", 8))["data"]["text/plain"]
        assert reply_to(client, client.is_complete("def f(x) {")) == {"status": "incomplete", "indent": "  "}
        timer = threading.Timer(1, manager.interrupt_kernel)
        timer.start()
        reply, _ = asked(client, "while true { }")
        assert reply["status"] == "error" and reply["ename"] == "R0114"
        reply, _ = asked(client, ":!kill -9 $PPID")
        assert reply["ename"] == "Ended"
        reply, shown = asked(client, "1 + 1")
        assert reply["status"] == "ok" and shown[0][1]["data"] == {"text/plain": "i64\n2"}
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
