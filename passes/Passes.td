// SPDX-License-Identifier: Apache-2.0
// The passes of the toy dialect.
#ifndef TOY_PASSES
#define TOY_PASSES

include "mlir/Pass/PassBase.td"

def InlineFunctions : Pass<"toy-inline", "::mlir::ModuleOp"> {
  let summary = "puts short functions in the place of their calls";
  let description = [{
    Calls of functions with one block, or with a few short ones that call nothing, that do not recur, inside user
    functions (those with `toy.name`) or of library functions (`toy.prelude`). Sizes take the caller's names; names that
    only the callee has get new ones. Functions marked `toy.imported` are bodies of functions compiled elsewhere: what
    is not inlined of them becomes a declaration again. Private functions that nobody calls any more are erased.

    Before: `%r = call @square(%x)` with `@square(%a) { %p = toy.mul %a, %a; return %p }`. After: `%r = toy.mul %x, %x`.
    Requires: nothing. Guarantees: nothing about order of effects changes.
  }];
  let dependentDialects = ["::toy::ToyDialect", "::mlir::cf::ControlFlowDialect"];
}

def PreserveProductComponents : Pass<"toy-preserve-product-components", "::mlir::func::FuncOp"> {
  let summary = "keeps sums of products that nothing reads until recognition has seen them";
  let description = [{
    One part of a complex product may be unused in the program and still say what the other one is. `toy.use` with the
    attribute `toy.part` holds it; `toy-recognize-complex` takes these away.

    Before: `%im = toy.add %ad, %bc`, unused. After: also `toy.use %im {toy.part}`.
  }];
  let dependentDialects = ["::toy::ToyDialect"];
}

def RecognizeComplex : Pass<"toy-recognize-complex", "::mlir::func::FuncOp"> {
  let summary = "raises complex arithmetic written in real arithmetic";
  let description = [{
    Two sums of two products over the same four operands are the parts of a complex product when their pairing and their
    signs say so: `a*c ± b*d` with `a*d ± b*c`. Factors of elementwise products stand in any order, those of matrix
    products in theirs. Also `r*cos t` with `r*sin t`, `cos t + i sin t`, and `a*a + b*b`. Both parts are replaced
    separately, before the earlier of the two, which all four operands dominate. Only what has the same bits is raised
    (matrix products: the same componentwise error bound); near misses are reported with their reason.

    Before:
    ```mlir
    %ac = toy.mul %a, %c  %bd = toy.mul %b, %d  %re = toy.sub %ac, %bd
    %ad = toy.mul %a, %d  %bc = toy.mul %b, %c  %im = toy.add %ad, %bc
    ```
    After:
    ```mlir
    %x = toy.complex %a, %b  %y = toy.complex %c, %d  %z = toy.mul %x, %y
    %re = toy.real %z  %im = toy.imag %z
    ```
    Requires: equal values are one value (`cse`). Guarantees: deterministic; each sum is in at most one product.
  }];
  let options = [Option<"relaxed", "relaxed", "bool", "false", "Also forms that round differently: division, three "
      "multiplications, flat sums.">];
  let dependentDialects = ["::toy::ToyDialect"];
}

def PadToBuckets : Pass<"toy-pad-to-buckets", "::mlir::func::FuncOp"> {
  let summary = "pads a size to one of a few, where no element can tell";
  let description = [{
    A function with the attribute `toy.buckets = {N = array<i64: 8, 16>}` gets arguments of the size `N` padded with
    zeros up to the smallest bucket that holds them, and its results cut, so that products and transforms see few sizes.
    More than half of padding (or 256 rows) is not allowed: then, and above the last bucket, sizes stay. Scalars made
    from the size keep what it is. Padding is harmless if element i along padded axes depends on elements i along padded
    axes only; one rule an operation says so, and what has no rule forbids it, with a remark.

    Before: `%r = toy.matmul %x, %w : f32[N, 64], f32[64, 32]`. After: `%p = toy.concat %x, %zeros`, relabelled
    `f32[N_bucket, 64]`, `%q = toy.matmul %p, %w`, `%r = toy.slice %q` to `N` rows.
    Guarantees: the types of the function stay; branches are taken as without padding, because no scalar knows of it.
  }];
  let dependentDialects = ["::toy::ToyDialect"];
}

