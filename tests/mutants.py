#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the recognizer of complex products, what runs on devices, or what several processes do, in one place at a time
and sees that the tests notice. Builds a copy of the sources in build/mutants; takes some minutes, so it is not part of
`make test`: `make mutants ARGS='recognition|device|ranks'`. Ends with `N caught, N missed`."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build/mutants/source"
BUILD = ROOT / "build/mutants/build"
LIT = "/usr/lib/llvm-22/bin/lit"

SUMS, HEADER, PASS, RELAXED = (
    "passes/recognize/SumOfProducts.cpp",
    "passes/recognize/SumOfProducts.h",
    "passes/RecognizeComplex.cpp",
    "passes/recognize/Relaxed.cpp",
)
MUTANTS = [
    ("a negation is lost", SUMS, "negative = !negative;", ""),
    (
        "the sign of a left factor is lost",
        SUMS,
        "term.lhs = withoutNegations(term.op->getOperand(0), term.negative);",
        "bool lost = false; term.lhs = withoutNegations(term.op->getOperand(0), lost);",
    ),
    (
        "the sign of a right factor is lost",
        SUMS,
        "term.rhs = withoutNegations(term.op->getOperand(1), term.negative);",
        "bool lost = false; term.rhs = withoutNegations(term.op->getOperand(1), lost);",
    ),
    ("any factor is two", SUMS, "convertToDouble() == 2", "convertToDouble() != 0"),
    ("elementwise and matrix products mix", SUMS, " || isa<MatMulOp>(x->op) != isa<MatMulOp>(y->op)", ""),
    ("differences are sums", SUMS, "y->negative ^= isa<SubOp>(op);", ""),
    ("operands are not sorted", SUMS, "llvm::sort(key);", ""),
    ("matrices commute", SUMS, "(!ordered && term.lhs == y", "(term.lhs == y"),
    ("factors of matrices are exchanged", SUMS, "if (ordered && (exchangeP || exchangeQ))", "if (false)"),
    ("ad is not looked at", SUMS, "isProductOf(ad, a, d, ordered) && ", ""),
    ("bc is not looked at", SUMS, " && isProductOf(bc, b, c, ordered)", ""),
    ("one half of a product is enough", SUMS, "term.lhs == x && term.rhs == y)", "term.lhs == x)"),
    ("signs are not looked at", SUMS, "if (re.hasMixedSigns() == im.hasMixedSigns()) {", "if (false) {"),
    ("b keeps its sign", HEADER, "return bcNegative != acNegative;", "return false;"),
    ("c keeps its sign", HEADER, "return acNegative;", "return false;"),
    ("d keeps its sign", HEADER, "return adNegative;", "return false;"),
    (
        "mixed signs are equal ones",
        HEADER,
        "terms[0].negative != terms[1].negative",
        "terms[0].negative == terms[1].negative",
    ),
    ("integers are complex", PASS, "if (!isFloat(tensorTypeOf(re->getResult(0)).getDtype()))", "if (false)"),
    ("branches do not matter", PASS, "if (re->getBlock() != im->getBlock())", "if (false)"),
    (
        "factors' shapes do not matter",
        PASS,
        "if (p.re->isMatrix && !(isSameUpToNames(",
        "if (false && !(isSameUpToNames(",
    ),
    (
        "real and imaginary parts are exchanged",
        PASS,
        'std::pair(re, "toy.real"), std::pair(im, "toy.imag")',
        'std::pair(re, "toy.imag"), std::pair(im, "toy.real")',
    ),
    (
        "the first sum is the real part",
        PASS,
        "return concatX && concatX == concatY && positionY < positionX;",
        "return false;",
    ),
    ("no largest matching", PASS, "if (!mate[j] || self(self, *mate[j], seen)) {", "if (false) {"),
    ("raised parts are forgotten", PASS, "raised[part->getResult(0)] = value;", ""),
    (
        "any two functions are cosine and sine of one angle",
        PASS,
        "cosine && sine && cosine.getX() == sine.getX()",
        "cosine && sine",
    ),
    (
        "angles of polar forms do not matter",
        PASS,
        "{{radius.getAsOpaquePointer(), t.getAsOpaquePointer()}, mul}",
        "{{radius.getAsOpaquePointer(), nullptr}, mul}",
    ),
    ("polar forms are not found", PASS, "it != sines.end() && it->second != cosine", "false"),
    (
        "any slices are pairs",
        PASS,
        "s.getSteps()[last] == 1 && *to == *count",
        "true",
    ),
    ("tables' halves may differ", PASS, "concat.getParts()[0] == concat.getParts()[1] && ", ""),
    ("the turned half is another tensor's", PASS, "withoutRelabel(slice.getX()) != withoutRelabel(x) || ", ""),
    (
        "the turned half is not negated",
        PASS,
        "x2 = negated ? withoutRelabel(negated.getX()) : Value();",
        "x2 = negated ? withoutRelabel(negated.getX()) : halves.getParts()[0];",
    ),
    ("abs2 of any products", PASS, "sum->terms[0].lhs != sum->terms[0].rhs ||", ""),
    (
        "differences of squares are abs2",
        PASS,
        "sum->hasMixedSigns() || sum->terms[0].negative || sum->terms[0].lhs",
        "sum->terms[0].lhs",
    ),
    (
        "relaxed forms are always raised",
        RELAXED,
        "    if (!allowed) {\n      log.missed.push_back({re->getLoc()",
        "    if (false) {\n      log.missed.push_back({re->getLoc()",
    ),
    (
        "the magnitude is always raised",
        RELAXED,
        "    if (!allowed) {\n      log.missed.push_back({root.getLoc()",
        "    if (false) {\n      log.missed.push_back({root.getLoc()",
    ),
    ("any denominator divides", RELAXED, "if (!y || !isSumOfSquares(re.getRhs(), y.getLhs(), y.getRhs()))", "if (!y)"),
    ("Gauss's form with any difference", RELAXED, " || difference.getRhs() != c)", ")"),
]

