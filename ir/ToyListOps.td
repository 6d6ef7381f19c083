// SPDX-License-Identifier: Apache-2.0
// Lists of values of one type, and what text has beside joining: a list is changed in place where nobody else holds it.
#ifndef TOY_LIST_OPS
#define TOY_LIST_OPS

include "ir/ToyInterfaces.td"

def ListOp : Toy_Op<"list", "declared", [Pure]> {
  let summary = "a list of values";
  let description = "```mlir\n%xs = toy.list %a, %b : (!toy.str, !toy.str) -> !toy.list<!toy.str>\n```";
  let arguments = (ins Variadic<Toy_Any>:$values);
  let results = (outs Toy_List:$result);
}
def ListLenOp : Toy_Op<"list_len", "indexScalar", [Pure]> {
  let summary = "the number of elements";
  let description = "```mlir\n%n = toy.list_len %xs : (!toy.list<!toy.str>) -> !toy.tensor<i64[]>\n```";
  let arguments = (ins Toy_List:$list);
  let results = (outs Toy_Index:$result);
}
def ListElementOp : Toy_Op<"list_element", "listElement", [Pure]> {
  let summary = "an element of a list";
  let description = "The index is already checked. Where it is `changed`, it is changed in the list, which "
      "`toy.list_own` stands before.\n```mlir\n%x = toy.list_element %xs, %i : (!toy.list<!toy.str>, "
      "!toy.tensor<i64[]>) -> !toy.str\n```";
  let arguments = (ins Toy_List:$list, Toy_Index:$index, UnitAttr:$changed);
  let results = (outs Toy_Any:$result);
}
def ListAppendOp : Toy_Op<"list_append", "listAppended", [Pure]> {
  let summary = "a list with one more element";
  let description = [{
    Takes the list over where it is used for the last time: n of them take time for n elements.

    ```mlir
    %ys = toy.list_append %xs, %x : (!toy.list<!toy.str>, !toy.str) -> !toy.list<!toy.str>
    ```
  }];
  let arguments = (ins Toy_List:$list, Toy_Any:$value);
  let results = (outs Toy_List:$result);
}
def ListSetOp : Toy_Op<"list_set", "listAppended", [Pure]> {
  let summary = "a list with another element at an index";
  let description = "The index is already checked.\n```mlir\n%ys = toy.list_set %xs, %i, %x : (!toy.list<!toy.str>, "
      "!toy.tensor<i64[]>, !toy.str) -> !toy.list<!toy.str>\n```";
  let arguments = (ins Toy_List:$list, Toy_Index:$index, Toy_Any:$value);
  let results = (outs Toy_List:$result);
}
def ListUniqueOp : Toy_Op<"list_unique", "sameList", [Toy_Effect]> {
  let summary = "the operand as a list that nobody else holds";
  let description = "As `toy.unique`.\n```mlir\n%ys = toy.list_unique %xs : (!toy.list<!toy.str>) -> "
      "!toy.list<!toy.str>\n```";
  let arguments = (ins Toy_List:$list);
  let results = (outs Toy_List:$result);
}
def ListOwnOp : Toy_Op<"list_own", "ownedElement", [Toy_Effect]> {
  let summary = "an element that is about to change in its list";
  let description = [{
    In a list that nobody else holds. An element that somebody else holds, too, gets a copy in its place; then the same
    of an element of that element, for each further index. An index outside is let pass, unless `inside` says that there
    is none.

    ```mlir
    toy.list_own %xs, %i {inside} : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>) -> ()
    ```
  }];
  let arguments = (ins Toy_List:$list, Variadic<Toy_Index>:$indices, UnitAttr:$inside);
}
def ListSliceOp : Toy_Op<"list_slice", "sameList", [Pure]> {
  let summary = "elements of a list from a start, by a step";
  let description = "Bounds are already checked.\n```mlir\n%ys = toy.list_slice %xs, %start, %count, %step : "
      "(!toy.list<!toy.str>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.list<!toy.str>\n```";
  let arguments = (ins Toy_List:$list, Toy_Index:$start, Toy_Index:$count, Toy_Index:$step);
  let results = (outs Toy_List:$result);
}
def ListConcatOp : Toy_Op<"list_concat", "listsJoined", [Pure]> {
  let summary = "the elements of two lists";
  let description = "```mlir\n%zs = toy.list_concat %xs, %ys : (!toy.list<!toy.str>, !toy.list<!toy.str>) -> "
      "!toy.list<!toy.str>\n```";
  let arguments = (ins Toy_List:$list, Toy_List:$other);
  let results = (outs Toy_List:$result);
}
def ListEqOp : Toy_Op<"list_eq", "listsEqual", [Pure]> {
  let summary = "whether two lists are equal";
  let description = "They have one length and equal elements; tensors are equal if their sizes and elements are.\n"
      "```mlir\n%r = toy.list_eq %xs, %ys : (!toy.list<!toy.str>, !toy.list<!toy.str>) -> !toy.tensor<bool[]>\n```";
  let arguments = (ins Toy_List:$lhs, Toy_List:$rhs);
  let results = (outs Toy_Bool:$result);
}
def ListSortOp : Toy_Op<"list_sort", "listSorted", [Pure]> {
  let summary = "the elements in order: numbers with nan last, strings by their bytes";
  let description = "Equal elements stay in order.\n```mlir\n%ys = toy.list_sort %xs {descending = false} : "
      "(!toy.list<!toy.str>) -> !toy.list<!toy.str>\n```";
  let arguments = (ins Toy_List:$list, BoolAttr:$descending);
  let results = (outs Toy_List:$result);
}
def ListJoinOp : Toy_Op<"list_join", "listJoined", [Toy_Effect]> {
  let summary = "the tensors of a list as one tensor";
  let description = [{
    Along a new first axis if `stacks`, else along `axis`. Sizes that do not fit are an error, and so is an empty list
    whose result has other sizes than the number of elements.

    ```mlir
    %x = toy.list_join %xs {axis = 0, stacks = true} : (!toy.list<!toy.tensor<f64["?"]>>) -> !toy.tensor<f64[n, m]>
    ```
  }];
  let arguments = (ins Toy_List:$list, I64Attr:$axis, BoolAttr:$stacks);
  let results = (outs Toy_Tensor:$result);
}
def TextOp : Toy_Op<"text", "textFunction", [Toy_Effect]> {
  let summary = "a function of text: a row of ir/Text.def";
  let description = "```mlir\n%words = toy.text %s, %sep {function = \"split\"} : (!toy.str, !toy.str) -> "
      "!toy.list<!toy.str>\n```";
  let arguments = (ins Variadic<Toy_Any>:$arguments, StrAttr:$function);
  let results = (outs Toy_Any:$result);
}
#endif
