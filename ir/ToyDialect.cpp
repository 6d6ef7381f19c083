// SPDX-License-Identifier: Apache-2.0
/// \file
/// Registration of the dialect, and the text form of its types.
#include "ir/ToyDialect.h"
#include "ir/DimPoly.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "ir/ToyDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/ToyTypes.cpp.inc"

namespace toy {
namespace {
/// Every toy operation may be inlined; terminators belong to `cf` and `func`.
struct ToyInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void ToyDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/ToyTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/ToyOps.cpp.inc"
      >();
  addAttributes<DimAttr>();
  addInterfaces<ToyInliner>();
}

/// `#toy.dim<"2*N+1">`
Attribute ToyDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  StringRef keyword;
  std::string text;
  if (parser.parseKeyword(&keyword) || parser.parseLess() || parser.parseString(&text) || parser.parseGreater())
    return {};
  auto dim = keyword == DimAttr::getMnemonic() ? Dim::parse(getContext(), text) : std::nullopt;
  if (!dim)
    return parser.emitError(parser.getCurrentLocation(), "malformed size '") << text << "'", Attribute();
  return dim->getAttr();
}

void ToyDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  printer << DimAttr::getMnemonic() << "<\"" << Dim(attribute).str() << "\">";
}

Operation *ToyDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  return elements ? ConstantOp::create(builder, loc, type, elements).getOperation() : nullptr;
}

TensorType TensorType::get(MLIRContext *context, DType dtype, ArrayRef<Dim> dims) {
  return get(context, dtype, llvm::map_to_vector(dims, [](Dim d) { return d.getAttr(); }));
}

SmallVector<Dim> TensorType::getDims() const {
  return llvm::map_to_vector(getSizes(), [](Attribute a) { return Dim(a); });
}

bool TensorType::hasStaticShape() const {
  return llvm::all_of(getSizes(), [](Attribute a) { return Dim(a).isNumber(); });
}

bool TensorType::hasUnknownSize() const {
  return llvm::any_of(getSizes(), [](Attribute a) { return Dim(a).isUnknown(); });
}

std::optional<int64_t> TensorType::getStaticCount() const {
  int64_t count = 1;
  bool saturated = false;
  for (Dim dim : getDims()) {
    if (!dim.isNumber())
      return std::nullopt;
    if (dim.value() == 0)
      return 0;
    saturated |= __builtin_mul_overflow(count, dim.value(), &count);
  }
  return saturated ? INT64_MAX : count;
}

std::string TensorType::str(llvm::function_ref<std::string(StringRef)> shown) const {
  std::string out(nameOf(getDtype()));
  if (isScalar())
    return out;
  return out + "[" + llvm::join(llvm::map_range(getDims(), [&](Dim d) { return d.str(shown); }), ", ") + "]";
}

/// `<c64[2, N, "2*M"]>`
Type TensorType::parse(AsmParser &parser) {
  StringRef name;
  SmallVector<Attribute> sizes;
  auto parseSize = [&]() -> ParseResult {
    int64_t number;
    std::string text;
    auto integer = parser.parseOptionalInteger(number);
    if (integer.has_value()) {
      sizes.push_back(Dim::number(parser.getContext(), number).getAttr());
      return *integer;
    }
    StringRef keyword;
    if (succeeded(parser.parseOptionalKeyword(&keyword)))
      text = keyword.str();
    else if (parser.parseString(&text))
      return failure();
    auto dim = Dim::parse(parser.getContext(), text);
    if (!dim)
      return parser.emitError(parser.getCurrentLocation(), "malformed size '") << text << "'";
    sizes.push_back(dim->getAttr());
    return success();
  };
  if (parser.parseLess() || parser.parseKeyword(&name))
    return {};
  auto dtype = dtypeNamed(std::string_view(name.data(), name.size()));
  if (!dtype)
    return parser.emitError(parser.getCurrentLocation(), "unknown dtype '") << name << "'", Type();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseSize) || parser.parseGreater())
    return {};
  return get(parser.getContext(), *dtype, sizes);
}

/// Whether MLIR's lexer reads a name as one token.
static bool isKeyword(StringRef name) {
  return !name.empty() && (llvm::isAlpha(name[0]) || name[0] == '_') &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

void TensorType::print(AsmPrinter &printer) const {
  printer << '<' << llvm::StringRef(nameOf(getDtype())) << '[';
  llvm::interleaveComma(getDims(), printer, [&](Dim dim) {
    if (dim.isNumber())
      printer << dim.value();
    else if (isKeyword(dim.symbolName()))
      printer << dim.symbolName();
    else
      printer << '"' << dim.str() << '"';
  });
  printer << "]>";
}

Type elementTypeOf(MLIRContext *context, DType dtype) {
  Builder b(context);
  switch (dtype) {
  case DType::Bool:
    return b.getI1Type();
  case DType::U8:
    return b.getIntegerType(8, /*isSigned=*/false);
  case DType::I32:
    return b.getI32Type();
  case DType::I64:
    return b.getI64Type();
  case DType::BF16:
    return b.getBF16Type();
  case DType::F16:
    return b.getF16Type();
  case DType::F32:
    return b.getF32Type();
  case DType::F64:
    return b.getF64Type();
  case DType::C64:
    return ComplexType::get(b.getF32Type());
  case DType::C128:
    return ComplexType::get(b.getF64Type());
  }
  llvm_unreachable("all dtypes are listed");
}

} // namespace toy