SEQUENCE, PLAN, DEVICE, KERNELS, MEMORY = (
    "runtime/cuda/Sequence.cpp",
    "runtime/cuda/Plan.cpp",
    "runtime/cuda/Device.cpp",
    "passes/lowering/DeviceKernels.cpp",
    "runtime/Memory.cpp",
)
POSITIONS = "passes/lowering/PositionEmitter.cpp"
DEVICE_MODULES = ["numbers", "kernels", "counts", "opening", "failures"]
REDUCTIONS, LIBRARIES, PLANAR, BUCKETS, STORE, ROPE = (
    "passes/lowering/DeviceReductions.cpp",
    "runtime/cuda/Libraries.cpp",
    "runtime/cuda/PlanarProduct.cpp",
    "passes/PadToBuckets.cpp",
    "runtime/cuda/Store.cpp",
    "passes/lowering/RopeKernel.cpp",
)
DEVICE_MUTANTS = [
    (
        "a wait between streams is dropped",
        SEQUENCE,
        'check(cu->streamWaitEvent(all[s], done[p], 0), "cuStreamWaitEvent");',
        "",
    ),
    (
        "streams do not wait for what came before",
        SEQUENCE,
        'check(cu->streamWaitEvent(all[s], start, 0), "cuStreamWaitEvent");',
        "",
    ),
    (
        "the end of the sequence is not waited for",
        SEQUENCE,
        'check(cu->streamWaitEvent(stream, mark(s), 0), "cuStreamWaitEvent");',
        "",
    ),
    (
        "one wait serves for everything",
        SEQUENCE,
        "known[s][t] = std::max(known[s][t], follows[p][t]);",
        "known[s][t] = static_cast<int>(i);",
    ),
    ("temporaries share memory at once", PLAN, "if ((touching[place.block] & ~before).any())", "if (false)"),
    (
        "readers do not keep memory",
        PLAN,
        "for (auto *blocks : {&pending[i].operands, &pending[i].results})",
        "for (auto *blocks : {&pending[i].results})",
    ),
    ("results take their operands' memory", PLAN, "before.reset(i);", ""),
    ("the arena does not grow", PLAN, "if (needs > arenaBytes) {", "if (arenaBytes == 0) {"),
    (
        "all temporaries stand at the start",
        PLAN,
        "place.block->address = arena + place.begin;",
        "place.block->address = arena;",
    ),
    ("graphs have no edges", SEQUENCE, "dependencies.push_back(cached.nodes[p - begin].node);", "(void)p;"),
    (
        "products share the workspace at once",
        SEQUENCE,
        "  if (!pending[i].kernel)\n    for (size_t j = i; j-- > begin;)",
        "  if (false)\n    for (size_t j = i; j-- > begin;)",
    ),
    (
        "addresses in graphs stay",
        SEQUENCE,
        "if (values == known.parameters && record.product == known.product && record.transform == known.transform)",
        "if (true)",
    ),
    (
        "sizes of products in graphs stay",
        SEQUENCE,
        "if (values == known.parameters && record.product == known.product && record.transform == known.transform)",
        "if (values == known.parameters)",
    ),
    ("one block of threads", SEQUENCE, "return {function, record.grid, 1, 1,", "return {function, 1, 1, 1,"),
    (
        "graphs are mixed up",
        SEQUENCE,
        "out.push_back(j >= static_cast<int>(begin) ? j - begin : ~uint64_t(0));",
        "(void)j;",
    ),
    (
        "kernels in graphs are mixed up",
        SEQUENCE,
        "out.push_back(reinterpret_cast<uint64_t>(record.kernel));",
        "out.push_back(0);",
    ),
    ("what only others read is dropped", PLAN, "block->held || read.contains(block)", "block->held"),
    (
        "only the first result counts",
        PLAN,
        "record.results.end(), [&](DeviceBlock *block) { return block->held",
        "record.results.begin() + 1, [&](DeviceBlock *block) { return block->held",
    ),
    ("what is overwritten is not read first", PLAN, "for (int reader : access.readers)\n        need(reader);", ""),
    ("updates come in any order", PLAN, "need(access.writer);\n      for", "for"),
    ("what is updated is never made", PLAN, "read.insert(block);", "read.erase(block);"),
    (
        "others see updates",
        STORE,
        "if (x->refs.load(std::memory_order_acquire) == 1 && x->storage->refs.load(std::memory_order_acquire) == 1) {",
        "if (true) {",
    ),
    ("the host does not see updates", STORE, "onDeviceOnly(*x);", ""),
    ("slices start at 0", STORE, "base += starts[i] * stride;", "base += 0;"),
    ("values are repeated along every axis", STORE, "size == 1 ? 0 : in", "0"),
    ("axes that are apart are joined", STORE, "axis.out == out.back().out * out.back().size && ", ""),
    ("pairs that need each other are joined", PLAN, "|| ancestors[i].test(j) || ancestors[j].test(i)", ""),
    ("joined pairs do not wait for both", PLAN, "|| (first < n && !isReady(pending[first]))", ""),
    ("second tensors are turned from another block on", "runtime/cuda/Rope.cu", "(BLOCK - number(0, blocks))", "BLOCK"),
    (
        "all rows have the first angles",
        "runtime/cuda/Rope.cu",
        "row = rest % r.period, begin",
        "row = 0 * r.period, begin",
    ),
    ("halves are taken for neighbours", ROPE, "found->halves == halves", "true"),
    ("pairs of two tensors are turned", ROPE, "low.getX() != high.getX() ||", ""),
    ("pairs that are repeated are turned", ROPE, "isWhole(found->pairs, shape) &&", ""),
    ("halves are rounded twice", ROPE, "partTypeOf(v) == element || partTypeOf(v) == computed", "true"),
    ("axes without angles are between", ROPE, "if (angles[axis - missing].is(1) && !dims[axis].is(1))", "if (false)"),
    (
        "operands may go before their readers ran",
        PLAN,
        "for (DeviceBlock *block : record.operands)\n    ++block->refs;",
        "",
    ),
    ("values are never given back", DEVICE, "if (--block->refs > 0)\n    return;", "--block->refs;\n  return;"),
    (
        "no workspace of its own",
        LIBRARIES,
        "status = blas->setWorkspace(handle, reinterpret_cast<void *>(workspace), workspaceBytes);",
        "",
    ),
    (
        "operands of products are exchanged",
        LIBRARIES,
        "handle, p.opB, p.opA, p.n, p.m, p.k",
        "handle, p.opA, p.opB, p.n, p.m, p.k",
    ),
    (
        "the host reads before the sequence went",
        DEVICE,
        'if (block->producer >= 0)\n    flush("the host needs a value");',
        "",
    ),
    (
        "the host does not wait for its copy",
        DEVICE,
        'check(cu->streamSynchronize(stream), "the device");\n  stats.bytesToHost',
        "stats.bytesToHost",
    ),
    ("copies are read late", DEVICE, "readsPageable = pageable != 0;", ""),
    ("the first device is always taken", DEVICE, "cu->deviceGet(&device, ordinal)", "cu->deviceGet(&device, 0)"),
    (
        "small programs open the device",
        DEVICE,
        "if (bytes < large || !CudaDevice::get(unused))",
        "if (!CudaDevice::get(unused))",
    ),
    (
        "calls are captured again at any price",
        SEQUENCE,
        "changedCalls(*graph, begin) * 8 >",
        "changedCalls(*graph, begin) * 0 >",
    ),
    ("the last of equal positions", POSITIONS, "k.CreateICmpULT(b[1], a[1])", "k.CreateICmpUGT(b[1], a[1])"),
    (
        "any size is a multiple",
        KERNELS,
        "caller.CreateURem(size, caller.getInt64(width)), caller",
        "caller.getInt64(0), caller",
    ),
    ("wide copies begin anywhere", STORE, "isEven(base) && isEven(first)", "isEven(first)"),
    (
        "the first partial sum twice",
        REDUCTIONS,
        "loop(start, k.CreateBinaryIntrinsic",
        "loop(i64(0), k.CreateBinaryIntrinsic",
    ),
    (
        "real inverse transforms overwrite their operand",
        LIBRARIES,
        "if (kind == TransformPlan::RealBackward) // which",
        "if (false) // which",
    ),
    ("transforms are not scaled", LIBRARIES, "if (scale != 1) {", "if (false) {"),
    ("the lower digits are lost", LIBRARIES, "product(o[1], o[5]);", "product(o[0], o[5]); betaSingle[0] = 0;"),
    ("graphs outlive their plans", LIBRARIES, "destroyGraphsOf(&oldest->first);", ""),
    ("graphs outlive the work area", LIBRARIES, "destroyGraphsOf(nullptr);", ""),
    ("imaginary parts have no sign", "runtime/cuda/Kernels.cu", "lower[0] = -im;", "lower[0] = im;"),
    (
        "parts are read from the start",
        DEVICE,
        "cu->memcpyDtoHAsync(to, block->address + offset, bytes, stream)",
        "cu->memcpyDtoHAsync(to, block->address, bytes, stream)",
    ),
    (
        "every use copies to the device",
        DEVICE,
        "return t.storage->device = block.release();",
        "return block.release();",
    ),
    (
        "blocks are too small",
        DEVICE,
        "return (std::max<int64_t>(bytes, 1) + step - 1) / step * step;",
        "return std::max<int64_t>(bytes / 2, 16);",
    ),
    ("blocks serve for any size", DEVICE, "auto it = idle.find(capacity)", "auto it = idle.begin()"),
    (
        "conjugates are transposes",
        LIBRARIES,
        "op = conjugated ? blasConjugated : blasTransposed;",
        "op = blasTransposed;",
    ),
    ("slices of factors start at 0", LIBRARIES, "p.offsetA = left.offset * size;", "p.offsetA = 0;"),
    ("batches are written to one place", LIBRARIES, "p.strideC = s.m * s.n;", "p.strideC = 0;"),
    ("scaling is lost", LIBRARIES, "p.alpha = scale;", "p.alpha = 1;"),
    (
        "the host replaces what products are added to",
        LIBRARIES,
        "c.data(), std::span(&batch, 1), p.alpha, beta);",
        "c.data(), std::span(&batch, 1), p.alpha, 0);",
    ),
    ("the host ignores conjugates", LIBRARIES, "p.opA == blasConjugated}", "false}"),
    ("the host scales transforms", LIBRARIES, "forward ? 0 : 2}; // along", "0}; // along"),
    (
        "a graph lacks refused calls",
        SEQUENCE,
        "if (!child)\n        return false;\n      check",
        "if (!child)\n        continue;\n      check",
    ),
    ("every refusal is told", LIBRARIES, "if (fallbackKinds.insert(what).second)", "fallbackKinds.insert(what);"),
    ("a failed device is used on", DEVICE, 'failure = fmt::format("{} failed: {}", what, shown);', ""),
    (
        "updates on the host are not seen",
        MEMORY,
        "if (DeviceBlock *block = std::exchange(t.storage->device, nullptr))",
        "if (DeviceBlock *block = nullptr)",
    ),
    (
        "threads write beyond the end",
        KERNELS,
        "guarded(k.CreateICmpSLT(first, n), [&] { steps(width); });",
        "guarded(k.CreateICmpSLE(first, n), [&] { steps(width); });",
    ),
    (
        "the tail is not computed",
        KERNELS,
        "guarded(k.CreateICmpSGT(end, n), [&] { loop",
        "guarded(k.getFalse(), [&] { loop",
    ),
    (
        "lanes are not all combined",
        REDUCTIONS,
        "for (unsigned half = warp / 2; half > 0; half /= 2)",
        "for (unsigned half = warp / 2; half > 1; half /= 2)",
    ),
    ("reductions in another order", REDUCTIONS, "static_assert(warp == 32);", "#define reductionBlock 4096"),
    (
        "sums of rows stay in one lane",
        REDUCTIONS,
        "shuffled(rowFold(def, outer, lane, n), Intrinsic::nvvm_shfl_sync_idx_i32, k.getInt32(0))",
        "rowFold(def, outer, lane, n)",
    ),
    (
        "sums of other rows",
        "passes/FuseRowReductions.cpp",
        "return user->hasTrait<OpTrait::Elementwise>() && tensorTypeOf",
        "return true || tensorTypeOf",
    ),
    (
        "rests of rows are left out",
        REDUCTIONS,
        "total = choose(k.CreateICmpSLT(left, end)",
        "total = choose(k.getFalse()",
    ),
    (
        "rests of rows are whole",
        REDUCTIONS,
        "{k.CreateSelect(isInside, next.re, sum.re)",
        "{k.CreateSelect(k.getTrue(), next.re, sum.re)",
    ),
    ("neighbours are read one by one", KERNELS, "      elementAt(v, at);\n      return;", "      return;"),
    (
        "sums of all rows are stored in one place",
        REDUCTIONS,
        "storeNeighbours(ofRows, row, first, 1)",
        "storeNeighbours(ofRows, i64(0), first, 1)",
    ),
    (
        "further results are the first",
        KERNELS,
        "elements[j].first, elements[j].second",
        "elements[j].first, elements[j - i].second",
    ),
    (
        "what is read before is stored after",
        "passes/FuseRowReductions.cpp",
        "|| last->isBeforeInBlock(user);",
        "|| true;",
    ),
    ("products of differences", PLANAR, "difference = sum(c, d, -ySign)", "difference = sum(c, d, ySign)"),
    ("sums over padding", BUCKETS, "!isReduced(op, op->getOperand(0))", "true"),
    (
        "scans over padding",
        BUCKETS,
        "!isPadded(op->getOperand(0), op->getAttrOfType",
        "true || !isPadded(op->getOperand(0), op->getAttrOfType",
    ),
    ("reversed padding", BUCKETS, "isPadded(slice.getX(), axis) && step != 1", "false"),
    ("products over padding", BUCKETS, "!contractsPadded(product) && aligned", "aligned"),
    ("joined padding", BUCKETS, "isSameAxes(v, concat, concat.getAxis())", "true"),
    ("rows of other sizes", BUCKETS, "from && to && *from == *to", "from && to"),
    ("failures of padding", BUCKETS, "if (!isMemoryEffectFree(op))", "if (false)"),
    ("sizes of other names", BUCKETS, "return isAligned(v, op->getResult(0));", "return true;"),
    ("scalars of the bucket", BUCKETS, "dim.replaceAllUsesWith(real);", "dim.replaceAllUsesWith(count);"),
    ("any waste", BUCKETS, "chosen = choose(chosen, most, chosen, n);", ""),
    (
        "results keep their padding",
        BUCKETS,
        "if (dim == bucket) {\n        dim = size;\n        count = real;\n      }",
        "if (dim == bucket)\n        dim = size;",
    ),
    (
        "sizes that come back have no graph of their own",
        SEQUENCE,
        "if (!sizesSeen.insert(signature).second) {",
        "if (false) {",
    ),
    ("graphs of all sizes are one", SEQUENCE, "addSizes(pending[i], signature);", ""),
    ("rows are taken for lanes", REDUCTIONS, "{k.CreateLShr(thread, i64(5)),", "{k.CreateLShr(thread, i64(4)),"),
]


