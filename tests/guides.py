# SPDX-License-Identifier: Apache-2.0
"""The guides of docs/guides: what their fences show is what the program does (docs/guides/README.md).
* `toy`: a program with `# expect:` or `# error:`; all of a page are run by one toy-check. A first line `# NAME.toy`
  makes it a file for the fences behind it.
* `console`: commands behind `$ ` and what they print, in the page's folder; or inputs behind `toy> `, at a prompt.
* `diff`, `mlir`, `llvm`, `asm`: a command behind `$ ` and lines that stand in what it prints, in this order.
* `c`, `text`: a file, whose name its first line has.
* `python`: what the other column of a table needs.
A table with a column `Toy` has programs in it, which run; beside NumPy (and PyTorch, where it is installed) their
values are compared."""
import os
import pathlib
import re
import subprocess
import tempfile

import numpy as np

import programs
import terminal

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDES = ROOT / "docs/guides"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
FILE = re.compile(r"(?:# |/\* )([\w.-]+\.(?:toy|c|csv|h))(?: \*/)?\n")
SHORTEST, LONGEST = 60, 180  # lines of a page
ANYTHING = "…"  # in the output of a command: any text; alone on a line: any lines


WITH_DEVICE = ("devices", "14-the-same-loop-on-a-gpu")
EXCERPTS = ("diff", "mlir", "llvm", "asm")


def pages(folder=GUIDES):
    return sorted(folder.glob("*.md"))


def fences(page):
    """(language, text, line) of every fence."""
    text = page.read_text()
    for fence in FENCE.finditer(text):
        yield fence.group(1), fence.group(2), text.count("\n", 0, fence.start()) + 1


def name_of(text):
    """The name of the file that a fence shows."""
    found = FILE.match(text)
    return found.group(1) if found else None


def says_what_it_wants(text):
    return re.search(r"# (expect|error|recognized|compiles):", text) is not None


def form_of_fences(page):
    """What is wrong with the lines and fences of a page: a fence wants something, or is a file that something uses."""
    text = page.read_text()
    problems = [
        f"{page.name}:{i + 1} is longer than 120 columns"
        for i, line in enumerate(text.splitlines())
        if len(line) > 120 and not line.startswith("| ")
    ]
    found = list(fences(page))
    users = "".join(body for language, body, _ in found if language in ("console", *EXCERPTS) or "import " in body)
    for language, body, line in found:
        name = name_of(body)
        if language not in ("toy", "console", "python", "c", "text", *EXCERPTS):
            problems.append(f"{page.name}:{line}: a fence opens with `{language}`")
        if language == "toy" and not says_what_it_wants(body) and not (name and name in users):
            problems.append(f"{page.name}:{line}: the program expects nothing")
        if language == "console" and not body.startswith(("$ ", "toy> ")):
            problems.append(f"{page.name}:{line}: the first line is no command")
        if language in EXCERPTS and not (body.startswith("$ ") and body.count("\n") > 1):
            problems.append(f"{page.name}:{line}: no command, or nothing that it prints")
        if language in ("c", "text") and not (name and name in users):
            problems.append(f"{page.name}:{line}: nothing uses the file")
    if text.count("\n```") != 2 * len(found):
        problems.append(f"{page.name}: a fence is not closed, or has more than a language")
    return problems


def form(_toy):
    """Every page is in the index; the fences are as they should be."""
    problems = []
    index = (GUIDES / "README.md").read_text()
    for page in pages():
        lines = page.read_text().splitlines()
        if page.name != "README.md" and f"]({page.name})" not in index:
            problems.append(f"README.md does not name {page.name}")
        if page.name != "README.md" and not SHORTEST <= len(lines) <= LONGEST:
            problems.append(f"{page.name} has {len(lines)} lines")
        problems += form_of_fences(page)
    return "\n".join(problems) or None


def write_files(folder, page):
    for language, body, _ in fences(page):
        if name_of(body) and language in ("toy", "c", "text"):
            pathlib.Path(folder, name_of(body)).write_text(
                body.split("\n", 1)[1] if language == "text" else body, encoding="utf-8"
            )


