// SPDX-License-Identifier: Apache-2.0
// A group of operations that becomes one loop nest.
#ifndef TOY_FUSION_OPS
#define TOY_FUSION_OPS

include "ir/ToyInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def FusedOp : Op<Toy_Dialect, "fused", [IsolatedFromAbove, Pure]> {
  let summary = "operations computed together, element by element, in one loop nest";
  let description = [{
    The body is a graph of toy operations over the operands; only what is yielded, one value, is stored. Made by
    `toy-fuse`, consumed by the kernel emitter. A body of `toy.fused` groups (made by `toy-fuse-row-reductions`) is one
    kernel of a device, with a warp for each row, and may yield several values: rows, of one length, and what was
    reduced from them (of length 1). Where the runtime says that this does not pay, its groups are computed one after
    the other.

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

def GemmOp : Toy_Op<"gemm", "declared", [Pure, AttrSizedOperandSegments]> {
  let summary = "a matrix product as BLAS computes it, operands read in place through strided views";
  let description = [{
    As `toy.matmul`, after permutations, slices, unit axes and conjugations of its operands were taken into views: what
    BLAS can address is not copied. Axis i of an operand's view is axis `axes[i]` of the operand, or an axis of size 1
    where that is -1. With `bounds` (as `toy.slice` has them: starts, then counts) the view holds every `steps[a]`-th
    element of axis a. `scale`, a real scalar, multiplies the product.

    ```mlir
    %r = toy.gemm %a, %b {lhsAxes = array<i64: 0, 1>, lhsConjugated = false, lhsSteps = array<i64>,
      operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>,
                          rhsAxes = array<i64: 1, 0>, rhsConjugated = true, rhsSteps = array<i64>}
        : (!toy.tensor<c64[2, 3]>, !toy.tensor<c64[4, 3]>) -> !toy.tensor<c64[2, 4]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$lhs, Toy_Tensor:$rhs, Variadic<Toy_Index>:$lhsBounds,
      Variadic<Toy_Index>:$rhsBounds, Optional<Toy_Tensor>:$scale,
                       DenseI64ArrayAttr:$lhsAxes, DenseI64ArrayAttr:$lhsSteps, BoolAttr:$lhsConjugated,
                       DenseI64ArrayAttr:$rhsAxes, DenseI64ArrayAttr:$rhsSteps, BoolAttr:$rhsConjugated);
  let results = (outs Toy_Tensor:$result);
}

def PlanarGemmOp : Toy_Op<"planar_gemm", "declared", [Pure]> {
  let summary = "a complex matrix product whose operands and result are real and imaginary parts";
  let description = [{
    `(a + ib) @ (c + id)` with NumPy's rank rules, each factor conjugated where its flag says so. `lhsAxes` and
    `rhsAxes` are the views of a and b, and of c and d, as `toy.gemm` has them. `strategy`: `auto`, `native`
    (interleaved for the complex kernel), `four-real`, or `gauss` (three real products; the error of a part is relative
    to the norm of the result), or `auto-parts`: as `auto`, but small products sum their parts as the program did.

    ```mlir
    %re, %im = toy.planar_gemm %a, %b, %c, %d {lhsAxes = array<i64: 0, 1>, lhsConjugated = false,
      rhsAxes = array<i64: 0, 1>, rhsConjugated = true, strategy = "auto"}
        : (!toy.tensor<f64[2, 3]>, !toy.tensor<f64[2, 3]>, !toy.tensor<f64[3, 4]>, !toy.tensor<f64[3, 4]>)
          -> (!toy.tensor<f64[2, 4]>, !toy.tensor<f64[2, 4]>)
    ```
  }];
  let arguments = (ins Toy_Tensor:$a, Toy_Tensor:$b, Toy_Tensor:$c, Toy_Tensor:$d, DenseI64ArrayAttr:$lhsAxes,
      BoolAttr:$lhsConjugated,
                       DenseI64ArrayAttr:$rhsAxes, BoolAttr:$rhsConjugated, StrAttr:$strategy);
  let results = (outs Toy_Tensor:$re, Toy_Tensor:$im);
}

def YieldOp : Op<Toy_Dialect, "yield", [Pure, Terminator, ReturnLike, HasParent<"FusedOp">]> {
  let summary = "what a fused group stores";
  let description = "```mlir\ntoy.yield %p : (!toy.tensor<c64[N]>) -> ()\n```";
  let arguments = (ins Variadic<Toy_Tensor>:$values);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
#endif
