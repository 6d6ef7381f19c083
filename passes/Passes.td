// SPDX-License-Identifier: Apache-2.0
// The passes of the toy dialect.
#ifndef TOY_PASSES
#define TOY_PASSES

include "mlir/Pass/PassBase.td"

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
