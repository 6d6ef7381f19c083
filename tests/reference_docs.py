# SPDX-License-Identifier: Apache-2.0
"""The rules of docs/reference: every example in a fence `toy` does what its comments say, evaluated and compiled; every
rule has an example, or says why it has none; the rules are numbered from 1 on, each number once; and the index names
the page of each. All documents: files that they name are there."""
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import programs

ROOT = pathlib.Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs/reference"
RULES = [*range(1, 53)]
MODES = ["--jit=never", "--jit=auto", "--jit=always"]
FENCE = re.compile(r"^```toy\n(.*?)^```$", re.M | re.S)
RULE = re.compile(r"^## Rule (\d+): \S.*$", re.M)


def pages():
    return sorted(REFERENCE.glob("*.md"))


def examples():
    """(a name that says where it stands, program)."""
    on_device = os.environ.get("TOY_TEST_DEVICE") == "fake"
    for page in pages():
        text = page.read_text()
        for fence in FENCE.finditer(text):
            if on_device and text[: fence.start()].endswith("<!-- not on a device -->\n\n"):
                continue
            yield f"{page.stem}-line-{text.count(chr(10), 0, fence.start()) + 1}", fence.group(1)


def rules():
    """(number, page, text) of every rule; its text ends at the next heading of that height."""
    for page in pages():
        text = page.read_text()
        for heading in RULE.finditer(text):
            following = re.search(r"^## ", text[heading.end() :], re.M)
            yield int(heading.group(1)), page, text[
                heading.end() : heading.end() + following.start() if following else len(text)
            ]


def complete(_toy):
    problems = []
    found = list(rules())
    if sorted(number for number, *_ in found) != RULES:
        problems.append(f"the rules are {sorted(number for number, *_ in found)}, not {RULES}")
    for number, page, text in found:
        if not FENCE.search(text) and not re.match(r"\n+<!-- not shown: \S.* -->\n", text):
            problems.append(f"{page.name}: rule {number} has no example, and does not say why")
    index = (REFERENCE / "README.md").read_text()
    for page, group in itertools.groupby(found, key=lambda rule: rule[1]):
        row = re.search(rf"^\| \[[^]]*\]\({page.name}\) \|.*\| ([\d, ]+) \|$", index, re.M)
        if not row or row.group(1).split(", ") != [str(number) for number, *_ in group]:
            problems.append(f"README.md does not name the rules of {page.name}, in their order")
    problems += [
        f"{page.name}:{i + 1} is longer than 120 columns"
        for page in pages()
        for i, line in enumerate(page.read_text().splitlines())
        if len(line) > 120
    ]
    for page in pages():
        fences = re.findall(r"^```(.*)$", page.read_text(), re.M)
        problems += [
            f"{page.name}: a fence opens with `{opening}`"
            for opening in fences[::2]
            if opening not in ("toy", "ebnf", "sh", "console")
        ]
    return "\n".join(problems) or None


def named_files(_toy):
    """Paths in backquotes, from the root or from the document, and links."""
    problems = []
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for document in documents:
        text = document.read_text()
        folders = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"build"}
        for path in re.findall(r"`([\w-]+/[\w./*-]*)`", text):
            if path.split("/")[0] in folders and not list(ROOT.glob(path)) and not list(ROOT.glob(f"{path}.*")):
                problems.append(f"{document.relative_to(ROOT)} names {path}, which is not there")
        prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.S | re.M)
        for link in re.findall(r"\]\(([^)#:]+)\)", prose):
            if not (document.parent / link).exists():
                problems.append(f"{document.relative_to(ROOT)} has a link to {link}, which is not there")
    return "\n".join(problems) or None


def shown(toy, mode):
    """All examples in one process. Places of errors count lines in the example."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for name, text in examples():
            names.append(f"{name}.toy")
            pathlib.Path(folder, names[-1]).write_text(text, encoding="utf-8")
        return programs.check_files(toy, folder, names, [mode])


def listed(toy):
    script = ROOT / "scripts/functions-reference"
    done = subprocess.run([sys.executable, str(script), toy], capture_output=True, text=True)
    if done.returncode or done.stdout != (REFERENCE / "functions.md").read_text():
        return done.stderr or "functions.md is not what the program says: `make reference` writes it"


def all_cases():
    yield "reference: every rule once, with an example", complete
    yield "reference: functions.md is up to date", listed, "release", "host"
    yield "documents: files that they name are there", named_files
    for mode in MODES:
        yield f"reference: examples with {mode}", lambda toy, mode=mode: shown(toy, mode)
