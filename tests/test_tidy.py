# SPDX-License-Identifier: Apache-2.0
"""clang-tidy finds nothing in the C++ sources: names as the house has them, and the few mistakes that .clang-tidy
lists. A file takes a second, or six where it reads MLIR's headers: every day those of the front end, which read none,
at night all."""
import concurrent.futures
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
FRONT_END = {"support", "lexer", "ast", "parser", "sema"}


def compiled():
    """Files that the build compiles, of the project's own folders."""
    commands = json.loads(pathlib.Path(os.environ["TOY_TEST_BUILD"], "compile_commands.json").read_text())
    files = {pathlib.Path(entry["file"]) for entry in commands}
    return sorted(f for f in files if f.suffix == ".cpp" and ROOT in f.parents)


def folder(file):
    return file.relative_to(ROOT).parts[0]


def findings(file):
    command = ["clang-tidy-22", "--quiet", "-p", os.environ["TOY_TEST_BUILD"], str(file)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.stdout + (done.stderr if done.returncode and not done.stdout else "")


def found_in(files, threads):
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return "".join(pool.map(findings, files))


@pytest.mark.release
@pytest.mark.host
def test_front_end():
    files = [f for f in compiled() if folder(f) in FRONT_END]
    assert {folder(f) for f in files} == FRONT_END
    assert found_in(files, 1) == ""


@pytest.mark.release
@pytest.mark.host
@pytest.mark.nightly
def test_all():
    files = [f for f in compiled() if folder(f) not in FRONT_END and folder(f) != "build"]
    assert len(files) > 140
    assert found_in(files, os.cpu_count() or 1) == ""
