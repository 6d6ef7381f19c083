// SPDX-License-Identifier: Apache-2.0
/// \file
/// What rules are made of: access to operands, broadcasting, and the verifier that asks the rules again.
#include "ir/ToyDialect.h"

#include "ir/DimPoly.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace toy {

std::string spelling(StringRef opName) {
  return llvm::StringSwitch<StringRef>(opName)
      .Case("add", "+")
      .Case("sub", "-")
      .Case("neg", "-")
      .Case("mul", "*")
      .Case("div", "/")
      .Case("floordiv", "//")
      .Case("mod", "%")
      .Case("pow", "**")
      .Case("eq", "==")
      .Case("ne", "!=")
      .Case("lt", "<")
      .Case("le", "<=")
      .Case("gt", ">")
      .Case("ge", ">=")
      .Default(opName)
      .str();
}

TensorType packedType(TensorType complex) {
  SmallVector<Dim> dims = complex.getDims();
  dims.push_back(Dim::number(complex.getContext(), 2));
  return TensorType::get(complex.getContext(), realOf(complex.getDtype()), dims);
}

TensorType unpackedType(TensorType pairs) {
  SmallVector<Dim> dims = pairs.getDims();
  dims.pop_back();
  return TensorType::get(pairs.getContext(), complexOf(pairs.getDtype()), dims);
}

bool RuleContext::isPacked(unsigned i) const {
  auto packed = attributes ? attributes.getAs<DenseI64ArrayAttr>("packed") : DenseI64ArrayAttr();
  return packed && llvm::is_contained(packed.asArrayRef(), i);
}

TensorType RuleContext::tensor(unsigned i) const {
  auto type = cast<TensorType>(operands[i].getType());
  return isPacked(i) ? unpackedType(type) : type;
}
DType RuleContext::dtype(unsigned i) const { return tensor(i).getDtype(); }
int64_t RuleContext::rank(unsigned i) const { return tensor(i).getRank(); }
Dim RuleContext::dim(unsigned i, int64_t axis) const { return tensor(i).getDim(axis); }
Dim RuleContext::freshDim() const { return Dim::unknown(context); }

int64_t RuleContext::integer(StringRef attribute) const { return attributes.getAs<IntegerAttr>(attribute).getInt(); }
bool RuleContext::flag(StringRef attribute) const { return attributes.getAs<BoolAttr>(attribute).getValue(); }
ArrayRef<int64_t> RuleContext::integers(StringRef attribute) const {
  return attributes.getAs<DenseI64ArrayAttr>(attribute).asArrayRef();
}
DType RuleContext::dtypeAttribute(StringRef attribute) const {
  StringRef name = attributes.getAs<StringAttr>(attribute).getValue();
  return dtypeNamed(std::string_view(name.data(), name.size())).value_or(DType::F64);
}

LogicalResult RuleContext::result(Type type) {
  if (auto tensor = dyn_cast<TensorType>(type))
    for (Dim dim : tensor.getDims())
      if (dim.isNumber() && dim.value() > largestSize)
        return fail(DiagId::SizeTooLarge, dim.str());
  results.push_back(type);
  return success();
}

Dim RuleContext::sizeValue(Value value) const {
  if (auto dim = sizeBehind(value))
    return *dim;
  return symbolFor ? symbolFor(value) : freshDim();
}

std::string RuleContext::text(Type type) { return typeText(type); }

std::string typeText(Type type) {
  if (auto tensor = dyn_cast<TensorType>(type))
    return tensor.str();
  if (isa<StrType>(type))
    return "str";
  if (auto list = dyn_cast<ListType>(type))
    return list.str();
  std::string out;
  llvm::raw_string_ostream(out) << type;
  return out;
}

