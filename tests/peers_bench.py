# SPDX-License-Identifier: Apache-2.0
"""The bench beside other libraries (bench/peers) has a line, or a written reason for none, for every row of the tables
of functions and operators. Only the tables are compared: nothing is measured, and no peer is needed."""
import pathlib
import re
import sys

import matrix

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
import lines  # noqa: E402
import table  # noqa: E402


def operators():
    """The spellings of binary operators, and what is written in other places."""
    spellings = re.search(r"spellingOf\(BinaryOp op\) \{.*?\{(.*?)\};", (ROOT / "ast/Printer.cpp").read_text(), re.S)
    return re.findall(r'"([^"]+)"', spellings.group(1)) + list(lines.OTHER_OPERATORS)


def complete(toy):
    known = {case.name.split()[0] for case in lines.CASES}
    wanted = matrix.functions() + operators() + list(matrix.DTYPES)
    if len(wanted) < 150:
        return f"the tables have only {wanted}"
    problems = [
        f"{name} has no line in bench/peers/lines.py" for name in wanted if name not in known | set(lines.WITHOUT)
    ]
    problems += [
        f"{name} has no line in bench/lists_text.py"
        for name, reason in lines.WITHOUT.items()
        if reason == lines.IN_LISTS_REASON and name not in lines.IN_LISTS
    ]
    problems += [f"{name} has a line and a reason for none" for name in known & set(lines.WITHOUT)]
    problems += [f"{name} is nothing that the tables have" for name in (known | set(lines.WITHOUT)) - set(wanted)]
    return "\n".join(problems) or None


def measured(toy):
    """Each line has cells, each cell's text is whole, and each has a peer."""
    problems = []
    for case in lines.CASES:
        if not any((case.numpy, case.torch, case.jax)):
            problems.append(f"{case.name} has no peer")
        for dtype, c in table.cells(case):
            for name in case.inputs:
                if name not in c.sizes and "*" not in c.sizes:
                    problems.append(f"{case.name} {c.name}: {name} has no shape")
            if "{" in (text := table.texts(case, c)["toy"]):
                problems.append(f"{case.name} {c.name}: {text}")
    names = [case.name for case in lines.CASES]
    problems += [f"{name} is twice in the table" for name in {n for n in names if names.count(n) > 1}]
    return "\n".join(problems) or None


def all_cases():
    yield "every function and operator is measured beside its peers", complete, "host"
    yield "lines of the bench beside peers are whole", measured, "host"