def shown(toy, folder=GUIDES):
    """All programs of a page in one process, in a folder of its own."""
    problems = []
    for page in pages(folder):
        with tempfile.TemporaryDirectory() as folder:
            write_files(folder, page)
            names = []
            for language, body, line in fences(page):
                if language == "toy" and says_what_it_wants(body):
                    names.append(f"{page.stem}-line-{line + 1}.toy")
                    pathlib.Path(folder, names[-1]).write_text(body, encoding="utf-8")
            if not names:
                continue
            if wrong := programs.check_files(toy, folder, names):
                problems.append(f"{page.name}: {wrong}")
    return "\n".join(problems) or None


def transcript(body, start):
    """(input, lines of output) of a console fence. Lines behind `...> ` or `> ` belong to the input."""
    more = "...> " if start == "toy> " else "> "
    steps = []
    for line in body.splitlines():
        if line.startswith(start):
            steps.append(([line[len(start) :]], []))
        elif line.startswith(more) and not steps[-1][1]:
            steps[-1][0].append(line[len(more) :])
        else:
            steps[-1][1].append(line.rstrip())
    return steps


def matches(want, got):
    """Whether lines are as shown, where `…` stands for anything."""
    if not want:
        return not got
    if want[0] == ANYTHING:
        return any(matches(want[1:], got[i:]) for i in range(len(got) + 1))
    pattern = ".*".join(map(re.escape, want[0].split(ANYTHING)))
    return bool(got) and re.fullmatch(pattern, got[0]) is not None and matches(want[1:], got[1:])


def difference(where, said, want, got):
    got = [line.rstrip() for line in got]
    while got and not got[-1]:
        got.pop()
    if matches(want, got):
        return []
    return [f"{where}: {said}\n  shown:\n" + "\n".join(want) + "\n  printed:\n" + "\n".join(got)]