namespace {
/// Reads arithmetic on sizes back as a size. Values that many operations use are read once, and what is very long is
/// taken for data.
class SizeReader {
public:
  std::optional<Dim> read(Value value) {
    auto [it, isNew] = done.try_emplace(value, std::nullopt);
    if (!isNew || done.size() > mostValues)
      return it->second;
    auto size = readNew(value);
    done[value] = size;
    return size;
  }

private:
  std::optional<Dim> readNew(Value value) {
    Operation *op = value.getDefiningOp();
    auto type = dyn_cast<TensorType>(value.getType());
    if (!op || !type || !type.isScalar() || type.getDtype() != DType::I64)
      return std::nullopt;
    if (auto constant = dyn_cast<ConstantOp>(op))
      return Dim::number(value.getContext(), *cast<DenseElementsAttr>(constant.getValue()).value_begin<int64_t>());
    if (auto dimOp = dyn_cast<DimOp>(op))
      return known(tensorTypeOf(dimOp.getX()).getDim(dimOp.getAxis()));
    if (isa<CheckSizeOp>(op))
      return read(op->getOperand(0));
    if (isa<NegOp>(op)) {
      auto operand = read(op->getOperand(0));
      return operand ? known(Dim::number(value.getContext(), 0) - *operand) : std::nullopt;
    }
    if (auto sizeValue = dyn_cast<SizeValueOp>(op))
      return readExpression(sizeValue);
    if (!isa<AddOp, SubOp, MulOp, FloorDivOp, ModOp, MinimumOp, MaximumOp>(op))
      return std::nullopt;
    auto a = read(op->getOperand(0)), b = a ? read(op->getOperand(1)) : std::nullopt;
    if (!a || !b)
      return std::nullopt;
    if (isa<AddOp>(op))
      return known(*a + *b);
    if (isa<SubOp>(op))
      return known(*a - *b);
    if (isa<MulOp>(op))
      return known(*a * *b);
    if (isa<FloorDivOp>(op))
      return known(a->floorDiv(*b));
    if (isa<ModOp>(op))
      return known(a->mod(*b));
    return known(isa<MinimumOp>(op) ? a->min(*b) : a->max(*b));
  }

  std::optional<Dim> readExpression(SizeValueOp op) {
    llvm::StringMap<Dim> values;
    bool isKnown = true;
    op.getExpr().collectSymbols([&](StringRef name) {
      auto size = read(op->getOperand(*SizeValueOp::operandOf(name)));
      isKnown &= size.has_value();
      if (size)
        values[name] = *size;
    });
    return isKnown ? known(op.getExpr().substitute(values)) : std::nullopt;
  }

  /// What has grown large gets a name of its own: functions that call themselves with parts of what they have would be
  /// generated for each of its forms.
  static std::optional<Dim> known(Dim dim) {
    return dim.isUnknown() || detail::storageOf(dim).nodes > mostNodes ? std::nullopt : std::optional(dim);
  }

  static constexpr unsigned mostValues = 400, mostNodes = 48;
  llvm::DenseMap<Value, std::optional<Dim>> done;
};
} // namespace

std::optional<Dim> sizeBehind(Value value) { return SizeReader().read(value); }

std::string whatNeedsSize(int64_t axis, StringRef user) {
  return ("size of axis " + std::to_string(axis) + " and what " + user + " needs").str();
}
std::string whatDiffers(int64_t lhsAxis, int64_t rhsAxis) {
  return "sizes of axes " + std::to_string(lhsAxis) + " and " + std::to_string(rhsAxis);
}

bool RuleContext::hasSize(unsigned operand, unsigned axis, int64_t size) {
  Dim have = dim(operand, axis);
  if (!have.isNumber())
    wanted.push_back({operand, axis, size});
  if (!have.isNumber() || have.is(size))
    return true;
  mismatch = {whatNeedsSize(axis, name), have, Dim::number(context, size), {operand}};
  return false;
}

bool RuleContext::hasElements(unsigned operand, unsigned axis) {
  Dim have = dim(operand, axis);
  if (!have.isNumber())
    wanted.push_back({operand, axis, 1, true});
  return !have.is(0);
}

bool RuleContext::unify(unsigned lhsOperand, unsigned lhsAxis, unsigned rhsOperand, unsigned rhsAxis,
                        bool mayBroadcast) {
  Dim lhs = dim(lhsOperand, lhsAxis), rhs = dim(rhsOperand, rhsAxis);
  if (lhs == rhs && !lhs.isUnknown())
    return true;
  if ((lhs - rhs).isNumber()) {
    mismatch = {whatDiffers(lhsAxis, rhsAxis), lhs, rhs, {lhsOperand, rhsOperand}};
    return false;
  }
  assumptions.push_back({lhsOperand, lhsAxis, rhsOperand, rhsAxis, mayBroadcast});
  return true;
}

