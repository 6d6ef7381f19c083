// SPDX-License-Identifier: Apache-2.0
// Indexing by data, and updates: an update consumes a value and gives the changed one, in place when nobody else holds
// it.
#ifndef TOY_INDEXING_OPS
#define TOY_INDEXING_OPS

include "ir/ToyInterfaces.td"

def TakeOp : Toy_Op<"take", "taken", [Toy_Effect, Toy_PartWise]> {
  let summary = "elements at integer positions, NumPy's integer-array indexing";
  let description = [{
    `axes` (ascending, consecutive) of `x` are indexed by as many integer tensors, which broadcast together; their axes
    stand in place of the indexed ones. Negative positions count from the end; a position outside is an error.

    ```mlir
    %r = toy.take %x, %i {axes = array<i64: 0>} : (!toy.tensor<f64[N, 3]>, !toy.tensor<i64[K]>)
      -> !toy.tensor<f64[K, 3]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Variadic<Toy_Tensor>:$indices, DenseI64ArrayAttr:$axes);
  let results = (outs Toy_Tensor:$result);
}

def TakeAlongOp : Toy_Op<"take_along", "takenAlong", [Toy_Effect, Toy_PartWise]> {
  let summary = "one element for each position along an axis (PyTorch's gather)";
  let description = [{
    `r[i, j] = x[i, index[i, j]]` for axis 1. Ranks are equal; positions as for `take`.

    ```mlir
    %r = toy.take_along %x, %i {axis = 1 : i64} : (!toy.tensor<f64[N, 3]>, !toy.tensor<i64[N, 2]>)
      -> !toy.tensor<f64[N, 2]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Toy_Tensor:$index, I64Attr:$axis);
  let results = (outs Toy_Tensor:$result);
}

def PutAlongOp : Toy_Op<"put_along", "putAlong", [Toy_Effect, Toy_PartWise]> {
  let summary = "the operand with elements replaced along an axis (PyTorch's scatter)";
  let description = [{
    `r[i, index[i, j]] = values[i, j]` for axis 1, in order, so the last of equal positions wins; the rest is `x`.

    ```mlir
    %r = toy.put_along %x, %i, %v {axis = 1 : i64}
        : (!toy.tensor<f64[N, 3]>, !toy.tensor<i64[N, 2]>, !toy.tensor<f64[N, 2]>) -> !toy.tensor<f64[N, 3]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Toy_Tensor:$index, Toy_Tensor:$values, I64Attr:$axis);
  let results = (outs Toy_Tensor:$result);
}

def MaskSelectOp : Toy_Op<"mask_select", "maskSelected", [Pure, Toy_PartWise]> {
  let summary = "the elements where a mask is true";
  let description = [{
    The mask has the leading sizes of `x`; its axes become one, whose size depends on the data.

    ```mlir
    %r = toy.mask_select %x, %m : (!toy.tensor<f64[N, 3]>, !toy.tensor<bool[N]>) -> !toy.tensor<f64[s0, 3]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Toy_Tensor:$mask);
  let results = (outs Toy_Tensor:$result);
}

def NonZeroOp : Toy_Op<"nonzero", "nonZeroPositions", [Pure, Toy_Computes]> {
  let summary = "positions of the elements that are not zero";
  let description = [{
    One row of i64 coordinates an element, in row-major order (PyTorch's layout).

    ```mlir
    %r = toy.nonzero %x : (!toy.tensor<f64[N, 3]>) -> !toy.tensor<i64[s0, 2]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x);
  let results = (outs Toy_Tensor:$result);
}

def SliceStoreOp : Toy_Op<"slice_store", "sliceStored", [Pure, Toy_PartWise]> {
  let summary = "the operand with a slice replaced";
  let description = [{
    `bounds` and `steps` as of `toy.slice`; `values` broadcasts to the slice. In place when nobody else holds `x`.

    ```mlir
    %r = toy.slice_store %x, %v, %start, %count {steps = array<i64: 1>}
        : (!toy.tensor<f64[N]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Toy_Tensor:$values, Variadic<Toy_Index>:$bounds, DenseI64ArrayAttr:$steps);
  let results = (outs Toy_Tensor:$result);
  let extraClassDeclaration = ruleMethod # [{
    ::mlir::ValueRange getStarts() { return getBounds().take_front(getSteps().size()); }
    ::mlir::ValueRange getCounts() { return getBounds().drop_front(getSteps().size()); }
  }];
}

def AppendOp : Toy_Op<"append", "rowAppended", [Pure, Toy_PartWise]> {
  let summary = "the operand with one more row, or element of a vector";
  let description = [{
    Takes the operand over where it is used for the last time: n of them take time for n rows.

    ```mlir
    %r = toy.append %x, %row : (!toy.tensor<f64[N, 3]>, !toy.tensor<f64[3]>) -> !toy.tensor<f64["N+1", 3]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Toy_Tensor:$row);
  let results = (outs Toy_Tensor:$result);
}

def ShortenOp : Toy_Op<"shorten", "shortened", [Pure, Toy_PartWise]> {
  let summary = "the first rows of the operand, or elements of a vector";
  let description = [{
    Takes the operand over where it is used for the last time, as `toy.append` does: nothing is copied. The count lies
    between 0 and the size.

    ```mlir
    %r = toy.shorten %x, %n : (!toy.tensor<f64[N, 3]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[M, 3]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Toy_Index:$count);
  let results = (outs Toy_Tensor:$result);
}

def TakeStoreOp : Toy_Op<"take_store", "takeStored", [Toy_Effect, Toy_PartWise]> {
  let summary = "the operand with elements at integer positions replaced";
  let description = [{
    Positions as of `toy.take`; `values` broadcasts to what `take` would give. The last of equal positions wins.

    ```mlir
    %r = toy.take_store %x, %v, %i {axes = array<i64: 0>}
        : (!toy.tensor<f64[N]>, !toy.tensor<f64[K]>, !toy.tensor<i64[K]>) -> !toy.tensor<f64[N]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Toy_Tensor:$values, Variadic<Toy_Tensor>:$indices, DenseI64ArrayAttr:$axes);
  let results = (outs Toy_Tensor:$result);
}

def MaskStoreOp : Toy_Op<"mask_store", "maskStored", [Toy_Effect, Toy_PartWise]> {
  let summary = "the operand with the elements under a mask replaced";
  let description = [{
    `values` is one element for each true of the mask, in order (a wrong number is an error), or a scalar.

    ```mlir
    %r = toy.mask_store %x, %m, %v : (!toy.tensor<f64[N]>, !toy.tensor<bool[N]>, !toy.tensor<f64[K]>)
      -> !toy.tensor<f64[N]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Toy_Tensor:$mask, Toy_Tensor:$values);
  let results = (outs Toy_Tensor:$result);
}

def ElementOp : Toy_Op<"element", "elementTaken", [Pure, Toy_PartWise]> {
  let summary = "one element as a scalar";
  let description = [{
    One index an axis; indices lie inside (`toy.check_index` stands before them). `toy-access-elements` makes it from a
    slice of one element.

    ```mlir
    %r = toy.element %x, %i, %j : (!toy.tensor<f64[N, M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Variadic<Toy_Index>:$indices);
  let results = (outs Toy_Tensor:$result);
}

def FromElementsOp : Toy_Op<"from_elements", "madeOfElements", [Pure]> {
  let summary = "a tensor of scalars";
  let description = [{
    Elements in row-major order, all sizes known.

    ```mlir
    %r = toy.from_elements %a, %b {sizes = array<i64: 2>} : (!toy.tensor<f64[]>, !toy.tensor<f64[]>)
      -> !toy.tensor<f64[2]>
    ```
  }];
  let arguments = (ins Variadic<Toy_Scalar>:$elements, DenseI64ArrayAttr:$sizes);
  let results = (outs Toy_Tensor:$result);
}

def ElementStoreOp : Toy_Op<"element_store", "elementStored", [Pure, Toy_PartWise]> {
  let summary = "the operand with one element replaced";
  let description = [{
    Indices as of `toy.element`. `toy-place-unique` turns it into `toy.element_set`.

    ```mlir
    %r = toy.element_store %x, %v, %i
        : (!toy.tensor<f64[N]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Toy_Tensor:$value, Variadic<Toy_Index>:$indices);
  let results = (outs Toy_Tensor:$result);
}

def UniqueOp : Toy_Op<"unique", "sameTensor", [Toy_Effect]> {
  let summary = "the operand as a value that nobody else holds";
  let description = [{
    The operand itself when this was its last use and nobody else holds it or its elements, else a copy.

    ```mlir
    %r = toy.unique %x : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x);
  let results = (outs Toy_Tensor:$result);
}

def ElementSetOp : Toy_Op<"element_set", "elementSet", [Toy_Effect]> {
  let summary = "writes one element of a value that nobody else holds";
  let description = [{
    After `toy-place-unique` only, which proves that no name has the value as it was before.

    ```mlir
    toy.element_set %x, %v, %i : (!toy.tensor<f64[N]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> ()
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Toy_Tensor:$value, Variadic<Toy_Index>:$indices);
}

def CheckIndexOp : Toy_Op<"check_index", "checkedIndex", [Toy_Effect]> {
  let summary = "an index counted from the front, checked";
  let description = [{
    Negative indices count from the end of an axis of `size` elements; an index outside is an error that names index,
    axis and size.

    ```mlir
    %i = toy.check_index %index, %size {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
    ```

    `toy-bound-indices` marks what it proves: `nonnegative`, an index is not counted from the end.
  }];
  let arguments = (ins Toy_Index:$index, Toy_Index:$size, I64Attr:$axis, UnitAttr:$nonnegative);
  let results = (outs Toy_Index:$result);
  let hasFolder = 1;
}

def CheckEqualOp : Toy_Op<"check_equal", "checked", [Toy_Effect]> {
  let summary = "an error unless two sizes are equal";
  let description = [{
    `what` names the sizes in the error.

    ```mlir
    toy.check_equal %a, %b {what = "sizes of axis 0"} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> ()
    ```
  }];
  let arguments = (ins Toy_Index:$lhs, Toy_Index:$rhs, StrAttr:$what);
}

def CheckSizeOp : Toy_Op<"check_size", "checkedSize", [Toy_Effect]> {
  let summary = "a size, checked not to be negative";
  let description = [{
    `name` is that of a declared size, for the error. With `reduced`, the name of a reduction over an axis of that size,
    0 is an error, too.

    ```mlir
    %n = toy.check_size %size : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
    ```
  }];
  let arguments = (ins Toy_Index:$size, OptionalAttr<StrAttr>:$name, OptionalAttr<StrAttr>:$reduced);
  let results = (outs Toy_Index:$result);
  let hasFolder = 1;
}
#endif
