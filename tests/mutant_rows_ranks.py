# SPDX-License-Identifier: Apache-2.0
"""The mutants of several processes, as mutant_rows.py has them."""


OPENING, SCHEDULES, COLLECTIVES, MESSAGES, SHARDS, RANKS = (
    "runtime/ranks/Opening.cpp",
    "runtime/ranks/Schedules.cpp",
    "runtime/ranks/Collectives.cpp",
    "runtime/ranks/Messages.cpp",
    "runtime/ranks/Schedules.h",
    "runtime/ranks/Ranks.cpp",
)
ON_DEVICES, COMMUNICATOR = "runtime/cuda/Collectives.cpp", "runtime/cuda/Communicator.cpp"
VARYING, HIDDEN = "passes/VaryingCollectives.cpp", "passes/HiddenPrints.cpp"
RANKS_MUTANTS = [
    ("a barrier has no opening", COLLECTIVES, "open(call);\n  countBytes(call.collective, 0);", ""),
    (
        "headers are not compared",
        OPENING,
        "if (std::memcmp(&other.header, &own.header, sizeof own.header) != 0)",
        "if (false)",
    ),
    ("places do not matter", OPENING, "digestOf(call.place),", "0,"),
    ("sizes do not matter", OPENING, "if (call.tensor && call.sizesAgree)", "if (false)"),
    ("an axis or a rank does not matter", OPENING, "digest.add(call.detail);", ""),
    (
        "the tree is a chain",
        SCHEDULES,
        "for (size_t distance = 1; distance < parts.size(); distance *= 2)\n"
        "    for (size_t i = 0; i + distance < parts.size(); i += 2 * distance)\n"
        "      sum.combine(parts[i], parts[i], parts[i + distance], count);",
        "for (size_t i = 1; i < parts.size(); ++i)\n    sum.combine(parts[0], parts[0], parts[i], count);",
    ),
    ("a step of halving is lost", SCHEDULES, "begin = step.kept;", "begin = 0;"),
    ("the mean is the sum", COLLECTIVES, "if (reduction == Reduction::Mean) {", "if (false) {"),
    ("what is left over belongs to nobody", SHARDS, "+ std::min(r, n % p)", ""),
    (
        "sent is what is there later",
        MESSAGES,
        "std::memcpy(copy->data, rt::onHost(x), bytes);",
        "rt::retain(const_cast<rt::Tensor *>(&x)), copy = rt::TensorRef(const_cast<rt::Tensor *>(&x));",
    ),
    ("sends have no bound", MESSAGES, "box.bytes > mostOnTheirWay()", "false"),
    ("what was sent is not counted", MESSAGES, "++counters().sent[to];", ""),
    ("sleep leaves messages alone", "runtime/System.cpp", "ranks::carryOn() ? 0.001 : 0.05", "0.05"),
    ("all ranks write", COLLECTIVES, "if (!isShared)", "if (true)"),
    ("all ranks print", RANKS, 'rt::setOutput(chosen == rank(), "");', 'rt::setOutput(true, "");'),
    (
        "a failing rank does not end the others",
        RANKS,
        "table.abort(table.world, status);\n  _exit(status);",
        "_exit(0);",
    ),
    ("conditions are not compared", VARYING, "all.deciding[branch] = {conditionOf(branch)};", ";"),
    ("what is given is not compared", VARYING, "all.given[op].push_back(v);", ";"),
    ("arguments that differ are compared", VARYING, "if (!isOfAnyArguments || !(", "if (!("),
    ("replicated values are not compared", COLLECTIVES, "if (alike.size() == 1)", "if (true)"),
    ("all processors are alike", RANKS, "other.kind != own.kind", "false"),
    ("every condition holds where output is shown", HIDDEN, "truth(is(0, isa<TruthOp>(op)))", "truth(false)"),
    ("a branch tells nothing about its condition", HIDDEN, "operand == condition ? truth(way) :", ""),
    ("calls do not print", HIDDEN, "return known[call.getCallee()] = found;", "return false;"),
    (
        "parts on devices begin elsewhere",
        ON_DEVICES,
        "work.span(work.own, r * part, countOf(r))",
        "work.span(work.own, r * each, countOf(r))",
    ),
    ("what is recorded does not go first", ON_DEVICES, 'device.flush("ranks meet");', ""),
    ("NCCL sums floating-point numbers", ON_DEVICES, "kindOf(work.dtype) <= DKind::Int", "true"),
    (
        "means on devices are sums",
        ON_DEVICES,
        "isLast && call.reduction == ranks::Reduction::Mean ? p : 0",
        "0",
    ),
    ("what arrives is put elsewhere", ON_DEVICES, "begin += sizes[r];", "begin += sizes[0];"),
    ("any rank decides about devices", COLLECTIVES, "sizeof offer)[0].payload[0]", "sizeof offer)[rank()].payload[0]"),
    ("an old library is taken", COMMUNICATOR, "version < oldestNccl", "false"),
    ("two ranks may have one device", COMMUNICATOR, "all[other].device == all[r].device", "false"),
    ("errors of NCCL are not asked for", COMMUNICATOR, 'check(status != 0 ? status : error, "NCCL");', ""),
    ("no device says what it waits for", COMMUNICATOR, "waiting.emplace(meetings.front().call);", ";"),
    (
        "communicators are left",
        COMMUNICATOR,
        "isWell ? nccl->commDestroy(now) : nccl->commAbort(now);",
        ";",
    ),
    (
        "all ranks take the first device",
        "runtime/cuda/Device.cpp",
        "chosen < 0 ? ranks::localRank() % std::max(count, 1) : chosen",
        "std::max(chosen, 0)",
    ),
    (
        "rows stay where they were made",
        "runtime/RowLoops.cpp",
        "streamCopy(loops[i].result + begin * rowBytes(loops[i]), first + places[i],",
        "streamCopy(first + places[i], first + places[i],",
    ),
    (
        "loops read rows that are not there yet",
        "runtime/RowLoops.cpp",
        "return first + places[i] - row * rowBytes(loops[i]);",
        "break;",
    ),
]