def changed(text, before, after):
    """The text with something else in a place, however the place is broken into lines; None where there is no such
    place."""
    place = r"\s*".join(re.escape(token) for token in re.findall(r"\w+|[^\w\s]", before))
    mutant, count = re.subn(place, lambda _: after, text)
    return mutant if count else None


OPENING, SCHEDULES, COLLECTIVES, SHARDS, RANKS = (
    "runtime/ranks/Opening.cpp",
    "runtime/ranks/Schedules.cpp",
    "runtime/ranks/Collectives.cpp",
    "runtime/ranks/Schedules.h",
    "runtime/ranks/Ranks.cpp",
)
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
    ("all ranks write", COLLECTIVES, "if (!isShared)", "if (true)"),
    ("all ranks print", RANKS, 'rt::setOutput(chosen == rank(), "");', 'rt::setOutput(true, "");'),
    (
        "a failing rank does not end the others",
        RANKS,
        "table.abort(table.world, status);\n  _exit(status);",
        "_exit(0);",
    ),
]
ALL = {"recognition": MUTANTS, "device": DEVICE_MUTANTS, "ranks": RANKS_MUTANTS}


def places_gone():
    """Mutants whose place is no longer in the sources."""
    return [
        name
        for name, path, before, after in sum(ALL.values(), [])
        if changed((ROOT / path).read_text(), before, after) is None
    ]


