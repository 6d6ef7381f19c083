# SPDX-License-Identifier: Apache-2.0
"""Compiled code asks the evaluator for nothing but what docs/architecture.md lists."""
import concurrent.futures
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = sorted([*ROOT.glob("tests/e2e/*.toy"), *ROOT.glob("examples/*.toy"), *ROOT.glob("examples/llama/*.toy")])
TEXT = re.compile(r"\*\*What compiled code asks the evaluator for\*\*(.*?)\n\n", re.S)


def listed():
    named = re.findall(r"`(\w+)`", TEXT.search((ROOT / "docs/architecture.md").read_text()).group(1))
    return set(named) - {"toy_rt_eval"}


@pytest.mark.host
def test_only_what_is_listed(toy, tmp_path):
    files = tmp_path / "files.toy"
    part = 'def part(path: str) { var x: f64[N] = load(path); return x[2:5]; }\npart("x.npy");\n'
    files.write_text('def f(path: str) { var x: f64[N] = load(path); save(path, x + 1); }\nf("x.npy");\n' + part)
    ranks = tmp_path / "ranks.toy"
    ranks.write_text("def f(x: f64[N]) { return shift(all_to_all(broadcast(reduce_scatter(x))), 1); }\nf([1]);\n")

    def evaluated(program):
        command = [toy, "-O0", "--emit=llvm", str(program)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        return set(re.findall(r"%eval\.([a-z_]+?)\d* =", done.stdout))

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = set().union(*pool.map(evaluated, [files, ranks, *PROGRAMS]))
    assert found - listed() == set(), "not listed"
    assert listed() - found == set(), "listed, but nothing asks for it"