def ComplexAlgebra : Pass<"toy-complex-algebra", "::mlir::func::FuncOp"> {
  let summary = "equations of complex numbers, by default those that hold bit for bit";
  let description = [{
    Parts of values that are only asked for by parts become real arithmetic; conjugates cancel; `re(z * conj z)` is
    `abs2 z`. Each equation stands in the source with the reason why no bit changes, or with what does.

    Before: `%z = toy.mul %x, %y`, `%r = toy.real %z`. After: `%r = toy.sub %ac, %bd` with the parts of `%x` and `%y`.
    Guarantees: parts of sums, products, conjugates and pairs are not taken from a complex value that nothing else
    needs.
  }];
  let options = [Option<"relaxed", "relaxed", "bool", "false", "Also equations that change rounding, signs of zeros, "
      "or what infinities give.">];
  let dependentDialects = ["::toy::ToyDialect"];
}

def UnpackComplex : Pass<"toy-unpack-complex", "::mlir::ModuleOp"> {
  let summary = "complex tensors as real ones with a last axis of 2";
  let description = [{
    Total: signatures, constants, calls, control flow, results and globals. A complex value inside a function is two
    real values; arguments, results and operations of the runtime see them side by side (`toy.pack`, `toy.part`), the
    latter as operations in packed form. One row an operation; operations that only move, add or choose elements are
    marked by a trait instead.

    Before: `%r = toy.mul %x, %y : (!toy.tensor<c64[N]>, !toy.tensor<c64[N]>) -> !toy.tensor<c64[N]>`.
    After: `%ac = toy.mul %a, %c`, `%bd = toy.mul %b, %d`, `%re = toy.sub %ac, %bd`, and the same for the imaginary
    part, all f32. Requires: nothing. Guarantees: no complex type is left (checked).
  }];
  let options = [Option<"strategy", "strategy", "std::string", "\"auto\"",
                        "How complex matrix products are computed: auto (four real products), native, four-real, "
                            "gauss.">];
  let dependentDialects = ["::toy::ToyDialect", "::mlir::cf::ControlFlowDialect"];
}

def Scalarize : Pass<"toy-scalarize", "::mlir::func::FuncOp"> {
  let summary = "tiny tensors in loops as scalars";
  let description = [{
    Tensors of one to sixteen elements, all sizes known, that loops make with elementwise operations, reductions,
    products, changes of shape, slices and brackets become their elements, each of them a scalar value, and so do those
    that loops hand on from turn to turn. Values that feed each other are taken apart together, if more tensors are
    saved than have to be made for other uses (`toy.from_elements`). An index that is known at run time only becomes
    comparisons and choices. Before that, loops of at most sixteen turns that store into a tiny tensor at their counter,
    inside other loops, are written out, if then all indices of that tensor in loops are numbers.

    Before: `%d = toy.sub %x, %y : f64[3]`, `%q = toy.mul %d, %d`, `%s = toy.sum %q`. After: three of `toy.sub` and
    `toy.mul` of scalars, `toy.add`. Requires: nothing. Guarantees: results keep their bits; sums have the order of the
    reference evaluator.
  }];
  let options = [Option<"products", "products", "bool", "true", "Also complex matrix products, which no other "
      "strategy is asked for.">];
  let dependentDialects = ["::toy::ToyDialect", "::mlir::cf::ControlFlowDialect"];
}

def StoreRows : Pass<"toy-store-rows", "::mlir::func::FuncOp"> {
  let summary = "stores rows in loops element by element";
  let description = [{
    A `toy.slice_store` in a loop, whose slice has one axis of more than one index, becomes a loop over that axis. What
    is stored is computed in it, without a tensor of its own, where it is made of slices, scalars and other tensors by
    simple operations that nothing else uses. Slices of the tensor that is stored into are read there if they have the
    same places along the axis: each turn reads before it writes, and other turns have other places. Otherwise the row
    is made as before and copied. Stores behind each other whose rows lie side by side (two rows that change places)
    are one loop.

    Before: `%r = toy.slice %x, %j, …`, `%y = toy.slice_store %x, %r, %i, …`. After: a loop over `%k` of
    `%e = toy.element %a, %j, %k`, `%b = toy.element_store %a, %e, %i, %k`. Requires: products are chosen.
    Guarantees: results keep their bits; functions (`sin` and its like) stay in kernels.
  }];
  let dependentDialects = ["::toy::ToyDialect", "::mlir::cf::ControlFlowDialect"];
}

