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
        "of what is computed alike, what is used elsewhere is put elsewhere",
        "jit/AlikeOperands.cpp",
        "a->hasOneUser()",
        "true",
    ),
    (
        "what is computed alike stays where it was",
        "jit/AlikeOperands.cpp",
        "putBeside(x, y);",
        "",
    ),
    (
        "columns have a form for rows of one element",
        "jit/Optimize.cpp",
        '{"enable-mem-access-versioning", "false"}',
        '{"enable-mem-access-versioning", "true"}',
    ),
    (
        "what an earlier program had is a kernel as any other",
        "jit/Engine.cpp",
        "tier->left = elementsOfKept",
        "tier->left = 1 << 21",
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
    (
        "functions that call each other are put into each other if they are short alone",
        "jit/Optimize.cpp",
        "? mostOfOneCaller : mostInstructions;",
        "? mostInstructions : mostInstructions;",
    ),
    (
        "the largest so far is never the zero that is not preferred",
        "jit/CarriedExtrema.cpp",
        "if (!hasOneZero)",
        "if (false)",
    ),
    (
        "the zero of each operand is taken for the one that is preferred",
        "jit/CarriedExtrema.cpp",
        "computeKnownFPClass(early, other, query).isKnownNever(other)",
        "true",
    ),
    (
        "what a check is behind is what is counted from",
        "jit/HoistChecks.cpp",
        "evolution.getMinusSCEV(moving->getStart(), b) != check.first",
        "false",
    ),
    (
        "behind a bound the last turn may be outside",
        "jit/HoistChecks.cpp",
        "b.CreateICmpULT(b.CreateSub(last, least), size)",
        "b.getTrue()",
    ),
    (
        "elements are read before loops whose first turn stores there",
        "jit/HoistLoads.cpp",
        "evolution.getConstant(distance->getType(), size.getFixedValue())",
        "evolution.getZero(distance->getType())",
    ),
    (
        "elements are read before loops that go down to them",
        "jit/HoistLoads.cpp",
        "goesUp ? evolution.getMinusSCEV(first, read) : evolution.getMinusSCEV(read, first)",
        "evolution.getMinusSCEV(first, read)",
    ),
    (
        "what an index loses it gains",
        "jit/InvariantAddresses.cpp",
        "isSubtracted ? b.CreateNeg(number) : number",
        "number",
    ),
    (
        "addresses lose what is constant in their index",
        "jit/InvariantAddresses.cpp",
        "if (constant != 0)",
        "if (false)",
    ),
    (
        "statements without loops are optimized",
        "jit/Optimize.cpp",
        "!f.hasFnAttribute(runsOnce)",
        "f.hasFnAttribute(runsOnce)",
    ),
    (
        "loops of all functions come into one in LLVM",
        "jit/Optimize.cpp",
        "call->setIsNoInline();",
        "continue;",
    ),
    (
        "loops of a large function stay in it",
        "jit/Optimize.cpp",
        "f.getInstructionCount() > largeFunction",
        "f.getInstructionCount() < largeFunction",
    ),
    (
        "loops of a large loop stay in it",
        "jit/Optimize.cpp",
        "outermost.assign(only->rbegin(), only->rend())",
        "outermost.clear()",
    ),
]
