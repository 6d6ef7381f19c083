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
    ("no vector code: an element that a turn reads may be one that another turn stores", 2),
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


CHECKS = """def sums(x: f64[N], lo: i64, hi: i64) { var t = 0.0; for i in range(lo, hi) { t += x[i]; } return t; }
def drawn(x: f64[N], at: i64[M], lo: i64, hi: i64) {
  var t = 0.0; for i in range(lo, hi) { t += x[
    at[i]]; } return t; }
var x = arange(100.0);
print(sums(x, 3, 50), drawn(x, arange(50), 3, 20));
"""


@pytest.mark.release
@pytest.mark.host
def test_checks_before_loops(toy, tmp_path):
    """A check that is made once, before its loop, is not said to be made in each turn; one that data ask for is. What
    has no vectors is said of the loop without checks."""
    path = tmp_path / "checks.toy"
    path.write_text(CHECKS)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    lines = {}
    for level in ("-O3", "-O3", "-O0"):
        done = subprocess.run(
            [toy, level, "--remarks", path], capture_output=True, text=True, env=environment, timeout=60
        )
        assert done.stdout == "1222.0 187.0\n"
        if level != "-O0":
            assert remarks(done.stderr) == [WANT[0], WANT[2][:1] + (3,)]
        lines[level] = re.findall(r"the index is compared .*\n *--> [^:]*:(\d+):", done.stderr)
    assert lines == {"-O3": ["4"], "-O0": ["1", "4", "4"]}