def ListsAsTensors : Pass<"toy-lists-as-tensors", "::mlir::ModuleOp"> {
  let summary = "makes vectors of lists of numbers that never leave their module";
  let description = [{
    A list of numbers that is made, changed and read in the functions of a module, and handed on between their blocks
    and calls only, becomes a vector, which grows as it does: an element takes its own bytes, and what is proved of
    loops over elements holds for it. Sizes are what lists are made with and appends add; where ways join with different
    ones, they get a name. A function that others may call keeps its lists, and has a copy, `f.vectors`, for calls by
    functions that have none in their signature. An element that is set to what it was is not set. A list of such lists
    is one of vectors, under the same conditions. A vector that is empty before a counted loop which cannot fail, and to
    which each turn appends a number, is made with all its elements, and the loop stores them.

    Before: `%y = toy.list_append %x, %v`, `%z = toy.list_set %y, %i, %w`. After: `%y = toy.append %x, %v`, `%z =
    toy.element_store %y, %w, %i`. Requires: nothing. Guarantees: lists that are handed to or by other modules,
    printed or taken apart otherwise stay lists.
  }];
  let dependentDialects = ["::toy::ToyDialect"];
}

def SplitReductions : Pass<"toy-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "takes small sums over ranks apart, so that their tree joins the kernel that reads them";
  let description = [{
    Sums and means of floating-point numbers, of a size that is known, from 112 bytes, which openings carry, to 64 KiB,
    above which ranks exchange parts. Where they are read by what else becomes a kernel, that kernel reads all ranks'
    values and adds them. For devices: on the host a sum is made while messages arrive.

    Before: `%s = toy.all_reduce %x`. After: `%p = toy.all_gather_parts %x`, and of `toy.slice`s of it, which stay
    inside of it, the tree over up to 8 of them: where there are only 3, `(a + b) + c`.
    Requires: nothing. Guarantees: results keep their bits; the same collectives in their order.
  }];
  let dependentDialects = ["::toy::ToyDialect"];
}

def AccessElements : Pass<"toy-access-elements", "::mlir::func::FuncOp"> {
  let summary = "reads and stores single elements without slices";
  let description = [{
    A slice of one element that becomes a scalar is `toy.element`; a stored slice of one element is `toy.element_store`.
    Elements of pairs are elements of what was paired, elements of parts those of the whole. Lists whose elements are
    vectors of one known length, up to 16, become a vector of all their numbers, where the function makes them and asks
    for single numbers only. Every question for a size is asked of the first value that has it, so that one size is one
    value.

    Before: `%s = toy.slice %x, %i, %one`, `%e = toy.reshape %s : … -> !toy.tensor<f64[]>`. After: `%e = toy.element %x,
    %i`. Requires: nothing. Guarantees: nothing about order of effects changes.
  }];
  let options = [Option<"device", "device", "bool", "false", "There is a device, which stores elements itself outside "
      "of loops over elements.">];
  let dependentDialects = ["::toy::ToyDialect"];
}

def BoundIndices : Pass<"toy-bound-indices", "::mlir::func::FuncOp"> {
  let summary = "proves what it can about indices";
  let description = [{
    Intervals of i64 scalars, with what branches, earlier checks and loop counters say, in terms of sizes where it
    helps. `toy.check_index` of an index that is never negative is marked `nonnegative`; one that is always inside, or
    that an earlier one has checked, goes. Sums, differences and products that never wrap get `toy.exact`, quotients and
    remainders of what is never negative by what is positive `toy.unsigned`, remainders that go around once at most
    (`(i + 1) % n` of an index: one choice) `toy.around`, those that go around twice (`(i + j + n) % n`)
    `toy.around_twice`. A block that only asks for what it was handed is passed by on the ways on which the answer is
    known, so that behind `a and b` both are.

    Before: `%i = toy.check_index %counter, %n` in a loop while `%counter < %n`. After: `%counter`.
    Requires: nothing. Guarantees: no check goes that could fail.
  }];
  let dependentDialects = ["::toy::ToyDialect"];
}

