# SPDX-License-Identifier: Apache-2.0
"""The sources are as clang-format and black leave them (`make format`): .clang-format and pyproject.toml have the rules."""
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent


def sources(*endings):
    """Files of the project: not those of builds and environments."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in ("build", "venv") and not f.startswith(".")]
        found += [os.path.join(folder, n) for n in names if n.endswith(endings)]
    return sorted(found)


@pytest.mark.release
@pytest.mark.host
def test_cpp():
    files = sources(".cpp", ".h", ".cu")
    assert len(files) > 200
    done = subprocess.run(["clang-format-22", "--dry-run", "--Werror", *files], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.release
@pytest.mark.host
@pytest.mark.nightly
def test_python():
    done = subprocess.run(
        ["/usr/bin/black", "--check", "--quiet", "--diff", *sources(".py")], stdout=subprocess.PIPE, text=True
    )
    assert done.returncode == 0, done.stdout[:2000]