FailureOr<SmallVector<Dim>> RuleContext::broadcast(ArrayRef<unsigned> which) {
  SmallVector<unsigned> all;
  if (which.empty()) {
    for (unsigned i = 0; i < size(); ++i)
      all.push_back(i);
    which = all;
  }
  int64_t resultRank = 0;
  for (unsigned i : which)
    resultRank = std::max(resultRank, rank(i));
  SmallVector<Dim> dims(resultRank, Dim::number(context, 1));
  SmallVector<std::pair<unsigned, unsigned>> source(resultRank, {~0u, 0});
  for (unsigned i : which) {
    int64_t offset = resultRank - rank(i);
    for (int64_t axis = 0; axis < rank(i); ++axis) {
      Dim next = dim(i, axis);
      auto &[owner, ownerAxis] = source[offset + axis];
      Dim &known = dims[offset + axis];
      if (next.is(1))
        continue;
      if (owner != ~0u && !known.is(1)) {
        if (!unify(owner, ownerAxis, i, axis, true)) {
          if (name == "where" || which.size() > 2)
            return fail(DiagId::CannotBroadcast, tensor(owner), tensor(i), offset + axis, known.str(), next.str());
          return fail(DiagId::CannotBroadcast, tensor(which[0]), tensor(which[1]), offset + axis,
                      dim(which[0], rank(which[0]) - resultRank + offset + axis).str(), next.str());
        }
        if (known.isNumber())
          continue;
        if (!next.isNumber())
          continue;
      }
      known = next;
      owner = i;
      ownerAxis = axis;
    }
  }
  return dims;
}

/// Equal, or one of them anonymous or refined to a number: passes may know sizes better than the operation was told.
static bool sizesAgree(Dim expected, Dim actual) {
  return expected == actual || expected.isUnknown() || actual.isUnknown() || expected.isNumber() != actual.isNumber() ||
         !(expected - actual).isNumber();
}

LogicalResult RuleContext::failNotOrdered(unsigned operand) {
  (void)fail(DiagId::ComplexNotOrdered, name, tensor(operand));
  std::string hole = "{" + std::to_string(operand) + "}";
  help("`abs(" + hole + ")` and `real(" + hole + ")` are ordered");
  return failure();
}

LogicalResult verifyTypeRule(Operation *op) {
  if (op->hasTrait<OpTrait::Computes>() && llvm::any_of(op->getOperandTypes(), isHalfTensor))
    return op->emitOpError("computes in f32; cast bf16 and f16 operands first");
  RuleContext ctx(op->getContext(), op->getName().stripDialect(), op->getOperands(), op->getAttrDictionary());
  SmallVector<Type> declared(op->getResultTypes());
  ctx.declared = declared;
  auto *rule = op->getName().getRegisteredInfo()->getInterface<TypeRuleOpInterface>();
  if (failed(rule->inferTypes(ctx)))
    return op->emitOpError(formatDiagnostic(ctx.error->id, ctx.error->args));
  if (ctx.results.size() != op->getNumResults())
    return op->emitOpError("has ") << op->getNumResults() << " results where its rule gives " << ctx.results.size();
  for (auto [expected, actual] : llvm::zip_equal(ctx.results, op->getResultTypes())) {
    if (auto complex = dyn_cast<TensorType>(expected); complex && complex.isComplex() && op->hasAttr("packed"))
      expected = packedType(complex);
    auto a = dyn_cast<TensorType>(expected), b = dyn_cast<TensorType>(actual);
    bool agree = expected == actual || (a && b && a.getDtype() == b.getDtype() && a.getRank() == b.getRank() &&
                                        llvm::all_of(llvm::zip_equal(a.getDims(), b.getDims()), [](auto pair) {
                                          return sizesAgree(std::get<0>(pair), std::get<1>(pair));
                                        }));
    if (!agree)
      return op->emitOpError("has result type ") << typeText(actual) << " where its rule gives " << typeText(expected);
  }
  return success();
}

} // namespace toy

#include "ir/ToyInterfaces.cpp.inc"