def GiveBack : Pass<"toy-give-back", "::mlir::ModuleOp"> {
  let summary = "gives back arguments that come back as they were";
  let description = [{
    A function that stores elements into an argument and has stored what was there at every return gets a copy,
    `f.back`, which returns the argument behind its results, if a caller in the module goes on with what it gives it.
    Such a caller goes on with what it is given back, so that stores are in place on both sides. What was there is known
    where it was read before (`var old = x[i]`), or compared (`if x[i] == 0`).

    Before: `%y = toy.element_store %x, %p, %i; %r = call @f(%y); %z = toy.element_store %y, %zero, %i`. After: `%r:2 =
    call @f.back(%y); %z = toy.element_store %r#1, %zero, %i`. Requires: elements are `toy.element` and
    `toy.element_store`. Guarantees: functions that others may call keep their signatures.
  }];
}

def PlaceUnique : Pass<"toy-place-unique", "::mlir::func::FuncOp"> {
  let summary = "stores elements in place";
  let description = [{
    Every `toy.element_store` becomes a `toy.element_set` of a value that nobody else holds: one that was made here, or
    a `toy.unique`, which stands before the outermost loop in which the value gets no second name. Values that loops
    only hand on are no longer arguments of their blocks. A fill all of whose uses are made unique is filled for each.
    What is read from a list, stored into and put back changes in the list, which is made unique in the same way
    (`toy.list_unique`, `toy.list_own`); elements of lists that are the same in all turns are found before loops.

    Before: `^loop(%x): %y = toy.element_store %x, %v, %i; cf.br ^loop(%y)`. After: `%u = toy.unique %x0; ^loop:
    toy.element_set %u, %v, %i; cf.br ^loop`. Requires: the last pass before code is emitted: values change from here
    on.
  }];
  let options = [Option<"device", "device", "bool", "false", "There is a device: elements of lists may be there, and "
      "do not change in their list.">];
  let dependentDialects = ["::toy::ToyDialect", "::mlir::cf::ControlFlowDialect"];
}

def HoistStrings : Pass<"toy-hoist-strings", "::mlir::func::FuncOp"> {
  let summary = "makes strings that are written in loops before them";
  let description = [{
    A `toy.str_constant` moves to the end of the block that is passed before the outermost loop around it: strings never
    change, so one is counted once more where it is stored.

    Before: `^loop: %s = toy.str_constant "a"; %ys = toy.list_append %xs, %s`. After: `%s = toy.str_constant "a"; ^loop:
    %ys = toy.list_append %xs, %s`. Requires: nothing. Guarantees: the same strings.
  }];
  let dependentDialects = ["::toy::ToyDialect"];
}

def LeaveUnwritten : Pass<"toy-leave-unwritten", "::mlir::func::FuncOp"> {
  let summary = "leaves out numbers that loops overwrite";
  let description = [{
    A tensor that is filled with one number becomes `unwritten` where loops from 0 on, one for each axis, store each
    element in each turn, and nothing else asks for elements before these loops have come to their end. What fails or is
    interrupted before that takes the tensor with it.

    Before: `toy.full %zero, %n`. After: `toy.full %zero, %n {unwritten}`. Requires: `toy-place-unique`.
  }];
}

def StripLoops : Pass<"toy-strip-loops", "::mlir::func::FuncOp"> {
  let summary = "says which counted loops run in strips, and which turn by turn";
  let description = [{
    The way back of a loop that counts by 1 to a bound and calls nothing gets `toy.bare`: Ctrl-C is not looked for at
    each turn. With `toy.strip = N` it is looked for once in N turns, 16,384 at most. A loop from a known start to a
    known bound, of which all turns together are no more than that, needs none, and the turns of loops inside count as
    those of the loop around them, whose strips are shorter.

    Before: `cf.br ^h(%j)`. After: `cf.br ^h(%j) {toy.bare, toy.strip = 16384 : i64}`. Requires: sums that do not wrap
    have `toy.exact`. The loops stay as they are.

    A loop of at most eight turns that divides integers by what a turn makes of constants and of the turn before (the
    digits of a radix sort) gets `toy.unroll`: with code for each turn the divisors are constants.
  }];
}

