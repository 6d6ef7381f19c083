// SPDX-License-Identifier: Apache-2.0
// Operations that only rearrange elements. Sizes that are values come as i64 scalars (`toy.dim`, constants and their
// sums and products keep their symbolic meaning).
#ifndef TOY_SHAPE_OPS
#define TOY_SHAPE_OPS

include "ir/ToyInterfaces.td"

def DimOp : Toy_Op<"dim", "sizeOfAxis", [Pure]> {
  let summary = "the size of an axis as an i64 scalar";
  let description = [{
    ```mlir
    %n = toy.dim %x {axis = 0 : i64} : (!toy.tensor<f64[N]>) -> !toy.tensor<i64[]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, I64Attr:$axis);
  let results = (outs Toy_Index:$result);
  let hasFolder = 1;
}

def Toy_Dim : Attr<CPred<"::toy::Dim::isDim($_self)">, "a size"> {
  let storageType = "::mlir::Attribute";
  let returnType = "::toy::Dim";
  let convertFromStorage = "::toy::Dim($_self)";
}

def SizeValueOp : Toy_Op<"size_value", "sizeComputed", [Pure]> {
  let summary = "an expression of sizes as an i64 scalar";
  let description = [{
    In `expr`, `$0`, `$1`, … stand for operands that are sizes, 0 or more, `$$0`, `$$1`, … for operands that may be any
    integers. It is an error if the computation leaves 64 bits.

    ```mlir
    %n = toy.size_value %a, %b {expr = #toy.dim<"max(0,$0-$1)">} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>)
      -> !toy.tensor<i64[]>
    ```
  }];
  let arguments = (ins Variadic<Toy_Index>:$symbols, Toy_Dim:$expr);
  let results = (outs Toy_Index:$result);
  let hasFolder = 1;
  let extraClassDeclaration = ruleMethod # [{
    /// The number of the operand that a name in the expression stands for.
    static std::optional<unsigned> operandOf(::llvm::StringRef name);
  }];
}

def RelabelOp : Toy_Op<"relabel", "declared", [Pure, Toy_PartWise]> {
  let summary = "the same value under other names for its sizes";
  let description = [{
    Where paths join and where functions are called, sizes change their names (or become numbers); nothing is computed.

    ```mlir
    %r = toy.relabel %x : (!toy.tensor<f64[128]>) -> !toy.tensor<f64[N]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x);
  let results = (outs Toy_Tensor:$result);
  let hasFolder = 1;
}

def ReshapeOp : Toy_Op<"reshape", "reshaped", [Pure, Toy_PartWise]> {
  let summary = "the same elements in row-major order under other sizes";
  let description = [{
    One size operand an axis. The element counts are equal: proved by the type rule where sizes are known, by a
    `toy.check_equal` before otherwise.

    ```mlir
    %r = toy.reshape %x, %n, %two : (!toy.tensor<f64["2*N"]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>)
      -> !toy.tensor<f64[N, 2]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Variadic<Toy_Index>:$sizes);
  let results = (outs Toy_Tensor:$result);
}

def PermuteOp : Toy_Op<"permute", "permuted", [Pure, Toy_IndexMap, Toy_PartWise]> {
  let summary = "axes in another order";
  let description = [{
    Axis i of the result is axis `permutation[i]` of the operand. Never conjugates.

    ```mlir
    %r = toy.permute %x {permutation = array<i64: 1, 0>} : (!toy.tensor<c64[2, N]>) -> !toy.tensor<c64[N, 2]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Toy_Tensor:$result);
  let hasFolder = 1;
}

def BroadcastOp : Toy_Op<"broadcast", "broadcasted", [Pure, Toy_IndexMap, Toy_PartWise]> {
  let summary = "repetition along axes of size 1 and new leading axes";
  let description = [{
    One size operand an axis of the result, NumPy's rules.

    ```mlir
    %r = toy.broadcast %x, %n, %three : (!toy.tensor<f64[3]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>)
      -> !toy.tensor<f64[N, 3]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Variadic<Toy_Index>:$sizes);
  let results = (outs Toy_Tensor:$result);
}

def SliceOp : Toy_Op<"slice", "sliced", [Pure, Toy_IndexMap, Toy_PartWise]> {
  let summary = "every k-th element from a start, on each axis";
  let description = [{
    `bounds` are the start of every axis, then the number of elements of every axis (i64 scalars); `steps` are not 0 and
    may be negative. All elements lie inside: IR generation clamps as Python does and puts `toy.check_index` before
    single indices.

    ```mlir
    %r = toy.slice %x, %start, %count {steps = array<i64: 1>}
      : (!toy.tensor<f64[N]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[4]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Variadic<Toy_Index>:$bounds, DenseI64ArrayAttr:$steps);
  let results = (outs Toy_Tensor:$result);
  let extraClassDeclaration = ruleMethod # [{
    ::mlir::ValueRange getStarts() { return getBounds().take_front(getSteps().size()); }
    ::mlir::ValueRange getCounts() { return getBounds().drop_front(getSteps().size()); }
  }];
}

def ConcatOp : Toy_Op<"concat", "concatenated", [Pure, Toy_IndexMap, Toy_PartWise]> {
  let summary = "operands one after the other along an axis";
  let description = [{
    All operands have one dtype, one rank, and equal sizes on the other axes.

    ```mlir
    %r = toy.concat %a, %b {axis = 0 : i64} : (!toy.tensor<f64[N]>, !toy.tensor<f64[3]>) -> !toy.tensor<f64["N+3"]>
    ```
  }];
  let arguments = (ins Variadic<Toy_Tensor>:$parts, I64Attr:$axis);
  let results = (outs Toy_Tensor:$result);
}

def PadOp : Toy_Op<"pad", "padded", [Pure, Toy_IndexMap, Toy_PartWise]> {
  let summary = "a constant around the elements";
  let description = [{
    `low` and `high` elements of the scalar `value` before and after each axis; none is negative.

    ```mlir
    %r = toy.pad %x, %zero {low = array<i64: 1>, high = array<i64: 2>} : (!toy.tensor<f64[N]>, !toy.tensor<f64[]>)
      -> !toy.tensor<f64["N+3"]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Toy_Scalar:$value, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Toy_Tensor:$result);
}

def DiagonalOp : Toy_Op<"diagonal", "diagonalOf", [Pure, Toy_IndexMap, Toy_PartWise]> {
  let summary = "a diagonal of the last two axes";
  let description = [{
    Element i is `x[..., i + max(-offset, 0), i + max(offset, 0)]`.

    ```mlir
    %r = toy.diagonal %x {offset = 0 : i64} : (!toy.tensor<f64[3, 3]>) -> !toy.tensor<f64[3]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, I64Attr:$offset);
  let results = (outs Toy_Tensor:$result);
}

def ViewAsRealOp : Toy_Op<"view_as_real", "viewedAsReal", [Pure, Toy_IndexMap]> {
  let summary = "a complex tensor as a real one with a last axis of 2";
  let description = [{
    Reinterprets memory: no element is copied.

    ```mlir
    %r = toy.view_as_real %z : (!toy.tensor<c64[N]>) -> !toy.tensor<f32[N, 2]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x);
  let results = (outs Toy_Tensor:$result);
  let hasFolder = 1;
}

def ViewAsComplexOp : Toy_Op<"view_as_complex", "viewedAsComplex", [Pure, Toy_IndexMap]> {
  let summary = "a real tensor with a last axis of 2 as a complex one";
  let description = [{
    Reinterprets memory: no element is copied.

    ```mlir
    %r = toy.view_as_complex %x : (!toy.tensor<f32[N, 2]>) -> !toy.tensor<c64[N]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x);
  let results = (outs Toy_Tensor:$result);
  let hasFolder = 1;
}

def PartOp : Toy_Op<"part", "partTaken", [Pure, Toy_IndexMap]> {
  let summary = "the real (0) or imaginary (1) parts of packed pairs";
  let description = [{
    ```mlir
    %re = toy.part %p {index = 0 : i64} : (!toy.tensor<f32[N, 2]>) -> !toy.tensor<f32[N]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, I64Attr:$index);
  let results = (outs Toy_Tensor:$result);
  let hasFolder = 1;
}

def PackOp : Toy_Op<"pack", "packedPair", [Pure, Toy_IndexMap]> {
  let summary = "real and imaginary parts side by side";
  let description = [{
    In memory this is what a complex tensor is.

    ```mlir
    %p = toy.pack %re, %im : (!toy.tensor<f32[N]>, !toy.tensor<f32[N]>) -> !toy.tensor<f32[N, 2]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$re, Toy_Tensor:$im);
  let results = (outs Toy_Tensor:$result);
}
#endif
