# SPDX-License-Identifier: Apache-2.0
"""The mutants of mutants.py in reductions of columns and of few rows, in positions and in calls of libraries on
devices: as in mutant_rows_device.py."""

COLUMNS, POSITIONS = "passes/lowering/DeviceColumns.cpp", "passes/lowering/DevicePositions.cpp"
TRANSFERS, TRANSFORMS = (f"runtime/cuda/{name}.cpp" for name in ("Transfers", "Transforms"))
REDUCTIONS, STAGING = "passes/lowering/DeviceReductions.cpp", "passes/lowering/DeviceStaging.cpp"
COLUMN_MUTANTS = [
    (
        "staged elements are read before they are there",
        STAGING,
        "step, 0};\n  });\n  meetInBlock();\n}",
        "step, 0};\n  });\n}",
    ),
    ("staged elements go before they are read", STAGING, "  meetInBlock(); // those before", "  // those before"),
    (
        "staged folds are read before they are there",
        STAGING,
        "  meetInBlock();\n  return scalars.load(dtype, result",
        "  return scalars.load(dtype, result",
    ),
    (
        "parts of a staged fold forget those before",
        STAGING,
        "number, scalars.load(dtype, sum, i64(0))",
        "number, total",
    ),
    (
        "rests of staged folds are left out",
        REDUCTIONS,
        "  if (staged) // the rest",
        "  if (staged)\n    return total;\n  if (staged) // the rest",
    ),
    (
        "steps that are staged have no rest",
        STAGING,
        "  strided(left, number, {}, none,",
        "  strided(number, number, {}, none,",
    ),
    ("few rows are a warp each", REDUCTIONS, "oneOf(isStaged, byBlocks, byWarps)", "byWarps()"),
    (
        "many rows are a warp each however long",
        REDUCTIONS,
        "caller.CreateICmpSGE(all.back(), caller.getInt64(leastOfMany))",
        "caller.getFalse()",
    ),
    (
        "staged rows are read for others",
        STAGING,
        "value == stagedRow.value && ArrayRef(indices).drop_back() == ArrayRef(stagedRow.outer)",
        "value == stagedRow.value",
    ),
    ("staged neighbours are all the first", STAGING, "Value *j = i > 0 ?", "Value *j = false ?"),
    ("staged rows are not read again", STAGING, "stagedRow = {x, outer, buffer};", ""),
    (
        "the fold of a staged row is its first element",
        STAGING,
        "k.CreateConstInBoundsGEP1_64(k.getInt8Ty(), buffer, bytes)",
        "buffer",
    ),
    (
        "partial results go before they are read",
        STAGING,
        "meetInBlock(); // the last ones have",
        "// the last ones have",
    ),
    (
        "partial results are read before they are there",
        STAGING,
        "threadsOfBlock, 0};\n    });\n    meetInBlock();\n    guarded(",
        "threadsOfBlock, 0};\n    });\n    guarded(",
    ),
    (
        "the first partial sum is left out",
        STAGING,
        "foldInTurn(op, i64(0), count, scalars",
        "foldInTurn(op, i64(1), count, scalars",
    ),
    (
        "partial sums forget those before",
        STAGING,
        "count, scalars.load(dtype, total, i64(0)), 16",
        "count, identityOf(op, dtype), 16",
    ),
    (
        "a few rows without groups are a warp each",
        REDUCTIONS,
        "axes.outer.empty() && !isa<ConstantInt>(areFew)\n                       ? caller.getFalse()",
        "true ? caller.getTrue()",
    ),
    (
        "best positions of other warps are lost",
        POSITIONS,
        "return bestOfLanes(op, best, warps).im;",
        "return best.im;",
    ),
    (
        "best positions are read before they are there",
        POSITIONS,
        "  meetInBlock();\n  Value *at",
        "  Value *at",
    ),
    ("runs of columns are all the first", COLUMNS, "run = quotient(piece, each),", "run = i64(0),"),
    (
        "runs end with their column",
        COLUMNS,
        "threadFold(op, decode(result, sizes), from, to, 1, 0)",
        "threadFold(op, decode(result, sizes), from, n, 1, 0)",
    ),
    (
        "runs are not in blocks",
        COLUMNS,
        "Value *most = caller.getInt64(runsOfBlock),",
        "Value *most = caller.getInt64(1 << 30),",
    ),
    (
        "few columns have a thread each",
        COLUMNS,
        "caller.CreateICmpSGE(results, caller.getInt64(manyThreads)),",
        "caller.getTrue(),",
    ),
    (
        "many columns have a thread for each run",
        COLUMNS,
        "caller.CreateICmpSGE(results, caller.getInt64(manyThreads)),",
        "caller.getFalse(),",
    ),
    ("a thread keeps its last run alone", COLUMNS, "k.CreateICmpEQ(run, i64(0)), dtype", "k.getTrue(), dtype"),
    (
        "the first of ordered folds counts twice",
        COLUMNS,
        "foldInTurn(op, k.CreateAdd(from, i64(1)), to, part(from)",
        "foldInTurn(op, from, to, part(from)",
    ),
    (
        "ordered folds are read from other columns",
        COLUMNS,
        'k.CreateMul(i, width, "", true, true), own,',
        'k.CreateMul(i, width, "", true, true), i64(0),',
    ),
    (
        "positions of columns are those of their first block",
        POSITIONS,
        '*start = k.CreateMul(block, capture(length), "", true, true),',
        "*start = i64(0),",
    ),
    (
        "blocks of positions are mixed up",
        POSITIONS,
        "*result = axes.alongLast ? group : inGroup,",
        "*result = group,",
    ),
    (
        "columns look for positions alone",
        POSITIONS,
        "many = axes.alongLast ? manyRows : manyThreads;",
        "many = axes.alongLast ? manyRows : 1;",
    ),
    (
        "all lanes store positions",
        POSITIONS,
        "guarded(k.CreateICmpEQ(lane, i64(0)), [&, at = at",
        "guarded(k.getTrue(), [&, at = at",
    ),
    (
        "small copies are waited for by nobody",
        TRANSFERS,
        'check(cu->streamSynchronize(on), "the device"); return; } for',
        "return; } for",
    ),
    ("plans that cannot be made stay", TRANSFORMS, "if (isMade) fft->destroy(plan);", ""),
    (
        "refused plans are asked for again",
        TRANSFORMS,
        "transformPlans[t] = {plan, static_cast<int64_t>(workBytes), 0};",
        "if (plan >= 0) transformPlans[t] = {plan, static_cast<int64_t>(workBytes), 0};",
    ),
    (
        "middle axes stay where they are",
        TRANSFORMS,
        "bool exchanged = inner > 1;",
        "bool exchanged = false;",
    ),
    ("both norms scale alike", TRANSFORMS, ": (norm == 2) == forward ? 1.0", ": !forward ? 1.0"),
    (
        "plans have no shared work area",
        TRANSFORMS,
        "status = fft->setWorkArea(plan, reinterpret_cast<void *>(transformArea));",
        "",
    ),
    ("the oldest plan is the newest", TRANSFORMS, "made.used = now;", ""),
]