def HoldShortRows : Pass<"toy-hold-short-rows", "::mlir::func::FuncOp"> {
  let summary = "keeps short rows of unknown length in registers";
  let description = [{
    A loop whose groups make rows (tensors of one axis) of a size that is known when the loop begins becomes three, or
    four if it is small. In all but the last, for rows of at most 8, 16 and 32 elements, the groups are marked
    `toy.lanes`: their rows, operands as well as results, are vectors in registers, and their last operand is the number
    of elements. Rows that come from memory, and rows that are used behind the loop, go through groups of their own on
    the ways in and out (`toy.leaves_lanes`: the result is in memory); so does a row that something else in the loop
    needs in memory. The last loop is as before. Where the length is a number up to 32, all this is done in the loop
    itself, also for folds of rows that lie in memory.

    Part of it are groups whose rows vectors compute as scalars do. A row whose elements are stored into stays in
    memory. The loop has one way in, one block behind it, and at most 600 operations, all such loops of a function at
    most 2,000.

    Before: `%d = toy.fused %x, %j, … -> !toy.tensor<f64[D]>`, `%r = toy.fused %d -> !toy.tensor<f64[]>` in a
    loop. After: tests of the size, copies of the loop with `%d = toy.fused %x, %j, …, %n {toy.lanes = 8 :
    i64}`, and the loop. Requires: groups are final. Guarantees: results keep their bits, lanes behind the end
    of a row are in none.
  }];
}

def ReportLoops : Pass<"toy-report-loops", "::mlir::func::FuncOp"> {
  let summary = "says what loops over elements pay in each turn";
  let description = [{
    A remark for each `toy.unique` and each library call in a loop, each `toy.check_index` in an innermost one, and each
    loop over elements that does not run in strips.
  }];
}

def SinkPermutes : Pass<"toy-sink-permutes", "::mlir::func::FuncOp"> {
  let summary = "permutes what is computed instead of what it is computed from";
  let description = [{
    Elements of operands that are permuted alike, reductions that fold them in the same order (or any), and sorts are
    computed as the operands lie in memory; one result is permuted in their place, or nothing.

    Before:
    ```mlir
    %x = toy.permute %a {permutation = array<i64: 1, 0>} : ...
    %y = toy.permute %b {permutation = array<i64: 1, 0>} : ...
    %r = toy.add %x, %y : ...
    ```
    After:
    ```mlir
    %s = toy.add %a, %b : ...
    %r = toy.permute %s {permutation = array<i64: 1, 0>} : ...
    ```
    Requires: products are selected. Guarantees: the same bits.
  }];
  let dependentDialects = ["::toy::ToyDialect"];
}

def FuseElementwise : Pass<"toy-fuse", "::mlir::func::FuncOp"> {
  let summary = "groups operations that become one loop nest";
  let description = [{
    Elementwise operations, index maps and reductions are moved into `toy.fused` groups. A producer joins its consumer's
    group when the consumer reads each of its elements at most once (equal shapes, or through an index map that does not
    repeat), so nothing is computed twice and no temporary is stored; index maps join every consumer. A reduction ends a
    group. Casts from and to halves move through views of pairs, so that halves are read and written as they are. Sizes
    of results are asked of operands that have them, so that a question keeps nothing stored. In loops, with `rows`, a
    row `a[i]` is read where it lies, unless something is stored into the tensor before, and a group that ends in one
    number, or in sums along a vector (`toy.cumsum`), is marked `toy.inLoop`: it becomes code of the loop.

    Before:
    ```mlir
    %p = toy.mul %a, %b : ...
    %r = toy.add %p, %c : ...
    ```
    After:
    ```mlir
    %r = toy.fused %a, %b, %c : ... { %p = toy.mul ...  %r = toy.add ...  toy.yield %r }
    ```
    Requires: nothing. Guarantees: every ranked elementwise operation, index map and reduction is inside a group.
  }];
  let options = [Option<"fuse", "fuse", "bool", "true", "Join producers; without it every operation is its own "
      "group.">,
                 Option<"rows", "rows", "bool", "true", "Read rows in place, in loops: the host's.">];
  let dependentDialects = ["::toy::ToyDialect"];
}

def RematerializeProducers : Pass<"toy-rematerialize-producers", "::mlir::func::FuncOp"> {
  let summary = "computes parts and casts where they are read";
  let description = [{
    `toy.fused` groups of nothing but real, imag, complex, conj and cast join every group that reads them, also where
    elements are read more than once: on a device a launch costs more. Groups that something else reads are left alone.

    Before: `%c = toy.fused %w { real }`, `%r = toy.fused %x, %c { mul }`. After: `%r = toy.fused %x, %w { real, mul }`.
    Requires: `toy-fuse`. Guarantees: results keep their bits.
  }];
  let dependentDialects = ["::toy::ToyDialect"];
}

