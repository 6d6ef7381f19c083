// SPDX-License-Identifier: Apache-2.0
// The passes of the toy dialect.
#ifndef TOY_PASSES
#define TOY_PASSES

include "mlir/Pass/PassBase.td"

def InlineFunctions : Pass<"toy-inline", "::mlir::ModuleOp"> {
  let summary = "puts straight-line functions in the place of their calls";
  let description = [{
    Calls inside user functions (those with `toy.name`) of functions with one block that do not recur. Sizes take the caller's names; names
    that only the callee has get new ones. Functions marked `toy.imported` are bodies of functions compiled elsewhere: what is not inlined of
    them becomes a declaration again. Private functions that nobody calls any more are erased.

    Before: `%r = call @square(%x)` with `@square(%a) { %p = toy.mul %a, %a; return %p }`. After: `%r = toy.mul %x, %x`.
    Requires: nothing. Guarantees: nothing about order of effects changes.
  }];
  let dependentDialects = ["::toy::ToyDialect"];
}

def FuseElementwise : Pass<"toy-fuse", "::mlir::func::FuncOp"> {
  let summary = "groups operations that become one loop nest";
  let description = [{
    Elementwise operations, index maps and reductions are moved into `toy.fused` groups. A producer joins its consumer's group when the consumer reads
    each of its elements at most once (equal shapes, or through an index map that does not repeat), so nothing is computed twice and no
    temporary is stored; index maps join every consumer. A reduction ends a group.

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
  let options = [Option<"fuse", "fuse", "bool", "true", "Join producers; without it every operation is its own group.">];
  let dependentDialects = ["::toy::ToyDialect"];
}

def SelectKernels : Pass<"toy-select-kernels", "::mlir::func::FuncOp"> {
  let summary = "chooses library kernels and folds what they can read in place";
  let description = [{
    A matrix product becomes `toy.gemm`; permutations, slices, unit axes and conjugations of its operands become strided views.

    Before: `%t = toy.permute %b {permutation = array<i64: 1, 0>}`, `%r = toy.matmul %a, %t`.
    After: `%r = toy.gemm %a, %b {rhsAxes = array<i64: 1, 0>, ...}`.
    Guarantees: no `toy.matmul` is left.
  }];
  let dependentDialects = ["::toy::ToyDialect"];
}
#endif
