// SPDX-License-Identifier: Apache-2.0
// Where values come from and go to: constants, makers, globals, strings, files and output.
#ifndef TOY_DATA_OPS
#define TOY_DATA_OPS

include "ir/ToyInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"

def ConstantOp : Toy_Op<"constant", "constantValue", [Pure, ConstantLike]> {
  let summary = "a literal";
  let description = [{
    The elements are a dense attribute of the corresponding builtin tensor type (bool as i1, u8 as ui8): exact bits,
    signed zeros and NaN kept.

    ```mlir
    %r = toy.constant {value = dense<(1.0, -0.0)> : tensor<complex<f64>>} : () -> !toy.tensor<c128[]>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Toy_Tensor:$result);
  let hasFolder = 1;
}

def FullOp : Toy_Op<"full", "filled", [Pure, Toy_IndexMap, Toy_PartWise]> {
  let summary = "a tensor filled with one value";
  let description = [{
    One size operand an axis. Of one that is `unwritten`, each element is stored before anybody reads it: compiled code
    leaves memory as it is.

    ```mlir
    %r = toy.full %value, %n : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
    ```
  }];
  let arguments = (ins Toy_Scalar:$value, Variadic<Toy_Index>:$sizes, UnitAttr:$unwritten);
  let results = (outs Toy_Tensor:$result);
}

def IotaOp : Toy_Op<"iota", "counted", [Pure, Toy_IndexMap]> {
  let summary = "0, 1, 2, …";
  let description = [{
    ```mlir
    %r = toy.iota %n : (!toy.tensor<i64[]>) -> !toy.tensor<i64[N]>
    ```
  }];
  let arguments = (ins Toy_Index:$size);
  let results = (outs Toy_Tensor:$result);
}

def NextKeyOp : Toy_Op<"next_key", "randomKey", [Toy_Effect]> {
  let summary = "the next key of the program's random numbers";
  let description = [{
    What `toy.seed` has set, and how many keys were taken since.

    ```mlir
    %k = toy.next_key : () -> !toy.tensor<i64[2]>
    ```
  }];
  let arguments = (ins);
  let results = (outs Toy_Tensor:$result);
}

def FoldInOp : Toy_Op<"fold_in", "foldedIn", [Pure]> {
  let summary = "a key for each integer, made of another key";
  let description = [{
    ```mlir
    %r = toy.fold_in %k, %i : (!toy.tensor<i64[2]>, !toy.tensor<i64[N]>) -> !toy.tensor<i64[N, 2]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$key, Toy_Tensor:$integers);
  let results = (outs Toy_Tensor:$result);
}

def SampleOp : Toy_Op<"sample", "sampled", [Pure]> {
  let summary = "random numbers of a distribution, the same for the same key and sizes";
  let description = [{
    Counter-based (Philox): element i depends on the key, i and its parameters, never on threads. `distribution` is a
    row of ir/Distributions.def; parameters (0 where it has none) are scalars or have the result's sizes. Complex normal
    numbers have unit variance in total. What is no parameter of the distribution gives anything: programs are checked
    before. With `in_parts` an element is made when `toy.read_part` takes it; nobody else looks at them.

    ```mlir
    %r = toy.sample %k, %a, %b, %n {distribution = "normal", dtype = "f64"} :
        (!toy.tensor<i64[2]>, !toy.tensor<f64[]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$key, Toy_Tensor:$a, Toy_Tensor:$b, Variadic<Toy_Index>:$sizes, StrAttr:$distribution,
                   StrAttr:$dtype, UnitAttr:$in_parts);
  let results = (outs Toy_Tensor:$result);
}

def DrawOp : Toy_Op<"draw", "drawn", [Toy_Effect]> {
  let summary = "a random number: `toy.sample` without sizes of what `toy.next_key` gives";
  let description = [{
    Without the tensors in between, for loops over elements.

    ```mlir
    %r = toy.draw %a, %b {distribution = "uniform", dtype = "f64"} :
        (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$a, Toy_Tensor:$b, StrAttr:$distribution, StrAttr:$dtype);
  let results = (outs Toy_Tensor:$result);
}

def PermutationOp : Toy_Op<"permutation", "randomOrder", [Pure]> {
  let summary = "the first of the integers below a number in random order";
  let description = [{
    ```mlir
    %r = toy.permutation %k, %n, %m : (!toy.tensor<i64[2]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>)
        -> !toy.tensor<i64[M]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$key, Toy_Index:$n, Toy_Index:$size);
  let results = (outs Toy_Tensor:$result);
}

def SeedOp : Toy_Op<"seed", "nothing", [Toy_Effect]> {
  let summary = "restarts the random numbers";
  let description = "```mlir\ntoy.seed %s : (!toy.tensor<i64[]>) -> ()\n```";
  let arguments = (ins Toy_Index:$seed);
}

def GlobalLoadOp : Toy_Op<"global_load", "declared", [MemoryEffects<[MemRead]>]> {
  let summary = "the latest value of a top-level variable";
  let description = [{
    `loaded` is what the statement has just found in a file; with `in_file` its elements are still there (`toy.load`).

    ```mlir
    %w = toy.global_load {name = "w"} : () -> !toy.tensor<f64[3]>
    ```
  }];
  let arguments = (ins StrAttr:$name, UnitAttr:$loaded, UnitAttr:$in_file);
  let results = (outs Toy_Any:$result);
}

def GlobalStoreOp : Toy_Op<"global_store", "nothing", [Toy_Effect]> {
  let summary = "gives a top-level variable a value";
  let description = "```mlir\ntoy.global_store %x {name = \"w\"} : (!toy.tensor<f64[3]>) -> ()\n```";
  let arguments = (ins Toy_Any:$value, StrAttr:$name);
}

def StrConstantOp : Toy_Op<"str_constant", "string", [Pure]> {
  let summary = "a literal string";
  let description = "```mlir\n%s = toy.str_constant {value = \"text\"} : () -> !toy.str\n```";
  let arguments = (ins StrAttr:$value);
  let results = (outs Toy_Str:$result);
}
def StrConcatOp : Toy_Op<"str_concat", "string", [Pure]> {
  let summary = "two strings joined";
  let description = "```mlir\n%s = toy.str_concat %a, %b : (!toy.str, !toy.str) -> !toy.str\n```";
  let arguments = (ins Toy_Str:$lhs, Toy_Str:$rhs);
  let results = (outs Toy_Str:$result);
}
def StrEqOp : Toy_Op<"str_eq", "boolScalar", [Pure]> {
  let summary = "whether two strings are equal";
  let description = "```mlir\n%r = toy.str_eq %a, %b : (!toy.str, !toy.str) -> !toy.tensor<bool[]>\n```";
  let arguments = (ins Toy_Str:$lhs, Toy_Str:$rhs);
  let results = (outs Toy_Bool:$result);
}
def StrLenOp : Toy_Op<"str_len", "indexScalar", [Pure]> {
  let summary = "bytes of a string";
  let description = "```mlir\n%n = toy.str_len %s : (!toy.str) -> !toy.tensor<i64[]>\n```";
  let arguments = (ins Toy_Str:$text);
  let results = (outs Toy_Index:$result);
}
def StrBytesOp : Toy_Op<"str_bytes", "bytesOfText", [Pure]> {
  let summary = "the bytes of a string";
  let description = "```mlir\n%r = toy.str_bytes %s : (!toy.str) -> !toy.tensor<u8[n]>\n```";
  let arguments = (ins Toy_Str:$text);
  let results = (outs Toy_Tensor:$result);
}
def StrSliceOp : Toy_Op<"str_slice", "string", [Pure]> {
  let summary = "bytes of a string from a start";
  let description = "Bounds are already checked.\n```mlir\n%r = toy.str_slice %s, %start, %count : (!toy.str, "
      "!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.str\n```";
  let arguments = (ins Toy_Str:$text, Toy_Index:$start, Toy_Index:$count);
  let results = (outs Toy_Str:$result);
}
def ToStrOp : Toy_Op<"to_str", "string", [Pure]> {
  let summary = "the text that print would show";
  let description = "```mlir\n%s = toy.to_str %x : (!toy.tensor<f64[]>) -> !toy.str\n```";
  let arguments = (ins Toy_Any:$value);
  let results = (outs Toy_Str:$result);
}
def FormatOp : Toy_Op<"format", "string", [Pure]> {
  let summary = "a format string";
  let description = [{
    One text before each field, and one behind the last. `structure` says how the operands group to values, as in
    `toy.print`; each value is followed by the numbers that stand for `{}` in its specification, which is Python's; an
    empty one gives the text of `print`, `"` the same with quotes around a string, `print {}` the text of `print` with
    that many digits.

    ```mlir
    %s = toy.format %x, %n {pieces = ["x = ", ""], specs = [">8.{}f"], structure = "_"}
      : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.str
    ```
  }];
  let arguments = (ins Variadic<Toy_Any>:$values, StrArrayAttr:$pieces, StrArrayAttr:$specs, StrAttr:$structure);
  let results = (outs Toy_Str:$result);
}
def ParseNumberOp : Toy_Op<"parse_number", "parsedNumber", [Toy_Effect]> {
  let summary = "a scalar read from text";
  let description = "Malformed text is an error.\n```mlir\n%x = toy.parse_number %s {dtype = \"f64\"} : (!toy.str) -> "
      "!toy.tensor<f64[]>\n```";
  let arguments = (ins Toy_Str:$text, StrAttr:$dtype);
  let results = (outs Toy_Tensor:$result);
}
def ArgCountOp : Toy_Op<"arg_count", "indexScalar", [Pure]> {
  let summary = "number of the script's arguments";
  let description = "```mlir\n%n = toy.arg_count : () -> !toy.tensor<i64[]>\n```";
  let results = (outs Toy_Index:$result);
}
def ArgOp : Toy_Op<"arg", "string", [Pure]> {
  let summary = "an argument of the script";
  let description = "The index is already checked.\n```mlir\n%s = toy.arg %i : (!toy.tensor<i64[]>) -> !toy.str\n```";
  let arguments = (ins Toy_Index:$index);
  let results = (outs Toy_Str:$result);
}

def PrintOp : Toy_Op<"print", "nothing", [Toy_Effect]> {
  let summary = "a line on standard output";
  let description = [{
    `structure` says how the flattened operands group: one JSON-like text per argument, `_` a leaf, `(_, _)` a tuple,
    `Pair{a: _, b: _}` a struct, `$6:fn sin` a text of 6 bytes; arguments are separated by `;`. With `echo` each
    argument is preceded by its header line. With `trace` it is a line of the prompt's `:trace`: `call`, a struct of a
    function's name and its parameters, or `return`, what it gives, if anything; such lines are only evaluated. `stop`
    is no line: the program may stop there, and the operands are the leaves of the variables of breakpoint `number`.

    ```mlir
    toy.print %a, %b {structure = "_;_", echo = false} : (!toy.tensor<f64[3]>, !toy.str) -> ()
    ```
  }];
  let arguments = (ins Variadic<Toy_Any>:$values, StrAttr:$structure, BoolAttr:$echo, OptionalAttr<StrAttr>:$trace);
}
def WriteOp : Toy_Op<"write", "nothing", [Toy_Effect]> {
  let summary = "a string's or u8 tensor's bytes on standard output, as they are";
  let description = "On standard error with `to_errors`.\n```mlir\ntoy.write %s : (!toy.str) -> ()\n```";
  let arguments = (ins Toy_Any:$value, UnitAttr:$to_errors);
}
def ProgressOp : Toy_Op<"progress", "nothing", [Toy_Effect]> {
  let summary = "how far a loop is, on the terminal";
  let description = [{
    A line on standard error that is drawn again, where that is a terminal; nothing elsewhere.

    ```mlir
    toy.progress %done, %total, %label : (!toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.str) -> ()
    ```
  }];
  let arguments = (ins Toy_Index:$done, Toy_Index:$total, Toy_Str:$label);
}
def UseOp : Toy_Op<"use", "nothing", [Toy_Effect]> {
  let summary = "a value that is computed although nothing reads it";
  let description = "What a statement of a lone expression leaves.\n```mlir\ntoy.use %x : (!toy.tensor<f64[3]>) -> "
      "()\n```";
  let arguments = (ins Variadic<Toy_Any>:$values);
}
def AssertOp : Toy_Op<"assert", "nothing", [Toy_Effect]> {
  let summary = "an error with a text unless a condition holds";
  let description = "```mlir\ntoy.assert %c, %text : (!toy.tensor<bool[]>, !toy.str) -> ()\n```";
  let arguments = (ins Toy_Bool:$condition, Toy_Str:$text);
}
def LoadOp : Toy_Op<"load", "declared", [Toy_Effect]> {
  let summary = "a tensor from a file";
  let description = [{
    The only array of the file, or the one with a name (unless that is empty). The result type is declared; sizes that
    are names become what the file has, everything else is checked. With `in_file` its elements stay there, for
    `toy.read_part`; nobody else looks at them.

    ```mlir
    %x = toy.load %path, %name : (!toy.str, !toy.str) -> !toy.tensor<f64[s0, 3]>
    ```
  }];
  let arguments = (ins Toy_Str:$path, Toy_Str:$name, UnitAttr:$in_file);
  let results = (outs Toy_Tensor:$result);
}
def ReadPartOp : Toy_Op<"read_part", "sliced", [Toy_Effect]> {
  let summary = "a slice of what is in a file, or of random numbers";
  let description = [{
    What `toy.slice` gives; of random numbers no others are made, and of the file no more is read and held, but for gaps
    of a few KiB. Where a file holds an array otherwise than memory does (compressed, by columns, as text), it is read
    as a whole.

    ```mlir
    %r = toy.read_part %x, %start, %count {steps = array<i64: 1>}
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
def SaveOp : Toy_Op<"save", "nothing", [Toy_Effect]> {
  let summary = "tensors, or columns of a table, to a file, atomically";
  let description = [{
    `names` has the arrays' names, separated by lines. Lists of strings are columns of a `.csv` file.

    ```mlir
    toy.save %path, %x {names = "x"} : (!toy.str, !toy.tensor<f64[3]>) -> ()
    ```
  }];
  let arguments = (ins Toy_Str:$path, Variadic<Toy_Any>:$values, StrAttr:$names);
}
def ReadBinaryOp : Toy_Op<"read_binary", "binaryRead", [Toy_Effect]> {
  let summary = "raw little-endian elements from a file at a byte offset";
  let description = [{
    ```mlir
    %x = toy.read_binary %path, %offset, %n {dtype = "f32"} : (!toy.str, !toy.tensor<i64[]>, !toy.tensor<i64[]>)
      -> !toy.tensor<f32[N]>
    ```
  }];
  let arguments = (ins Toy_Str:$path, Toy_Index:$offset, Variadic<Toy_Index>:$sizes, StrAttr:$dtype);
  let results = (outs Toy_Tensor:$result);
}
def ClockOp : Toy_Op<"clock", "floatScalar", [Toy_Effect]> {
  let summary = "seconds from a monotonic clock";
  let description = "```mlir\n%t = toy.clock : () -> !toy.tensor<f64[]>\n```";
  let results = (outs Toy_ScalarOf<"F64">:$result);
}

def TruthOp : Toy_Op<"truth", "truthValue", [Pure, Toy_Computes]> {
  let summary = "a bool scalar as the i1 that branches take";
  let description = "```mlir\n%c = toy.truth %b : (!toy.tensor<bool[]>) -> i1\n```";
  let arguments = (ins Toy_Bool:$x);
  let results = (outs I1:$result);
}
#endif