def build():
    done = subprocess.run(
        ["cmake", "--build", str(BUILD), "--target", "toy", "toy-opt", "toy-check", "toyfakecuda", "--", "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return None if done.returncode == 0 else done.stdout


TEXTS = {"recognition": ["recognize-complex"], "device": ["pad-to-buckets", "fuse-row-reductions"], "ranks": []}
TESTS = {
    "recognition": ["recognition.py"],
    "device": [
        *("buckets.py", "device.py", *(f"device_{part}.py" for part in DEVICE_MODULES)),
        *("-k", "not (ptxas or nvcc or auto or off or unpack)"),
    ],
    "ranks": ["ranks.py", "-k", "not (faults or all or example or programs)"],
}


def first_failure(kind):
    """The name of a test that fails, or None."""
    texts = TEXTS[kind]
    if (
        texts
        and subprocess.run(
            [LIT, "-q", f"--param=build={BUILD}", *(str(ROOT / f"tests/passes/{name}.mlir") for name in texts)],
            stdout=subprocess.DEVNULL,
        ).returncode
    ):
        return "lit"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-n",
            "auto",
            f"--build={BUILD}",
            "-m",
            "nightly or not nightly",
            *TESTS[kind],
        ],
        cwd=ROOT / "tests",
        stdout=subprocess.PIPE,
        text=True,
    )
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED ")]
    return None if done.returncode == 0 else failed[0].removeprefix("FAILED ") if failed else "pytest"


