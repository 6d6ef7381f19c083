# SPDX-License-Identifier: Apache-2.0
"""What was measured, as lines, as JSON and as tables."""
import json
import math
import platform
import re
import time
from dataclasses import asdict, dataclass

from reasons import REASONS

PEERS = ("numpy", "torch", "jax")


@dataclass
class Row:
    name: str
    dtype: str
    shape: str
    ours: float | None
    peers: dict
    differs: str | None

    @property
    def best(self):
        return min((t for t in self.peers.values() if t is not None), default=None)

    @property
    def ratio(self):
        return self.best / self.ours if self.ours and self.best else None

    def merge(self, other):
        """The least of two measurements."""
        self.ours = None if None in (self.ours, other.ours) else min(self.ours, other.ours)
        self.differs = self.differs or other.differs
        self.peers = {
            k: t if other.peers[k] is None else other.peers[k] if t is None else min(t, other.peers[k])
            for k, t in self.peers.items()
        }

    def times(self):
        return [self.ours, *(self.peers.get(p) for p in PEERS)]

    def line(self):
        text = f"{self.name + ' ' + self.dtype + ' ' + self.shape:45}" + "".join(
            f"{micros(t):>11}" for t in self.times()
        )
        mark = " <<<" if self.ratio and self.ratio < 0.7 else " <" if self.ratio and self.ratio < 1 else ""
        return text + f"{number(self.ratio):>8}{mark}" + (f"  DIFFERS ({self.differs})" if self.differs else "")


def micros(t):
    return "" if t is None else f"{t * 1e6:.3g}" if t < 1e-4 else f"{t * 1e6:.0f}"


def number(r):
    return "" if r is None else f"{r:.2f}" if r < 9.95 else f"{r:.0f}"


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def summary(rows):
    ratios = [row.ratio for row in rows if row.ratio]
    bad = [f"{row.name} {row.dtype} {row.shape}" for row in rows if row.differs]
    return (
        f"{len(rows)} cells, {len(ratios)} with a peer, {sum(r >= 1 for r in ratios)} at or ahead of the best one, "
        f"{sum(r < 0.7 for r in ratios)} below 0.7, geometric mean {mean(ratios):.2f}"
        + (f"; wrong or failing: {', '.join(bad)}" if bad else "")
    )


def save(path, rows, versions):
    with open(path, "w") as file:
        json.dump({"versions": versions, "rows": [asdict(row) for row in rows]}, file, indent=0)


def read(path):
    with open(path) as file:
        known = json.load(file)
    return [Row(**row) for row in known["rows"]], known["versions"]


def replaced(rows, by):
    """In the order of the first, then what only the second has."""
    new = {(row.name, row.dtype, row.shape): row for row in by}
    return [new.pop((row.name, row.dtype, row.shape), row) for row in rows] + list(new.values())


def machine():
    with open("/proc/cpuinfo") as file:
        found = re.search(r"^model name\s*:\s*(.*)$", file.read(), re.M)
    return f"{found.group(1) if found else platform.processor()}, {platform.machine()}"


def reason(row):
    for name, dtype, shape, text in REASONS:
        if re.fullmatch(name, row.name) and re.fullmatch(dtype, row.dtype) and re.fullmatch(shape, row.shape):
            return text
    return ""


def by_class(rows):
    """Classes with many cells, and the others."""
    shapes = {}
    for row in rows:
        if row.ratio:
            shapes.setdefault(row.shape, []).append(row.ratio)
    many = {shape: ratios for shape, ratios in shapes.items() if len(ratios) >= 30}
    many["others"] = [r for shape, ratios in shapes.items() if shape not in many for r in ratios]
    yield from ("| class | cells | at or ahead | geometric mean |", "| --- " * 4 + "|")
    for shape, ratios in many.items():
        yield f"| {shape} | {len(ratios)} | {sum(r >= 1 for r in ratios)} | {mean(ratios):.2f} |"
    yield ""


def markdown(rows, versions, threads):
    known = ", ".join(f"{k} {v}" for k, v in versions.items())
    out = [
        "# Every function and operator beside its peers",
        "",
        f"{time.strftime('%Y-%m-%d')}, {machine()}, {threads} thread{'s' if threads > 1 else ''};",
        f"{known}; `bench/peers/run.py`.",
        "The ratio is the time of the fastest of NumPy (SciPy), PyTorch and JAX by Toy's: above 1 Toy is faster. A class is",
        "a shape, or how it is read: 16, 10^3 and 10^6 elements (with the costs of a call), every",
        "other element of rows (strided), reductions and scans along an axis.",
        "",
        summary(rows).replace("; wrong", ";\nwrong") + ".",
        "",
        *by_class(rows),
        "## All lines",
        "",
    ]
    for group in groups(rows):
        out += group + [""]
    slow = sorted((row for row in rows if row.ratio and row.ratio < 1), key=lambda row: row.ratio)
    out += [
        "## Below 1",
        "",
        "Microseconds.",
        "",
        "| line | dtype | class | Toy | NumPy | PyTorch | JAX | ratio | reason |",
    ]
    out += ["| --- " * 9 + "|"]
    for row in slow:
        cells = [row.name, row.dtype, row.shape, *map(micros, row.times()), number(row.ratio), reason(row)]
        out.append("| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |")
    return "\n".join(out) + "\n"


def groups(rows):
    """Lines that are measured in the same classes are one table."""
    tables = {}
    for row in rows:
        tables.setdefault(row.name, []).append(row)
    by_classes = {}
    for name, own in tables.items():
        shapes = tuple(dict.fromkeys(row.shape for row in own))
        by_classes.setdefault(shapes, []).extend(own)
    for shapes, own in by_classes.items():
        table = ["| line | dtype | " + " | ".join(shapes) + " |", "| --- " * (2 + len(shapes)) + "|"]
        lines = {}
        for row in own:
            lines.setdefault((row.name, row.dtype), {})[row.shape] = number(row.ratio)
        for (name, dtype), known in lines.items():
            cells = [name.replace("|", "\\|"), dtype, *(known.get(shape, "") for shape in shapes)]
            table.append("| " + " | ".join(cells) + " |")
        yield table
