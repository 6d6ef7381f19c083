# SPDX-License-Identifier: Apache-2.0
"""toy-check itself: it notices every kind of difference, keeps parts apart, and goes on after a crash and after a
program that does not end."""
import json
import pathlib
import subprocess

import pytest

import programs

ROOT = pathlib.Path(__file__).resolve().parent.parent


def checked(toy, folder, text, *flags):
    path = folder / "parts.toy"
    path.write_text(text)
    done = subprocess.run(
        [programs.checker(toy), *flags, str(path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout


RIGHT = """# CONFIG: --jit=never
# CONFIG: --jit=always -O2
var x = 1; print(x);  # expect: 1
# -----
print(x);
# error: N0101 5:7
# -----
print([1, 2] + [1, 2, 3]);
# error: T0304 8:14
# -----
# CONFIG: --jit=always
def f(a, b, c, d) { return (a*c - b*d, a*d + b*c); }
var (p, q) = f([1, 2], [3, 4], [5, 6], [7, 8]);
# recognized: 1
# -----
def f(x) { return x + 1; }
print(f([1]), f([1, 2]), f([1, 2, 3]));  # expect: [2.0] [2.0, 3.0] [2.0, 3.0, 4.0]
# compiles: 2
# -----
var x = [1, 2]; var y = x; x[0] = 3;
# copies: 1
"""


@pytest.mark.host
def test_what_is_right_passes(toy, tmp_path):
    assert checked(toy, tmp_path, RIGHT) == (0, "9 passed, 0 failed\n")


@pytest.mark.parametrize(
    "text",
    [
        "print(1); # expect: 2",
        "print(1);\nprint(2); # expect: 1",
        "# expect: 1\n# expect: 2\nprint(1);",
        "print(1);",
        "",
        "# a comment",
        "print(1); # expect: 1\nprint(x);",
        "print(1);\n# error: N0101 1:7",
        "print(x);\n# error: N0101 1:8",
        "print(x);\n# error: N0102 1:7",
        "print(x);\n# error: N0101 1:7\n# help: nothing of that kind",
        "print(1);\n# recognized: 1",
        "def f(x) { return x; } f(1);\n# compiles: 7",
        "var x = [1, 2]; var y = x; x[0] = 3;\n# copies: 0",
        "# CONFIG: --no-such-option\nprint(1); # expect: 1",
    ],
)
def test_what_is_wrong_fails(toy, tmp_path, text):
    assert checked(toy, tmp_path, text + "\n")[0] == 1


def test_no_file(toy, tmp_path):
    assert subprocess.run([programs.checker(toy), str(tmp_path / "none.toy")], capture_output=True).returncode == 2
    assert subprocess.run([programs.checker(toy)], capture_output=True).returncode == 1


@pytest.mark.host
def test_goes_on(toy, tmp_path):
    """After the end of the process, an endless loop and a limit of memory the next part is as if nothing had been."""
    (tmp_path / "end.c").write_text(
        '#include "toy_extern.h"\n#include <unistd.h>\nint32_t end(const toy_call *call) { (void)call; _exit(0); }\n'
    )
    subprocess.run(
        ["cc", "-shared", "-fPIC", f"-I{ROOT}/runtime", "-o", tmp_path / "libend.so", tmp_path / "end.c"], check=True
    )
    text = (
        f'extern def end(x: f64) -> f64 from "{tmp_path}/libend.so"; print("before"); print(end(1.0)); # expect: before\n# -----\nwhile true {{ }}\n# expect: 1\n# -----\n'
        "# CONFIG: --memory-limit=1000000\nvar x = randn(1000000);\n# error: R0108 7:9\n# -----\n# CONFIG: --jit=auto\nvar x = randn(1000000); print(x.shape); # expect: (1000000,)\n"
    )
    path = tmp_path / "parts.toy"
    path.write_text(text)
    done = subprocess.run(
        [programs.checker(toy), "--json", "--timeout=2", str(path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["status"] for row in rows] == [70, 137, 1, 0], done.stdout
    assert rows[0]["stdout"].startswith("before") or rows[0]["stdout"] == ""  # what was not flushed is lost
    assert (
        "the process ended" in rows[0]["stderr"]
        and "no end after 2 s" in rows[1]["stderr"]
        and rows[3]["stdout"] == "(1000000,)\n"
    )
