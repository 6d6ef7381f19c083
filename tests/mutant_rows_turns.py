# SPDX-License-Identifier: Apache-2.0
"""The mutants of mutants.py in what is done to loops and functions when LLVM has them, and in what loops overwrite: as
in mutant_rows_loops.py."""

TURNS_MUTANTS = [
    (
        "a loop of whole strips ends one strip early",
        "jit/StripTurns.cpp",
        "b.CreateCondBr(b.CreateICmpULT(left, b.getInt64(strips.turns)), exit, again, isShort);",
        "b.CreateCondBr(b.CreateICmpULE(left, b.getInt64(strips.turns)), exit, again, isShort);",
    ),
    (
        "the last turn of a loop that goes up may be outside",
        "jit/HoistChecks.cpp",
        "require(b.CreateICmpULT(last, size));",
        "require(b.CreateICmpULE(last, size));",
    ),
    (
        "the first turn of a loop that goes up may be outside",
        "jit/HoistChecks.cpp",
        "require(b.CreateICmpULE(first, last));",
        "",
    ),
    (
        "elements that loops store into are read in each turn",
        "jit/CarriedLoads.cpp",
        "return evolution.getMinusSCEV(store, load) == load->getStepRecurrence(evolution);",
        "return false;",
    ),
    (
        "what questions compute is not there behind them",
        "jit/RecursiveGuards.cpp",
        "(isRepeated(value) ? repeated : given).push_back(value);",
        "repeated.push_back(value);",
    ),
    (
        "what follows questions does not look for Ctrl-C",
        "jit/RecursiveGuards.cpp",
        "branch->replaceSuccessorWith(poll.rare, copyOf(poll.rare));",
        "branch->replaceSuccessorWith(poll.rare, copyOf(begin));",
    ),
    (
        "elements that some turns leave out are not filled",
        "passes/LeaveUnwritten.cpp",
        "!leavesAtEnd(*loop) || !goesThrough(*loop, through))",
        "!leavesAtEnd(*loop))",
    ),
    (
        "elements behind a loop that ends early are not filled",
        "passes/LeaveUnwritten.cpp",
        "!leavesAtEnd(*loop) || !goesThrough",
        "!goesThrough",
    ),
    (
        "elements that are asked for before their loop are not filled",
        "passes/LeaveUnwritten.cpp",
        "return dominance.properlyDominates(nest.getHeader(), user->getBlock());",
        "return true;",
    ),
    (
        "a piece of a vector begins where the vector does",
        "passes/lowering/KernelLoops.cpp",
        "return caller.CreateInBoundsPtrAdd(dataOf(slice.getX()), first);",
        "return caller.CreateInBoundsPtrAdd(dataOf(slice.getX()), caller.CreateMul(first, caller.getInt64(0)));",
    ),
]