def MergeAxes : Pass<"toy-merge-axes", "::mlir::func::FuncOp"> {
  let summary = "groups see neighbouring axes that all their values share as one";
  let description = [{
    A `toy.fused` group of operations on elements and reductions gets its operands as views (`toy.reshape`) in which
    neighbouring axes are one, where every value of the group has both axes or neither, both are reduced or neither,
    and their sizes are known: loops are longer, and no index is divided. Groups of few elements are left alone.

    Before: `%s = toy.fused %x { sum over axes 0, 2, 3 }` of f64[16, 32, 28, 28].
    After: the sum over axes 0 and 2 of the f64[16, 32, 784] that are the same elements.
    Requires: `toy-fuse`. Guarantees: results keep their bits.
  }];
  let dependentDialects = ["::toy::ToyDialect"];
}

def FuseRowReductions : Pass<"toy-fuse-row-reductions", "::mlir::func::FuncOp"> {
  let summary = "groups rows with the reductions that they are computed from";
  let description = [{
    A `toy.fused` group whose rows (along its last axis) are computed from sums or maxima of the same rows becomes a
    group of groups with all that nobody reads before it: softmax and the norms are one kernel of a device, which reads
    its operands and writes its results once (long rows that are few stay kernels of their own). What is read later,
    such as the sum of a norm with residual, is a further result. A vector is one row: it is left alone unless it is
    known to be short.

    On the host, `behind-sums` groups what follows a sum over ranks: the loops of such a group go over memory together,
    some rows at a time.

    Before: `%m = toy.fused %x { max }`, `%e = toy.fused %x, %m { exp(x - m) }`, `%s = toy.fused %e { sum }`, `%r =
    toy.fused %e, %s { div }`.
    After: `%r = toy.fused %x { these four }`.
    Requires: `toy-fuse`. Guarantees: results keep their bits.
  }];
  let options = [Option<"behindSums", "behind-sums", "bool", "false", "only what reads a sum over ranks">];
  let dependentDialects = ["::toy::ToyDialect"];
}

def SelectKernels : Pass<"toy-select-kernels", "::mlir::func::FuncOp"> {
  let summary = "chooses library kernels and folds what they can read in place";
  let description = [{
    A matrix product becomes `toy.gemm`; permutations, slices, unit axes and conjugations of its operands become strided
    views.

    Before: `%t = toy.permute %b {permutation = array<i64: 1, 0>}`, `%r = toy.matmul %a, %t`.
    After: `%r = toy.gemm %a, %b {rhsAxes = array<i64: 1, 0>, ...}`. With `relaxed` so do real scalars, of operands and
    of the result: `t * (a @ b)` and `(t * a) @ b` become `toy.gemm %a, %b, %t`. A complex product of factors that exist
    by parts, with a result that is used by parts, becomes `toy.planar_gemm`.
    Guarantees: no `toy.matmul` is left.
  }];
  let options = [Option<"strategy", "strategy", "std::string", "\"auto\"",
      "How complex products are computed: auto, native, four-real, gauss.">,
                 Option<"relaxed", "relaxed", "bool", "false", "Real scalars are multiplied into products: one "
                     "rounding less, elsewhere.">,
                 Option<"halves", "halves", "bool", "false", "Products read halves as they are, where both factors "
                     "are of one type of halves; for devices.">];
  let dependentDialects = ["::toy::ToyDialect"];
}

def ConvertToyToLinalg : Pass<"convert-toy-to-linalg", "::mlir::ModuleOp"> {
  let summary = "the unpacked program in upstream dialects, which mlir-opt lowers and mlir-runner runs";
  let description = [{
    Tensors are builtin ones with `?` for sizes that are names, scalars are numbers. Elementwise operations are
    `linalg.generic` with `arith` and `math` in it, products `linalg.matmul` and its like, slices
    `tensor.extract_slice`, blocks become `scf`, checks `cf.assert`; `toy.print` calls the printing functions of
    MLIR's runner. One row an operation (`passes/linalg`); what has none (text, lists, files, sorting, LAPACK, random
    numbers, variables of the top level, complex values in packed form) is an error that names it.

    Before: `%r = toy.add %x, %y : f64[N], f64[]`. After: `linalg.generic` over `tensor<?xf64>` with `arith.addf`,
    which reads `%y` from around it.
    Requires: `toy-unpack-complex`. Guarantees: numbers as computed by the program, up to the rounding of functions and
    the order of sums; special values of complex functions are not C99's.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
      "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
}
#endif