def main(kinds, only=""):
    for name in subprocess.run(
        ["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split():
        target = COPY / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != (ROOT / name).read_bytes():
            shutil.copyfile(ROOT / name, target)
    environment = {**os.environ, "CC": "clang-22", "CXX": "clang++-22"}
    subprocess.run(
        ["cmake", "--preset", "release", "-S", str(COPY), "-B", str(BUILD)],
        cwd=COPY,
        env=environment,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    problem = build()
    caught = missed = 0
    for kind in kinds:
        if problem or first_failure(kind):
            print(problem or "the tests fail without mutants")
            return 1
        for name, path, before, after in ALL[kind]:
            if not any(part in name for part in only.split("|")):
                continue
            file = COPY / path
            text = file.read_text()
            mutant = changed(text, before, after)
            if mutant is None:
                print(f"MISSED {name}: the place to change is gone")
                missed += 1
                continue
            file.write_text(mutant)
            broken = build()
            failure = None if broken else first_failure(kind)
            file.write_text(text)
            if broken:
                print(f"MISSED {name}: it does not compile\n{broken}", flush=True)
            elif failure:
                print(f"caught {name}: {failure}", flush=True)
            else:
                print(f"MISSED {name}", flush=True)
            caught += failure is not None
            missed += failure is None
    print(f"{caught} caught, {missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:2] or list(ALL), " ".join(sys.argv[2:])))  # a kind, and parts of names: a|b
