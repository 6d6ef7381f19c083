# SPDX-License-Identifier: Apache-2.0
"""The table of everyday functions in docs/everyday-functions.md: what each is compared with, in how many cases,
how closely, and what is not as there. `everyday_table.py --write` writes it anew."""
import pathlib
import sys

import numpy as np

import everyday
from everyday_rows import ROWS

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs/everyday-functions.md"

# What is not NumPy's under the same name, or lies in a part of it.
PEERS = {
    "hann": "numpy.hanning",
    "put_add": "numpy.add.at",
    "trapezoid": "numpy.trapezoid",
    "cumulative_trapezoid": "scipy.integrate.cumulative_trapezoid",
    "eigvalsh": "numpy.linalg.eigvalsh",
    "svdvals": "numpy.linalg.svdvals",
    **{
        name: f"scipy.linalg.{name}"
        for name in ("lu", "solve_triangular", "expm", "null_space", "toeplitz", "block_diag")
    },
    **{name: f"torch.{name}" for name in ("topk", "stft", "istft", "scatter_add", "index_add")},
    **{name: f"torch.nn.functional.{name}" for name in ("one_hot", "cross_entropy", "log_softmax", "softplus")},
}

# What differs from the peer, and why.
DEVIATIONS = {
    "average": "no `returned`: the sum of the weights is `sum(weights)`",
    "bincount": "takes any rank, as `histogram` does; weighted counts have the weights' dtype, of nothing, too",
    "cond": "real for complex matrices, too; `p` is written; of singular matrices infinite in every norm",
    "polyval": "of no coefficients it has the dtype of both operands",
    "cross": "no vectors of two, which NumPy gives up, too",
    "cross_entropy": "classes are along `axis`, the last by default, as in `softmax`; always the mean",
    "histogram": "edges are f64 for every dtype, so that counts do not depend on it; no `density`: divide",
    "index_add": "gives a value and changes nothing: values have no aliases",
    "interp": "no `left`, `right`, `period`: `where` and `%` say it",
    "lu": "always the three factors",
    "matrix_rank": "of matrices, also of size 0; no vectors",
    "meshgrid": "a tuple: results are taken apart by names",
    "null_space": "a basis is unique up to a unitary matrix: its projector is compared",
    "one_hot": "f64, as it goes into products",
    "percentile": "linear interpolation only, NumPy's default",
    "put_add": "gives a value and changes nothing: values have no aliases",
    "quantile": "linear interpolation only, NumPy's default",
    "scatter_add": "gives a value and changes nothing: values have no aliases",
    "stft": "no scaling and no one-sided choice: real values give half of the frequencies, complex ones all",
    "topk": "of equal elements the first comes first, which PyTorch leaves open",
    "unwrap": "the period is 2π",
}


def peer_of(name):
    if name in PEERS:
        return PEERS[name]
    for module in ("numpy", "numpy.linalg", "numpy.fft"):
        found = np
        for part in module.split(".")[1:]:
            found = getattr(found, part)
        if hasattr(found, name):
            return f"{module}.{name}"
    return "its definition"


def table():
    lines = [
        "# Everyday functions beside their peers",
        "",
        "Each function is compared with its peer, or with the peer's definition in NumPy, in random cases that",
        "`tests/everyday.py` makes from fixed seeds: dtypes, ranks, axes, `nan`, empty inputs. Values, dtypes and",
        "sizes of results are compared. All are evaluated, two of each are compiled, without optimization and with",
        "complex numbers as pairs, and six have f32 or c64 for f64 or c128, which their results keep. The error is",
        "relative to the largest element; f32 has 1e-5. `tests/everyday_table.py --write` writes this page, and a test",
        "compares it.",
        "",
        "| function | peer | cases | within | what differs, and why |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name in sorted(ROWS):
        within = f"{everyday.LOOSE.get(name, 1e-11):.0e}".replace("e-0", "e-")
        lines.append(f"| `{name}` | {peer_of(name)} | {everyday.CASES} | {within} | {DEVIATIONS.get(name, '')} |")
    return "\n".join(lines) + "\n"


def is_current(toy):
    unknown = sorted({*DEVIATIONS, *PEERS} - set(ROWS))
    if unknown:
        return f"no rows: {unknown}"
    return None if PAGE.read_text() == table() else f"{PAGE} is old: everyday_table.py --write"


def all_cases():
    yield "the table of everyday functions", is_current


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    PAGE.write_text(table())
