# SPDX-License-Identifier: Apache-2.0
"""clang-tidy finds nothing in the C++ sources: names as the house has them, and the few mistakes that .clang-tidy
lists. A file takes a second, or six where it reads MLIR's headers: every day those of the front end, which read none,
beside the build with sanitizers, at night all. A file is looked at again when it, or anything that it includes,
changes."""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess

import pytest

from programs import is_sanitized
from verdicts import once

ROOT = pathlib.Path(__file__).resolve().parent.parent
FRONT_END = {"support", "lexer", "ast", "parser", "sema"}
TIDY = "clang-tidy-22"


def output_of(*command):
    return subprocess.run(command, cwd=os.environ["TOY_TEST_BUILD"], capture_output=True, text=True).stdout


def compiled():
    """Files that the build compiles, of the project's own folders, and how."""
    commands = json.loads(pathlib.Path(os.environ["TOY_TEST_BUILD"], "compile_commands.json").read_text())
    files = {pathlib.Path(entry["file"]): entry for entry in commands}
    return {f: entry for f, entry in sorted(files.items()) if f.suffix == ".cpp" and ROOT in f.parents}


def folder(file):
    return file.relative_to(ROOT).parts[0]


def contents(path):
    """Of the project's own files; others change with what is installed."""
    return f"{path} {path.stat().st_mtime_ns}" if ROOT not in path.parents else f"{path} {path.read_text('latin-1')}"


def findings(entry):
    """Of a file; all that the build read for it is what clang-tidy reads."""
    made = re.search(r" -o (\S+)", entry["command"])[1]
    built = [line.strip() for line in output_of("ninja", "-t", "deps", made).splitlines()[1:]]
    read = [pathlib.Path(os.environ["TOY_TEST_BUILD"], name) for name in filter(None, built)]
    settings = (ROOT / ".clang-tidy").read_text(), output_of(TIDY, "--version"), entry["command"]

    def check():
        command = [TIDY, "--quiet", "-p", os.environ["TOY_TEST_BUILD"], entry["file"]]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return done.stdout + (done.stderr if done.returncode and not done.stdout else "")

    return once(check, *settings, *map(contents, read)) if read else check()


def found_in(entries, threads):
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return "".join(pool.map(findings, entries))


def by_day_with_sanitizers(test):
    return test if is_sanitized() else pytest.mark.nightly(test)


@by_day_with_sanitizers
@pytest.mark.host
@pytest.mark.long
def test_front_end():
    files = {f: entry for f, entry in compiled().items() if folder(f) in FRONT_END}
    assert {folder(f) for f in files} == FRONT_END
    assert found_in(files.values(), 1) == ""


@pytest.mark.release
@pytest.mark.host
@pytest.mark.nightly
def test_all():
    files = {f: entry for f, entry in compiled().items() if folder(f) not in FRONT_END and folder(f) != "build"}
    assert len(files) > 140
    assert found_in(files.values(), os.cpu_count() or 1) == ""
