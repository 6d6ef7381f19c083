// SPDX-License-Identifier: Apache-2.0
// Functions of the runtime's libraries: linear algebra and Fourier transforms.
#ifndef TOY_LIBRARY_OPS
#define TOY_LIBRARY_OPS

include "ir/ToyInterfaces.td"

def LibraryOp : Toy_Op<"call_library", "library", [Toy_Computes, Toy_Effect]> {
  let summary = "a function of the runtime's libraries";
  let description = [{
    `function` names a row of ir/Library.def, which gives its type rule; `parameters` are its constant integers (an
    axis, a flag). Leading axes are batches. What the data decides (a singular matrix) is an error when it runs.

    ```mlir
    %x = toy.call_library %a, %b {function = "solve", parameters = array<i64>}
      : (!toy.tensor<f64[3, 3]>, !toy.tensor<f64[3, 2]>) -> !toy.tensor<f64[3, 2]>
    ```
  }];
  let arguments = (ins Variadic<Toy_Any>:$arguments, StrAttr:$function, DenseI64ArrayAttr:$parameters);
  let results = (outs Variadic<Toy_Tensor>:$results);
}

def ExternOp : Toy_Op<"extern", "declared", [Toy_Effect]> {
  let summary = "a function of a user's library";
  let description = [{
    The first `count` operands are the arguments, the others the sizes of the results, one after the other.
    `resultTypes` has a dtype and a rank for each result: the types of what the function fills, in packed form as well.

    ```mlir
    %r = toy.extern %x, %n {name = "scale", library = "libmine.so", symbol = "scale", count = 1
      : i64, resultTypes = array<i64: 7, 1>} : (!toy.tensor<f64[N]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
    ```
  }];
  let arguments = (ins Variadic<Toy_Tensor>:$operands, StrAttr:$name, StrAttr:$library, StrAttr:$symbol,
      I64Attr:$count, DenseI64ArrayAttr:$resultTypes);
  let results = (outs Variadic<Toy_Tensor>:$results);
}

def SystemOp : Toy_Op<"system", "systemCall", [Toy_ElementEffect]> {
  let summary = "a function of the process and of errors";
  let description = [{
    `function` names a row of ir/System.def, which gives the kinds of operands and the type of the result.

    ```mlir
    %home = toy.system %name, %default {function = "env"} : (!toy.str, !toy.str) -> !toy.str
    ```
  }];
  let arguments = (ins Variadic<Toy_Any>:$arguments, StrAttr:$function);
  let results = (outs Variadic<Toy_Any>:$results);
}

def AbsentOp : Toy_Op<"absent", "declared", [Pure]> {
  let summary = "a value that nobody reads";
  let description = [{
    Stands where a type asks for a value on a path that has none: what a block behind `try` would have given if it had
    come to that end. A tensor has sizes of 0, whatever its type says, a scalar is 0, a string is empty.

    ```mlir
    %r = toy.absent : () -> !toy.tensor<f64[N]>
    ```
  }];
  let results = (outs Toy_Any:$result);
}
#endif
