// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sizes that the run computes: expressions of sizes and of integers of the program, each as one operation.
#include "irgen/IRGenImpl.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace toy {

/// Operands of several terms under common names.
namespace {
class OperandList {
public:
  explicit OperandList(MLIRContext *context) : context(context) {}

  /// The expression of a term with names for this list.
  Dim take(const SizeTerm &term) {
    llvm::StringMap<Dim> names;
    bool changes = false;
    term.expression.collectSymbols([&](StringRef name) {
      names[name] = nameOf(term.operands[*SizeValueOp::operandOf(name)], name.starts_with("$$"));
      changes |= names[name].symbolName() != name;
    });
    return changes ? term.expression.substitute(names) : term.expression;
  }

  SmallVector<Value, 2> operands;

private:
  Dim nameOf(Value operand, bool isSigned) {
    size_t index = llvm::find_if(operands, [&](Value known) { return isSame(known, operand); }) - operands.begin();
    if (index == operands.size())
      operands.push_back(operand);
    return Dim::symbol(context, (isSigned ? "$$" : "$") + std::to_string(index));
  }

  /// The same value, or a size of the same name.
  static bool isSame(Value a, Value b) {
    if (a == b)
      return true;
    auto x = a.getDefiningOp<DimOp>(), y = b.getDefiningOp<DimOp>();
    if (!x || !y)
      return false;
    Dim p = tensorTypeOf(x.getX()).getDim(x.getAxis()), q = tensorTypeOf(y.getX()).getDim(y.getAxis());
    return p == q && !p.isUnknown();
  }

  MLIRContext *context;
};
} // namespace

static Dim combined(StringRef op, Dim a, Dim b) {
  if (op == "add")
    return a + b;
  if (op == "sub")
    return a - b;
  if (op == "mul")
    return a * b;
  if (op == "floordiv")
    return a.floorDiv(b);
  if (op == "mod")
    return a.mod(b);
  return op == "minimum" ? a.min(b) : a.max(b);
}

static SizeTerm leaf(Value value) {
  bool isSize = isa_and_present<DimOp, CheckSizeOp>(value.getDefiningOp());
  return {Dim::symbol(value.getContext(), isSize ? "$0" : "$$0"), {value}};
}

static bool isArithmetic(Value value) {
  return isa_and_present<AddOp, SubOp, MulOp, FloorDivOp, ModOp, MinimumOp, MaximumOp>(value.getDefiningOp());
}

/// Whether a value is made of sizes of tensors and constants only.
static bool isOfSizes(Value value) {
  llvm::DenseMap<Value, bool> done;
  auto visit = [&](auto &self, Value value) -> bool {
    if (isa_and_present<ConstantOp, DimOp, CheckSizeOp, SizeValueOp>(value.getDefiningOp()))
      return true;
    if (auto it = done.find(value); it != done.end())
      return it->second;
    bool all = isArithmetic(value) &&
               llvm::all_of(value.getDefiningOp()->getOperands(), [&](Value v) { return self(self, v); });
    return done[value] = all;
  };
  return visit(visit, value);
}

/// A value as a term. Arithmetic of the program on sizes is taken apart, so that it is checked where it makes a size;
/// other integers of the program are operands, and their arithmetic wraps, unless the value is to be a size itself.
SizeTerm IRGen::sizeTerm(Value value, SourceRange range, bool isSize) {
  llvm::DenseMap<Value, SizeTerm> done;
  auto read = [&](auto &self, Value value) -> SizeTerm {
    if (auto it = done.find(value); it != done.end())
      return it->second;
    Operation *op = value.getDefiningOp();
    SizeTerm term = leaf(value);
    if (auto n = constantOf(value))
      term = {Dim::number(context, *n), {}};
    else if (auto sizeValue = dyn_cast_if_present<SizeValueOp>(op))
      term = {sizeValue.getExpr(), llvm::to_vector<2>(sizeValue.getOperands())};
    else if (isArithmetic(value) && (isSize || isOfSizes(value)))
      term = combine(op->getName().stripDialect(), self(self, op->getOperand(0)), self(self, op->getOperand(1)), range);
    return done[value] = term;
  };
  return read(read, value);
}

/// A size operand of an operation: as it is, or, where the program computed it, checked. What has no expression keeps
/// its name.
Value IRGen::checkedSize(Value value, SourceRange range) {
  if (!isArithmetic(value) || !tensorTypeOf(value).isScalar() || tensorTypeOf(value).getDtype() != DType::I64)
    return value;
  Value checked = valueOf(sizeTerm(value, range, true), range);
  if (!constantOf(checked) && !sizeBehind(value))
    fn().sizeNames[checked] = nameOfSize(value);
  return checked;
}

Value IRGen::valueOf(const SizeTerm &term, SourceRange range) {
  if (term.expression.isNumber())
    return integer(term.expression.value(), range);
  OperandList used(context); // operands that the expression does not name any more go
  Dim expression = used.take(term);
  if (auto operand = SizeValueOp::operandOf(expression.symbolName()))
    return used.operands[*operand];
  return create<SizeValueOp>(range, used.operands, {attr("expr", expression.getAttr())});
}

SizeTerm IRGen::combine(StringRef op, const SizeTerm &a, const SizeTerm &b, SourceRange range) {
  OperandList list(context);
  Dim left = list.take(a), right = list.take(b);
  if (Dim expression = combined(op, left, right); !expression.isUnknown())
    return {expression, list.operands};
  if (left.isNumber() && right.isNumber() && !right.is(0)) {
    StringRef sign =
        llvm::StringSwitch<StringRef>(op).Case("add", " + ").Case("sub", " - ").Case("mul", " * ").Default(" // ");
    fail(DiagId::SizeTooLarge, range, {(left.str() + sign + right.str()).str()});
  }
  if (right.is(0)) // an error of the run
    return leaf(create(op, range, {valueOf(a, range), valueOf(b, range)}));
  OperandList parts(context); // an expression that is too large is computed in two steps
  Dim x = parts.take(leaf(valueOf(a, range))), y = parts.take(leaf(valueOf(b, range)));
  return {combined(op, x, y), parts.operands};
}

Value IRGen::arith(StringRef op, Value a, Value b, SourceRange range) {
  if (!tensorTypeOf(a).isScalar() || !tensorTypeOf(b).isScalar())
    return create(op, range, {a, b});
  return valueOf(combine(op, sizeTerm(a, range), sizeTerm(b, range), range), range);
}

namespace {
struct DeclaredSize : DimComputation<Value> {
  DeclaredSize(IRGen &gen, SourceRange range, llvm::function_ref<Value(StringRef)> valueOf)
      : gen(gen), range(range), valueOf(valueOf) {}
  Value constant(int64_t n) override { return gen.integer(n, range); }
  Value symbol(StringRef name) override { return valueOf(name); }
  Value combine(Operation op, Value a, Value b) override {
    constexpr const char *names[] = {"add", "sub", "mul", "floordiv", "minimum", "maximum"};
    return gen.arith(names[op], a, b, range);
  }
  IRGen &gen;
  SourceRange range;
  llvm::function_ref<Value(StringRef)> valueOf;
};
} // namespace

Value IRGen::sizeExpression(Dim dim, SourceRange range, llvm::function_ref<Value(StringRef)> valueOf) {
  if (dim.isUnknown())
    fail(DiagId::SizeTooLarge, range, {sourceText(range)});
  return DeclaredSize(*this, range, valueOf).compute(dim);
}

} // namespace toy
