// SPDX-License-Identifier: Apache-2.0
// Reductions, scans, sorting and matrix products.
#ifndef TOY_REDUCTION_OPS
#define TOY_REDUCTION_OPS

include "ir/ToyInterfaces.td"

// `axes` are sorted, unique and not negative; with keepdims the reduced axes stay as size 1.
class Toy_Reduce<string mnemonic, string rule, string summary_, string semantics, string from = "f64", string to = from,
                 list<Trait> traits = []> : Toy_Op<mnemonic, rule, traits # [Pure, Toy_Computes, Toy_Reduction]> {
  let summary = summary_;
  let description = semantics # "\n\n```mlir\n%r = toy." # mnemonic
      # " %x {axes = array<i64: 1>, keepdims = false} : (!toy.tensor<" # from # "[N, 8]>) -> !toy.tensor<" # to
          # "[N]>\n```\n";
  let arguments = (ins Toy_Tensor:$x, DenseI64ArrayAttr:$axes, BoolAttr:$keepdims);
  let results = (outs Toy_Tensor:$result);
}
def SumOp : Toy_Reduce<"sum", "sumReduction", "sum over axes",
    "bool sums to i64, other dtypes stay. The order is fixed (rule 12 of docs/reference), so results never depend on "
        "threads. Empty sums are 0.", "f64", "f64", [Toy_PartWise]>;
def ProdOp : Toy_Reduce<"prod", "sumReduction", "product over axes", "As `sum`; empty products are 1.">;
class Toy_Extremum<string mnemonic, string summary_> : Toy_Reduce<mnemonic, "orderReduction", summary_,
    "NaN if any is NaN. An empty axis is an error, or, with `orLeast`, gives what any element replaces: an infinity, "
        "or an end of the integers."> {
  let arguments = (ins Toy_Tensor:$x, DenseI64ArrayAttr:$axes, BoolAttr:$keepdims, UnitAttr:$orLeast);
}
def MaxOp : Toy_Extremum<"max", "largest element over axes">;
def MinOp : Toy_Extremum<"min", "smallest element over axes">;
def AnyOp : Toy_Reduce<"any", "boolReduction", "whether some element over axes is true",
    "On bool. False for empty axes.", "bool">;
def AllOp : Toy_Reduce<"all", "boolReduction", "whether every element over axes is true",
    "On bool. True for empty axes.", "bool">;
def ArgMaxOp : Toy_Reduce<"argmax", "argReduction", "index of the first largest element",
    "Over one axis; NaN counts as largest. i64.", "f64", "i64">;
def ArgMinOp : Toy_Reduce<"argmin", "argReduction", "index of the first smallest element",
    "Over one axis; NaN counts as smallest. i64.", "f64", "i64">;

class Toy_AlongAxis<string mnemonic, string rule, string summary_, string semantics, list<Trait> traits = []>
    : Toy_Op<mnemonic, rule, traits # [Pure, Toy_Computes]> {
  let summary = summary_;
  let description = semantics # "\n\n```mlir\n%r = toy." # mnemonic
      # " %x {axis = 0 : i64} : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>\n```\n";
  let arguments = (ins Toy_Tensor:$x, I64Attr:$axis);
  let results = (outs Toy_Tensor:$result);
}
def CumSumOp : Toy_AlongAxis<"cumsum", "scan", "running sum along an axis", "In order; bool gives i64.",
    [Toy_PartWise]>;
def CumProdOp : Toy_AlongAxis<"cumprod", "scan", "running product along an axis", "In order; bool gives i64.">;

def SortOp : Toy_Op<"sort", "sorted", [Pure, Toy_Computes]> {
  let summary = "elements in order along an axis";
  let description = [{
    Stable, ascending unless `descending`; NaN last. Complex values are not ordered. With a `part`, two i64 scalars, the
    result has only those elements of the order: its begin, and how many, which are there.

    ```mlir
    %r = toy.sort %x {axis = 0 : i64, descending = false} : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Variadic<Toy_Index>:$part, I64Attr:$axis, BoolAttr:$descending);
  let results = (outs Toy_Tensor:$result);
}
def ArgSortOp : Toy_Op<"argsort", "argSorted", [Pure, Toy_Computes]> {
  let summary = "indices that sort along an axis";
  let description = [{
    As `sort`, i64.

    ```mlir
    %r = toy.argsort %x {axis = 0 : i64, descending = false} : (!toy.tensor<f64[N]>) -> !toy.tensor<i64[N]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, Variadic<Toy_Index>:$part, I64Attr:$axis, BoolAttr:$descending);
  let results = (outs Toy_Tensor:$result);
}

def MatMulOp : Toy_Op<"matmul", "matrixProduct", [Pure, Toy_Computes]> {
  let summary = "matrix product with NumPy's rank rules";
  let description = [{
    `[..., m, k] @ [..., k, n]`; leading axes broadcast; a vector on the left is a row, on the right a column, and that
    axis is dropped. Never conjugates. Complex products are the four-product form up to the order of summation;
    `strategy` (optional) is one of `auto`, `native`, `four-real`, `gauss`, and counts for complex operands only.

    ```mlir
    %r = toy.matmul %a, %b : (!toy.tensor<c64[2, 3]>, !toy.tensor<c64[3, 4]>) -> !toy.tensor<c64[2, 4]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$lhs, Toy_Tensor:$rhs, OptionalAttr<StrAttr>:$strategy);
  let results = (outs Toy_Tensor:$result);
}
#endif
