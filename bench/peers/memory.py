#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The most memory that a line of the bench takes beyond its loaded inputs, beside NumPy (or SciPy), PyTorch and JAX:
MiB by which the peak of the process (VmHWM of /proc, reset before) lies above what it held before the call. Each has a
process of its own, has loaded the inputs and has made the call of the line's smallest class before, so that code,
plans and pools are there; the result is kept. Small classes that Toy computes without BLAS leave its pool, a page of
2 MiB, to the call that is measured: Toy makes a product before.

    taskset -c 1 bench/peers/memory.py build/release/toy [--only sum] [--rows FILE [--read]]
        [--write bench/results/memory.md]

Lines that --rows knows already are not measured again: a table is measured in parts. Nobody gets pages of 2 MiB, of
which a part would count as a whole. One dtype a line, its classes with most elements. What a call keeps in a pool for
the next one counts when it is first taken. Less than 2 MiB are not told from what a first call of new machine code
takes."""
import argparse
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import lines  # noqa: E402
import inputs  # noqa: E402
import report  # noqa: E402
from table import texts  # noqa: E402

import numpy as np  # noqa: E402

PREFERRED = ("f64", "f32", "c128", "c64", "i64", "u8", "bool")
#: below which a difference is that of pages of code
SLACK = 2.0
LIMIT = 1.2
TOY = """def work({names}) {{ return {expression}; }}
def warm({names}) {{ return {small}; }}
{loads}
var factor = ones(200, 200); var product = factor @ factor; # for BLAS's pool, which peers' calls of small classes fill
var first = warm({small_given});
print("ready"); read_line();
var result = work({given});
print("done"); read_line();
if env("TOY_AGAIN", "") != "" {{ print(work({given})); }} # the inputs stay, as the peers' do
"""


class Measured:
    """A process that says `ready`, and its PID where it is a fork, makes its call at the next line and says `done`."""

    def __init__(self, command, environment, verbose):
        errors = None if verbose else subprocess.DEVNULL
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": errors}
        self.process = subprocess.Popen(command, text=True, env=environment, **pipes)

    def tell(self, text=""):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def said(self):
        return self.process.stdout.readline().split()

    def peak(self):
        """MiB, or None where the call fails."""
        said = self.said()
        if said[:1] != ["ready"]:
            return None
        folder = pathlib.Path("/proc") / (said[1] if said[1:] else str(self.process.pid))
        (folder / "clear_refs").write_text("5")
        before = status(folder, "VmRSS")
        self.tell()
        if self.said() != ["done"]:
            return None
        peak = max(status(folder, "VmHWM") - before, 0)
        self.tell()
        return peak


def status(folder, field):
    return int(re.search(rf"{field}:\s*(\d+)", (folder / "status").read_text()).group(1)) / 1024


def elements(case, c):
    return sum(int(np.prod(c.sizes.get(name, c.sizes.get("*")))) for name in case.inputs)


class Bench:
    def __init__(self, options):
        self.options, self.folder, self.known = options, tempfile.mkdtemp(prefix="toy-memory-"), {}
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
        self.peers = self.start([options.python, str(HERE / "memory_peer.py"), "1"])

    def start(self, command):
        return Measured(command, self.environment, self.options.verbose)

    def once(self, path):
        toy = self.start([self.options.toy, "--threads=1", str(path)])
        peak = toy.peak()
        toy.process.communicate()
        return peak

    def files(self, case, dtype, c):
        found = {}
        for name, kind in case.inputs.items():
            key = (name, kind, dtype, tuple(c.sizes.get(name, c.sizes.get("*"))))
            if key not in self.known:
                self.known[key] = f"{self.folder}/{len(self.known)}.npy"
                np.save(self.known[key], inputs.array(*key))
            found[name] = self.known[key]
        return found

    def toy(self, case, dtype, small, large):
        of_small, of_large = self.files(case, dtype, small), self.files(case, dtype, large)
        loads = "".join(
            f'var {name}{mark} = load("{path}");\n'
            for mark, files in (("_small", of_small), ("_large", of_large))
            for name, path in files.items()
        )
        program = TOY.format(
            names=", ".join(case.inputs),
            expression=texts(case, large)["toy"],
            small=texts(case, small)["toy"],
            loads=loads,
            small_given=", ".join(f"{name}_small" for name in case.inputs),
            given=", ".join(f"{name}_large" for name in case.inputs),
        )
        path = pathlib.Path(self.folder) / "line.toy"
        path.write_text(program)
        return [self.once(path) for _ in range(2)][-1]  # the second time machine code is read from its cache

    def peer(self, peer, case, dtype, small, large):
        of_small, of_large = texts(case, small), texts(case, large)
        if peer not in of_large:
            return None
        task = {
            "peer": peer,
            "calls": [
                {"text": of_small[peer], "inputs": self.files(case, dtype, small)},
                {"text": of_large[peer], "inputs": self.files(case, dtype, large)},
            ],
        }
        self.peers.tell(json.dumps(task))
        return self.peers.peak()

    def rows(self, case):
        """Of the class with most elements, and of that with most whose inputs are contiguous."""
        dtype = next(d for d in (*PREFERRED, *case.dtypes) if d in case.dtypes)
        ordered = sorted(case.classes, key=lambda c: elements(case, c))
        whole = [c for c in ordered if c.name not in ("strided", "transposed")]
        for large in dict.fromkeys(part[-1].name for part in (whole, ordered) if part):
            c = next(c for c in ordered if c.name == large)
            ours = self.toy(case, dtype, ordered[0], c)
            yield case.name, dtype, c.name, ours, {p: self.peer(p, case, dtype, ordered[0], c) for p in report.PEERS}


def above(row):
    known = [m for m in row[4].values() if m is not None]
    return row[3] is not None and known and row[3] > LIMIT * min(known) + SLACK


def line(row, mark="<<<"):
    return (
        f"{row[0] + ' ' + row[1] + ' ' + row[2]:45}"
        + "".join(f"{'' if m is None else format(m, '.1f'):>9}" for m in (row[3], *(row[4][p] for p in report.PEERS)))
        + (f" {mark}" if above(row) else "")
    )


def summary(rows):
    compared = [row for row in rows if row[3] is not None and any(m is not None for m in row[4].values())]
    failing = [f"{row[0]} {row[1]}" for row in rows if row[3] is None]
    return (
        f"{len(rows)} cells, {len(compared)} with a peer, {sum(map(bool, map(above, compared)))} above {LIMIT} times "
        f"the best one's and {SLACK:.0f} MiB" + (f"; failing: {', '.join(failing)}" if failing else "")
    )


def without_large_pages():
    """For this process and those that it starts: PR_SET_THP_DISABLE."""
    if ctypes.CDLL(None, use_errno=True).prctl(41, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "pages of 2 MiB stay")


def write(path, rows, when):
    """The table with `rows`, measured at `when`, in the places of those that it has; its head says which they are."""
    texts = pathlib.Path(path).read_text().splitlines() if os.path.exists(path) else []
    all_rows, first, again = replaced(path, rows), time.strftime("%Y-%m-%d", when), []
    if len(rows) < len(all_rows):
        first = next((text.split(",")[0] for text in texts if re.match(r"\d{4}-", text)), first)
        names = ", ".join(dict.fromkeys(row[0].replace("|", "\\|") for row in rows))
        again = [text for text in texts if text.startswith("* again ")]
        again.append(f"* again {time.strftime('%Y-%m-%d %H:%M', when)}, without pages of 2 MiB: {names}")
    pathlib.Path(path).write_text(markdown(all_rows, first, again))


def markdown(rows, when, again):
    out = [
        "# Memory of every function and operator beside its peers",
        "",
        f"{when}, {report.machine()}, one thread; `bench/peers/memory.py`.",
        "MiB by which a call's peak lies above what the process held before it, inputs among that. The result is",
        f"a part of it. Below {SLACK:.0f} MiB pages of code are not told from data.",
        "",
        *([*again, ""] if again else []),
        summary(rows) + ".",
        "",
        "| line | dtype | class | Toy | NumPy | PyTorch | JAX | |",
        "| --- " * 8 + "|",
    ]
    for row in rows:
        cells = ["" if m is None else f"{m:.1f}" for m in (row[3], *(row[4][p] for p in report.PEERS))]
        out.append(
            "| "
            + " | ".join([row[0].replace("|", "\\|"), row[1], row[2], *cells])
            + f" | {'above' if above(row) else ''} |"
        )
    return "\n".join(out) + "\n"


def replaced(path, rows):
    """The rows of a table that was written, those that were measured again in their places."""
    fresh, out = {row[:3]: row for row in rows}, []
    for text in pathlib.Path(path).read_text().splitlines() if os.path.exists(path) else []:
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", text)[1:-1]]
        if len(cells) == 8 and cells[0] != "line" and not cells[0].startswith("---"):
            known = [float(cell) if cell else None for cell in cells[3:7]]
            row = (*cells[:3], known[0], dict(zip(report.PEERS, known[1:])))
            out.append(fresh.pop(row[:3], row))
    return [*out, *fresh.values()]


def known_rows(path):
    if not path or not os.path.exists(path):
        return []
    with open(path) as file:
        return [tuple(row) for row in json.load(file)]


def measure(options, rows):
    """Adds the rows of lines that are not among them yet."""
    without_large_pages()
    bench, done = Bench(options), {row[0] for row in rows}
    for case in lines.CASES:
        if not re.search(options.only, case.name) or case.name in done:
            continue
        for row in bench.rows(case):
            rows.append(row)
            print(line(row), flush=True)
        if options.rows:
            with open(options.rows, "w") as file:
                json.dump(rows, file, indent=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("toy", type=os.path.abspath)
    parser.add_argument("--python", default=str(HERE.parent / "venv/bin/python"), help="one that has the peers")
    parser.add_argument("--only", default="", help="lines whose name this expression finds")
    parser.add_argument("--write", help="a file for the table; what it has of other lines stays")
    parser.add_argument("--verbose", action="store_true", help="show what the processes say")
    parser.add_argument("--rows", help="a file for what is measured, as JSON")
    parser.add_argument("--read", action="store_true", help="measure nothing, only write what is in --rows")
    options = parser.parse_args()
    rows = known_rows(options.rows)
    if not options.read:
        measure(options, rows)
    if options.write:
        measured = os.path.getmtime(options.rows) if options.rows else time.time()
        write(options.write, rows, time.localtime(measured))
    print(summary(rows))


if __name__ == "__main__":
    main()
