// SPDX-License-Identifier: Apache-2.0
// The types of the toy dialect.
#ifndef TOY_TYPES
#define TOY_TYPES

include "ir/ToyDialect.td"
include "mlir/IR/AttrTypeBase.td"

class Toy_Type<string name, string mnemonic_> : TypeDef<Toy_Dialect, name> {
  let mnemonic = mnemonic_;
}

def Toy_TensorType : Toy_Type<"Tensor", "tensor"> {
  let summary = "a dense tensor: dtype, and for each axis a size";
  let description = [{
    `!toy.tensor<c64[2, N, "2*M"]>`: the dtype is one of `bool u8 i32 i64 bf16 f16 f32 f64 c64 c128`; a size is a
    number, a name, or a quoted expression of names (see `Dim`). `!toy.tensor<f64[]>` is a scalar. Names are scoped to
    the function.
  }];
  let parameters = (ins "::toy::DType":$dtype, ArrayRefParameter<"::mlir::Attribute">:$sizes);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static TensorType get(::mlir::MLIRContext *context, ::toy::DType dtype, ::llvm::ArrayRef<::toy::Dim> dims);
    static TensorType scalar(::mlir::MLIRContext *context, ::toy::DType dtype) {
      return get(context, dtype, ::llvm::ArrayRef<::mlir::Attribute>());
    }
    int64_t getRank() const { return getSizes().size(); }
    bool isScalar() const { return getSizes().empty(); }
    bool isComplex() const { return ::toy::isComplex(getDtype()); }
    ::toy::Dim getDim(int64_t axis) const { return ::toy::Dim(getSizes()[axis]); }
    ::llvm::SmallVector<::toy::Dim> getDims() const;
    bool hasStaticShape() const;
    /// The number of elements, when all sizes are numbers (saturating).
    std::optional<int64_t> getStaticCount() const;
    TensorType withDType(::toy::DType dtype) const { return get(getContext(), dtype, getSizes()); }
    TensorType withDims(::llvm::ArrayRef<::toy::Dim> dims) const { return get(getContext(), getDtype(), dims); }
    bool hasUnknownSize() const;
    /// As the language writes it: `c64[2, N]`, and `f64` for a scalar. `shown` gives other texts for names of sizes.
    std::string str(::llvm::function_ref<std::string(::llvm::StringRef)> shown = nullptr) const;
  }];
}

def Toy_StrType : Toy_Type<"Str", "str"> {
  let summary = "an immutable string of bytes, usually UTF-8";
}

def Toy_ListType : Toy_Type<"List", "list"> {
  let summary = "a list of values of one type";
  let description = [{
    `!toy.list<!toy.str>`: the elements are strings, tensors of a dtype and rank (all sizes are anonymous), or lists.
    Lists of structs and tuples are trees of lists, as such values are trees of tensors and strings.
  }];
  let parameters = (ins "::mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
  let extraClassDeclaration = [{
    /// As the language writes it: `list[f64[_]]`.
    std::string str() const;
  }];
}

def Toy_Tensor : Type<CPred<"::llvm::isa<::toy::TensorType>($_self)">, "tensor", "::toy::TensorType">;
def Toy_Scalar : Type<CPred<"::llvm::isa<::toy::TensorType>($_self) && "
    "::llvm::cast<::toy::TensorType>($_self).isScalar()">,
                      "scalar", "::toy::TensorType">;
class Toy_ScalarOf<string dtype> : Type<
    CPred<"::llvm::isa<::toy::TensorType>($_self) && ::llvm::cast<::toy::TensorType>($_self).isScalar() && "
          "::llvm::cast<::toy::TensorType>($_self).getDtype() == ::toy::DType::" # dtype>,
    dtype # " scalar", "::toy::TensorType">;
def Toy_Index : Toy_ScalarOf<"I64">;
def Toy_Bool : Toy_ScalarOf<"Bool">;
def Toy_Str : Type<CPred<"::llvm::isa<::toy::StrType>($_self)">, "str", "::toy::StrType">;
def Toy_List : Type<CPred<"::llvm::isa<::toy::ListType>($_self)">, "list", "::toy::ListType">;
def Toy_Any : AnyTypeOf<[Toy_Tensor, Toy_Str, Toy_List]>;
#endif
