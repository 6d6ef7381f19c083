# SPDX-License-Identifier: Apache-2.0
"""Compiled code asks the evaluator for nothing but what docs/architecture.md lists."""
import concurrent.futures
import pathlib
import re

import pytest

from programs import is_sanitized, run

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = sorted([*ROOT.glob("tests/e2e/*.toy"), *ROOT.glob("examples/*.toy"), *ROOT.glob("examples/llama/*.toy")])
TEXT = re.compile(r"\*\*What compiled code asks the evaluator for\*\*(.*?)\n\n", re.S)


def listed():
    named = re.findall(r"`(\w+)`", TEXT.search((ROOT / "docs/architecture.md").read_text()).group(1))
    return set(named) - {"toy_rt_eval"}


def evaluated(toy, folder, programs):
    """What compiled code of these programs, and of two for files and ranks, gives to the evaluator."""
    files, ranks = folder / "files.toy", folder / "ranks.toy"
    part = 'def part(path: str) { var x: f64[N] = load(path); return x[2:5]; }\npart("x.npy");\n'
    files.write_text('def f(path: str) { var x: f64[N] = load(path); save(path, x + 1); }\nf("x.npy");\n' + part)
    ranks.write_text("def f(x: f64[N]) { return shift(all_to_all(broadcast(reduce_scatter(x))), 1); }\nf([1]);\n")

    def of(program):
        done = run([toy, "-O0", "--emit=llvm", str(program)], cwd=folder)
        return set(re.findall(r"%eval\.([a-z_]+?)\d* =", done.stdout))

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return set().union(*pool.map(of, [files, ranks, *programs]))


@pytest.mark.host
def test_only_what_is_listed(toy, tmp_path):
    assert evaluated(toy, tmp_path, PROGRAMS[is_sanitized() :: 4]) - listed() == set()


@pytest.mark.host
@pytest.mark.nightly
def test_all_that_is_listed(toy, tmp_path):
    assert evaluated(toy, tmp_path, PROGRAMS) == listed()
