# SPDX-License-Identifier: Apache-2.0
"""The mutants of mutants.py in what loops make of rows: as in mutant_rows_device.py. Each takes away a condition under
which rows may stay in registers, or does to lanes what it should not."""

SHORT, LANES = "passes/ShortRows.cpp", "passes/lowering/LaneRows.cpp"
FRAMES, PLACES = "passes/lowering/FrameTensors.cpp", "passes/lowering/PositionEmitter.cpp"
GROWING = "passes/lowering/GrowingVectors.cpp"
LOOPS_MUTANTS = [
    (
        "rows of any size are short",
        SHORT,
        "LeOp::create(b, loc, truth, ValueRange{count, most})",
        "LeOp::create(b, loc, truth, ValueRange{count, count})",
    ),
    ("other names are one size", SHORT, "require(sizeOf(source, b, loc));", "(void)source;"),
    (
        "renamed rows have the size of their name",
        SHORT,
        "rows.contains(argument) && !hasLocalSizes(operand)",
        "rows.contains(argument) && false",
    ),
    ("rows that change are in lanes", SHORT, "return isa<ElementSetOp>(user);", "return false;"),
    (
        "what is read elsewhere is the own element",
        SHORT,
        "isComputedInLanes(group) && readsInPlace(group, use.get())",
        "isComputedInLanes(group)",
    ),
    (
        "a size asked in the loop is that of the widest row",
        SHORT,
        "question.replaceAllUsesWith(count);",
        "OpBuilder b(question); question.replaceAllUsesWith(integerConstant(b, question.getLoc(), lanes));",
    ),
    (
        "sums in order begin with lanes behind the row",
        LANES,
        "k.CreateSelect(mask, part, ConstantFP::getNegativeZero(type))",
        "part",
    ),
    (
        "rows are stored with what is behind them",
        LANES,
        "row, callerOut, mask);",
        "row, callerOut, nullptr);",
    ),
    (
        "parts of complex rows change places",
        LANES,
        "b.CreateShuffleVector(lanes.re, lanes.im, pairs)",
        "b.CreateShuffleVector(lanes.im, lanes.re, pairs)",
    ),
    (
        "what is kept is in the frame",
        FRAMES,
        "return isa<DimOp, GemmOp>(user) ||",
        "return !isa<DimOp, GemmOp>(user) ||",
    ),
    ("any number of elements is in the frame", FRAMES, "b.CreateICmpULE(count, b.getInt64(most))", "b.getTrue()"),
    (
        "places of extrema are looked for behind the row",
        PLACES,
        "lanes = k.CreateSelect(mask, lanes, k.CreateVectorSplat(lanesAtOnce, worst(op, dtype)));",
        "",
    ),
    (
        "what is stored elsewhere was there",
        "passes/PlaceUnique.cpp",
        "[](Value v, Value w) { return areSame(v, w); }",
        "[](Value, Value) { return true; }",
    ),
    (
        "numbers are set in lists that others hold",
        "passes/lowering/Lists.cpp",
        "Value *fits = b.CreateICmpEQ(loadWord(list, 0), b.getInt64(1));",
        "Value *fits = b.getTrue();",
    ),
    (
        "vectors that others hold get shorter",
        GROWING,
        "scalars.eitherOf(isAlone(object), inPlace, byCall)",
        "scalars.eitherOf(b.getTrue(), inPlace, byCall)",
    ),
    (
        "a vector that gets shorter is as long as it was",
        GROWING,
        "setDataAndLength(op.getResult(), data, count);",
        "setDataAndLength(op.getResult(), data, length);",
    ),
    (
        "elements of a vector that was copied are where they were",
        GROWING,
        "setDataAndLength(op.getResult(), dataOfEither(either, data, moved), longer);",
        "setDataAndLength(op.getResult(), data, longer);",
    ),
    (
        "any member decides a minimum",
        "passes/IntegerBounds.cpp",
        "isAtLeast(size, choice.isMax ? other : members[i], choice.isMax ? members[i] : other, at)",
        "true",
    ),
    (
        "functions that others call are given vectors",
        "passes/ListGroups.cpp",
        "return forms.contains(cast<func::FuncOp>(block->getParentOp()));",
        "return true;",
    ),
    (
        "elements are taken out of lists that others hold",
        "passes/lowering/Lists.cpp",
        "Value *alone = b.CreateICmpEQ(loadWord(slots[op.getList()].object, 0), b.getInt64(1));",
        "Value *alone = b.getTrue();",
    ),
    (
        "elements are taken out of lists that are asked for others before one takes their place",
        "passes/lowering/Lists.cpp",
        "|| isa<ListLenOp>(user))",
        "|| isa<ListLenOp, ListElementOp>(user))",
    ),
    (
        "indices that are computed alike are the same",
        "passes/PlaceUnique.cpp",
        "return success(areSame(v, w, depth + 1));",
        "return success();",
    ),
    (
        "rows are lists where the list of them holds vectors",
        "passes/ListGroups.cpp",
        "if (isChange(def) || isa_and_present<ListElementOp>(def))",
        "if (isChange(def))",
    ),
    (
        "rows that lie in two lists are lists in one",
        "passes/ListGroups.cpp",
        "unite(v, user->getResult(0));",
        "",
    ),
    (
        "rows are read by loops behind which nobody holds their list",
        "passes/lowering/Lists.cpp",
        "if (!liveness.getLiveness(blocks[i])->isLiveOut(list))",
        "if (false)",
    ),
    (
        "rows are read when their list is gone",
        "passes/lowering/Lists.cpp",
        "llvm::any_of(list.getUsers(), isHeldBehind)",
        "true",
    ),
    (
        "results are put where rows are that nobody counts",
        "passes/lowering/OpEmitter.cpp",
        "if (isObject(input) && !isBorrowed(input) && diesAt(input, op) &&",
        "if (isObject(input) && diesAt(input, op) &&",
    ),
    (
        "vectors are lent that a number is put behind for the last time",
        "passes/lowering/LentArguments.cpp",
        "append->isBeforeInBlock(user);",
        "true;",
    ),
    (
        "what is no multiple of an unknown number is one",
        "passes/lowering/OpEmitter.cpp",
        "isa<EqOp>(op) ? CmpInst::ICMP_EQ : CmpInst::ICMP_NE",
        "CmpInst::ICMP_EQ",
    ),
    (
        "a list that gets longer is as long as it was",
        "passes/ListsAsTensors.cpp",
        "if (isa<ListAppendOp>(def))",
        "if (false)",
    ),
    (
        "what dies is held by nobody else",
        "passes/PlaceUnique.cpp",
        "ownership.isOwned(x) && ownership.diesAt(x, op))",
        "ownership.diesAt(x, op))",
    ),
    (
        "joined lists have the size of the first",
        "passes/ListsAsTensors.cpp",
        "if (handed && same && handed != same)",
        "if (handed && same && handed != same && false)",
    ),
    (
        "sums along rows begin anew with each register",
        "passes/lowering/ScanEmitter.cpp",
        "sum = first + lane ?",
        "sum = lane ?",
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
]
