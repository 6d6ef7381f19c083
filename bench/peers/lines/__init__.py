# SPDX-License-Identifier: Apache-2.0
"""Every built-in function, every function of the library and every operator, by name (the first word of a line's name),
or in WITHOUT the reason why it has no line. tests/peers_bench.py compares the names with the program's tables."""
from table import CASES
from . import elements, arrays, algebra, everyday, sampling  # which fill it

#: what has no line, and why
CHANGES_NOTHING = "known while compiling: no instruction is left of it"
WORLD = "acts on files, the terminal or the session, not on elements"
WITHOUT = {
    **dict.fromkeys(("shape", "size", "rank", "len"), CHANGES_NOTHING),
    **dict.fromkeys(("map", "fold"), "write the calls of a function one after the other: its code is measured"),
    **dict.fromkeys(("with", "tree_map", "tree_fold"), "is gone when the program is generated: its calls are measured"),
    **dict.fromkeys(("fail", "Error", "exit", "breakpoint", "env", "time", "date", "read_line", "sleep"), WORLD),
    **dict.fromkeys(("read_text", "write_text"), WORLD),
    **dict.fromkeys(
        "list append contains lines join strip replace find starts_with ends_with lower upper decode".split(),
        "works on lists and text: bench/lists.py measures it beside CPython",
    ),
    **dict.fromkeys(
        (
            "load",
            "save",
            "show",
            "plot",
            "scatter_plot",
            "hist",
            "image",
            "picture",
            "read_binary",
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
    "str": "makes text",
    "bytes": "makes bytes of text",
    "item": "the one element of a tensor",
}
#: what is written without a name, beside the spellings of binary operators
OTHER_OPERATORS = ("not", "[]")
