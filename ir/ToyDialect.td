// SPDX-License-Identifier: Apache-2.0
// The toy dialect: tensors with first-class complex elements and symbolic sizes, before any decision on how they are
// computed.
#ifndef TOY_DIALECT
#define TOY_DIALECT

include "mlir/IR/OpBase.td"

def Toy_Dialect : Dialect {
  let name = "toy";
  let summary = "The Toy language as SSA: dtyped tensors of static rank, strings, and effects";
  let description = [{
    Every value of the language is a `!toy.tensor` (rank 0 is a scalar) or a `!toy.str`; tuples and structs are
    flattened before. Control flow is `cf`, functions are `func`. Operations have value semantics: none writes to an
    operand. Shape and dtype rules live with the operations behind `TypeRuleOpInterface`, which IR generation, the
    verifier and the passes share.
  }];
  let cppNamespace = "::toy";
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute, ::mlir::DialectAsmPrinter &printer) const override;
  }];
}
#endif
