# SPDX-License-Identifier: Apache-2.0
"""The sources are as clang-format and black leave them (`make format`): .clang-format and pyproject.toml have the
rules."""
import ast
import io
import os
import pathlib
import subprocess
import tokenize

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = (".bin", ".csv", ".npy", ".npz", ".png", ".safetensors", ".toy")


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


@pytest.mark.release
@pytest.mark.host
def test_columns():
    """Of what no formatter wraps: TableGen files, prose in Markdown, and comments and docstrings of Python. Tables,
    checks of lit and programs inside Python's strings stay on their line."""
    long = []
    for path in sources(".md"):
        is_program = False
        for number, line in enumerate(open(path), 1):
            is_program ^= line.lstrip().startswith("```")
            if len(line.rstrip()) > 120 and not is_program and not line.startswith(("|", "    ")):
                long.append(f"{path}:{number}")
    for path in sources(".td"):
        for number, line in enumerate(open(path), 1):
            if len(line.rstrip()) > 120:
                long.append(f"{path}:{number}")
    for path in sources(".py"):
        lines = open(path).read().split("\n")
        prose = {  # numbers of lines
            token.start[0]
            for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline)
            if token.type == tokenize.COMMENT and not lines[token.start[0] - 1][: token.start[1]].strip()
        }
        for node in ast.walk(ast.parse("\n".join(lines))):
            body = getattr(node, "body", None)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
                prose.update(range(body[0].lineno, body[0].end_lineno + 1))
        long += [f"{path}:{n}" for n in sorted(prose) if len(lines[n - 1]) > 120]
    assert not long, "\n".join(long)


@pytest.mark.release
@pytest.mark.host
def test_root():
    """Files of data belong to the tests and examples that read them: what a program leaves where it was tried does not
    come in. A copy without its history has nothing to ask."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert not [name for name in done.stdout.split() if "/" not in name and name.endswith(DATA)]