def output_of(command, folder, environment):
    """What a shell prints, errors in between as a terminal shows them."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=120,
    )
    return done.stdout.splitlines()


def run_excerpt(page, body, line, folder, environment):
    """A command, and lines of what it prints in their order, with any blanks."""
    [(said, want)] = transcript(body, "$ ")
    got = [" ".join(text.split()) for text in output_of("\n".join(said), folder, environment)]
    rest = iter(got)
    for text in filter(None, (" ".join(text.split()) for text in want)):
        pattern = ".*".join(map(re.escape, text.split(ANYTHING)))
        if not any(re.fullmatch(pattern, there) for there in rest):
            return [f"{page.name}:{line}: `{text}` is not there, or not in this order\n" + "\n".join(got)]
    return []


def run_commands(page, body, line, folder, environment):
    """Commands of a shell, one after the other."""
    problems = []
    for said, want in transcript(body, "$ "):
        got = output_of("\n".join(said), folder, environment)
        problems += difference(f"{page.name}:{line}", "\n".join(said), want, got)
    return problems


def run_prompt(toy, page, body, line):
    """Inputs at a prompt, in a terminal of 100 columns; where a program has stopped, the prompt is `dbg> `."""
    problems = []
    session = terminal.Session(toy, arguments=["--no-init"], width=100)
    try:
        signs = [text[:5] for text in body.splitlines() if text.startswith(("toy> ", "dbg> "))][1:] + ["toy> "]
        for (said, want), sign in zip(transcript(re.sub("^dbg> ", "toy> ", body, flags=re.M), "toy> "), signs):
            typed = said[:1] + [part.lstrip() for part in said[1:]]  # the prompt indents
            for part in typed[:-1]:
                session.line(part, "...> ")
            got = session.line(typed[-1], sign)
            problems += difference(f"{page.name}:{line}", "\n".join(said), want, got.splitlines())
    except (EOFError, TimeoutError) as error:
        problems.append(f"{page.name}:{line}: {error}")
    finally:
        session.close()
    return problems


def environment_of(toy, page):
    """A machine with a device of its own for the pages about devices, and none for the others."""
    build = os.path.dirname(os.path.abspath(toy))
    out = {
        **os.environ,
        "PATH": f"{build}:/usr/bin:{os.environ['PATH']}",
        "CPATH": str(ROOT / "runtime"),
        "NO_COLOR": "1",
    }
    out["TOY_CUDA_DRIVER"] = f"{build}/libtoyfakecuda.so" if page.stem in WITH_DEVICE else "none"
    return out


def transcripts(toy, page):
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder, page)
        for language, body, line in fences(page):
            if language == "console" and body.startswith("$ "):
                problems += run_commands(page, body, line, folder, environment_of(toy, page))
            elif language == "console":
                problems += run_prompt(toy, page, body, line)
            elif language in EXCERPTS:
                problems += run_excerpt(page, body, line, folder, environment_of(toy, page))
    return "\n".join(problems) or None


def rows(page):
    """(other program, ours, what it prints) in the tables with a column `Toy`; None for a cell without a program."""
    header = None
    for line in page.read_text().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not line.startswith("| "):
            header = None
        elif header is None:
            header = cells
        elif "Toy" in header and not set(line) <= set("| -"):
            code = [re.match(r"`([^`]+)`", cell) for cell in cells]
            there, here, *notes = [found.group(1).replace("\\|", "|") if found else None for found in code]
            yield there, here, notes[0] if "gives" in header else None


def numbers(text):
    """All numbers of a printed value."""
    words = re.findall(r"true|false|[-+\w.]+", text)
    words = [re.sub(r"(nan|inf|\d|\.)i$", r"\1j", word) for word in words]
    return [complex({"true": 1, "false": 0}.get(word, word)) for word in words]


def flat(value):
    if isinstance(value, (tuple, list)):
        return [number for part in value for number in flat(part)]
    if hasattr(value, "detach"):
        value = value.detach().resolve_conj().resolve_neg().numpy()
    return [complex(number) for number in np.ravel(np.asarray(value))]


def names_of(page):
    """What the python fences of the page define; None where what they import is not installed."""
    names = {}
    for language, body, _ in fences(page):
        if language == "python":
            try:
                exec(body, names)  # pylint: disable=exec-used
            except ImportError:
                return None
    return names or None


def compared(there, here, gives, names, printed):
    """What is wrong with a row whose programs have values."""
    if gives is not None and gives != " ".join(printed.split()):
        return f"it gives {printed}"
    if names is None or there is None or here.endswith(";"):
        return None
    want, got = flat(eval(there, dict(names))), numbers(printed)  # pylint: disable=eval-used
    same = len(want) == len(got) and np.allclose(want, got, 1e-5, 1e-7, equal_nan=True)
    return None if same else f"`{there}` is {want}, `{here}` is {got}"


def table(toy, page):
    """Every program of a column `Toy`, behind those fences that begin with `# for the tables`."""
    found = [row for row in rows(page) if row[1]]
    before = "".join(body for _, body, _ in fences(page) if body.startswith("# for the tables"))
    before = re.sub(r"print\(.*", "", before)
    parts = [
        (before + (here if here.endswith((";", "}")) else f"print({here});"), ["--precision=full"])
        for _, here, _ in found
    ]
    with tempfile.TemporaryDirectory() as folder:
        results = programs.run_parts(toy, parts, cwd=folder)
    names, problems = names_of(page), []
    with np.errstate(all="ignore"):
        for (there, here, gives), [done] in zip(found, results):
            problem = done.stderr if done.status else compared(there, here, gives, names, done.stdout)
            if problem:
                problems.append(f"{page.name}: {here}\n{problem}")
    return "\n".join(problems) or None


def all_cases():
    yield "docs: the form of the guides", form
    yield "docs: programs of the guides", shown
    for page in pages():
        if any(language == "console" for language, *_ in fences(page)):
            yield f"docs: transcripts of {page.stem}", lambda toy, page=page: transcripts(toy, page), "release", "host"
        if any(True for _ in rows(page)):
            yield f"docs: tables of {page.stem}", lambda toy, page=page: table(toy, page)
