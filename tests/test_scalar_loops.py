# SPDX-License-Identifier: Apache-2.0
"""`--remarks` and `:explain` name each counted loop that has no vectors, at its place and with the reason, whether its
code is new or from the cache; a loop that has some is not named."""
import os
import re
import subprocess

import pytest

PROGRAM = """def total(x: f64[N]) { var t = 0.0; for i in range(N) { t += x[i]; } return t; }
def carried(x: f64[N]) { var y = x; for i in range(1, N) { y[i] = y[i - 1] * 0.5 + x[i]; } return y; }
def vectors(x: f64[N]) { var y = x; for i in range(N) { y[i] = 2 * x[i] + 1; } return y; }
def ends(x: f64[N]) { var k = 0; for i in range(N) { if x[i] > 3 { break; } k += 1; } return k; }
var x = arange(100.0);
print(total(x), carried(x)[3], vectors(x)[3], ends(x));
"""
WANT = [
    ("no vector code: a sum of floats keeps the order in which it is written", 1),
    ("no vector code: a turn needs a value of the one before", 2),
    ("no vector code: a turn may leave it: a check, `break` or `return`", 4),
]


def remarks(text):
    return [(why, int(line)) for why, line in re.findall(r"remark\[M0106\]: (no vector.*)\n *--> [^:]*:(\d+):", text)]


@pytest.mark.release
@pytest.mark.host
def test_remarks(toy, tmp_path):
    path = tmp_path / "loops.toy"
    path.write_text(PROGRAM)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    for _ in range(2):
        done = subprocess.run([toy, "--remarks", path], capture_output=True, text=True, env=environment, timeout=60)
        assert done.stdout == "4950.0 4.25 7.0 4\n"
        assert remarks(done.stderr) == WANT
    done = subprocess.run([toy, "-O0", "--remarks", path], capture_output=True, text=True, env=environment, timeout=60)
    assert remarks(done.stderr) == []  # nobody has asked for vectors


@pytest.mark.release
@pytest.mark.host
def test_explain(toy, tmp_path):
    text = PROGRAM + ":explain carried(x)\n:explain vectors(x)\n"
    done = subprocess.run([toy], input=text, capture_output=True, text=True, timeout=60)
    assert done.stdout.count("no vector code") == 1, done.stdout
