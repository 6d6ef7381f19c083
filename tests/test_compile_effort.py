# SPDX-License-Identifier: Apache-2.0
"""Work of the compiler grows with the program and not faster."""
import resource
import subprocess

import pytest


def slices(n):
    return "def f(y: f64[N]) {\n" + "  y = y[1:] + y[:-1];\n" * n + "  return y;\n}\nprint(f(ones(3)));\n"


def branches(n):
    return "def f(x: f64[N], k: i64) {\n  var s = 0;\n" + "".join(f"  if k > {i} {{ s = s + {i}; }}\n" for i in range(n)) + "  return s + N;\n}\nprint(f([1.0], 5));\n"


def seconds(toy, text, folder, flags):
    """Of the processor."""
    path = folder / "program.toy"
    path.write_text(text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([toy, *flags, str(path)], stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[:2000]
    return after.ru_utime - before.ru_utime


@pytest.mark.release
@pytest.mark.parametrize("program, flags, n, most", [(slices, ["--emit=toy"], 1000, 2), (branches, ["--jit=always", "--no-cache"], 1000, 4), (branches, ["--emit=toy"], 4000, 4)],
                         ids=["slices", "branches", "branches, generated"])
def test_linear(toy, tmp_path, program, flags, n, most):
    few, many = seconds(toy, program(n), tmp_path, flags), seconds(toy, program(4 * n), tmp_path, flags)
    assert few < most
    assert many < 10 * few + 0.2, f"{few:.2f} s for {n}, {many:.2f} s for {4 * n}"
