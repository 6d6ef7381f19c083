# SPDX-License-Identifier: Apache-2.0
"""Every built-in function, every function of the library and every operator, by name (the first word of a line's name),
or in WITHOUT the reason why it has no line. tests/peers_bench.py compares the names with the program's tables."""
import pathlib
import sys

from table import CASES
from . import elements, arrays, algebra, everyday, sampling  # which fill it

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import lists_text  # noqa: E402

#: what bench/lists_text.py measures beside CPython and NumPy
IN_LISTS = {line[0].split()[0] for line in lists_text.LINES}
#: what has no line, and why
CHANGES_NOTHING = "known while compiling: no instruction is left of it"
WORLD = "acts on files, the terminal or the session, not on elements"
IN_LISTS_REASON = "bench/lists_text.py measures it beside CPython and NumPy"
WITHOUT = {
    **dict.fromkeys(("shape", "size", "rank", "len"), CHANGES_NOTHING),
    **dict.fromkeys(("exit", "breakpoint", "env", "time", "date", "read_line", "sleep"), WORLD),
    **dict.fromkeys(("fail", "Error"), "bench/lists_text.py measures `try`, by which they are caught"),
    **dict.fromkeys(
        "list append contains lines join strip replace find starts_with ends_with lower upper decode bytes str map fold "
        "with tree_map tree_fold read_text write_text read_binary load save".split(),
        IN_LISTS_REASON,
    ),
    **dict.fromkeys(
        (
            "show",
            "plot",
            "scatter_plot",
            "hist",
            "image",
            "picture",
            "print",
            "write",
            "seed",
            "clock",
            "check",
        ),
        WORLD,
    ),
    **dict.fromkeys(("key", "fold_in"), "two numbers: keys is measured"),
    **dict.fromkeys(
        "ranks all_reduce all_gather reduce_scatter all_to_all broadcast send recv shift barrier shard unshard".split(),
        "what several processes do: bench/ranks measures it beside MPI",
    ),
    "item": "the one element of a tensor",
}
#: what is written without a name, beside the spellings of binary operators
OTHER_OPERATORS = ("not", "[]")
