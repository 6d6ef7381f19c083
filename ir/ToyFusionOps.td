// SPDX-License-Identifier: Apache-2.0
// A group of operations that becomes one loop nest.
#ifndef TOY_FUSION_OPS
#define TOY_FUSION_OPS

include "ir/ToyInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def FusedOp : Op<Toy_Dialect, "fused", [IsolatedFromAbove, Pure]> {
  let summary = "operations computed together, element by element, in one loop nest";
  let description = [{
    The body is a graph of toy operations over the operands; only what is yielded is stored. All results have the same sizes, unless the
    group ends in a reduction. Made by `toy-fuse`, consumed by the kernel emitter.

    ```mlir
    %r = toy.fused %a, %b : (!toy.tensor<c64[N]>, !toy.tensor<c64[N]>) -> !toy.tensor<c64[N]> {
    ^bb0(%x: !toy.tensor<c64[N]>, %y: !toy.tensor<c64[N]>):
      %p = toy.mul %x, %y : (!toy.tensor<c64[N]>, !toy.tensor<c64[N]>) -> !toy.tensor<c64[N]>
      toy.yield %p : (!toy.tensor<c64[N]>) -> ()
    }
    ```
  }];
  let arguments = (ins Variadic<Toy_Tensor>:$inputs);
  let results = (outs Variadic<Toy_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $body";
  let hasVerifier = 1;
}

def GemmOp : Toy_Op<"gemm", "declared", [Pure]> {
  let summary = "a matrix product as BLAS computes it, operands read transposed or conjugated in place";
  let description = [{
    As `toy.matmul`, after transposes of the last two axes and conjugations of its operands were taken into flags: no copy is made of them.

    ```mlir
    %r = toy.gemm %a, %b {lhsTransposed = false, lhsConjugated = false, rhsTransposed = true, rhsConjugated = true}
        : (!toy.tensor<c64[2, 3]>, !toy.tensor<c64[4, 3]>) -> !toy.tensor<c64[2, 4]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$lhs, Toy_Tensor:$rhs, BoolAttr:$lhsTransposed, BoolAttr:$lhsConjugated, BoolAttr:$rhsTransposed,
                       BoolAttr:$rhsConjugated);
  let results = (outs Toy_Tensor:$result);
}

def YieldOp : Op<Toy_Dialect, "yield", [Pure, Terminator, ReturnLike, HasParent<"FusedOp">]> {
  let summary = "what a fused group stores";
  let description = "```mlir\ntoy.yield %p : (!toy.tensor<c64[N]>) -> ()\n```";
  let arguments = (ins Variadic<Toy_Tensor>:$values);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
#endif
