// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sizes that the run computes: expressions of sizes and of integers of the program, each as one operation.
#include "irgen/Operations.h"

#include "irgen/Expressions.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace toy {

Value sizeOf(IRGen &g, Value x, int64_t axis, SourceRange range) {
  if (Dim dim = tensorTypeOf(x).getDim(axis); dim.isNumber())
    return g.integer(dim.value(), range);
  return g.create<DimOp>(range, {x}, {g.integerAttr("axis", axis)});
}

SmallVector<Value> sizesOf(IRGen &g, Value x, SourceRange range) {
  SmallVector<Value> out;
  for (int64_t axis = 0; axis < tensorTypeOf(x).getRank(); ++axis)
    out.push_back(sizeOf(g, x, axis, range));
  return out;
}

Dim nameOfSize(IRGen &g, Value value) {
  while (auto check = value.getDefiningOp<CheckSizeOp>())
    value = check.getSize();
  Dim &name = g.fn().sizeNames[value];
  if (!name)
    name = g.freshSize();
  return name;
}

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

SizeTerm sizeTerm(IRGen &g, Value value, SourceRange range, bool isSize) {
  llvm::DenseMap<Value, SizeTerm> done;
  auto read = [&](auto &self, Value value) -> SizeTerm {
    if (auto it = done.find(value); it != done.end())
      return it->second;
    Operation *op = value.getDefiningOp();
    SizeTerm term = leaf(value);
    if (auto n = constantOf(value))
      term = {g.number(*n), {}};
    else if (auto sizeValue = dyn_cast_if_present<SizeValueOp>(op))
      term = {sizeValue.getExpr(), llvm::to_vector<2>(sizeValue.getOperands())};
    else if (isArithmetic(value) && (isSize || isOfSizes(value)))
      term =
          combine(g, op->getName().stripDialect(), self(self, op->getOperand(0)), self(self, op->getOperand(1)), range);
    return done[value] = term;
  };
  return read(read, value);
}

void needValue(IRGen &g, Value holds, Value text, SourceRange range) {
  g.createOp<AssertOp>(range, {holds, text}, {g.attr("toy.of_value", g.b.getUnitAttr())});
}

Value checkedSize(IRGen &g, Value value, SourceRange range) {
  if (!isArithmetic(value) || !tensorTypeOf(value).isScalar() || tensorTypeOf(value).getDtype() != DType::I64)
    return value;
  Value checked = valueOf(g, sizeTerm(g, value, range, true), range);
  if (!constantOf(checked) && !sizeBehind(value))
    g.fn().sizeNames[checked] = nameOfSize(g, value);
  return checked;
}

Value valueOf(IRGen &g, const SizeTerm &term, SourceRange range) {
  if (term.expression.isNumber())
    return g.integer(term.expression.value(), range);
  OperandList used(g.context); // operands that the expression does not name any more go
  Dim expression = used.take(term);
  if (auto operand = SizeValueOp::operandOf(expression.symbolName()))
    return used.operands[*operand];
  return g.create<SizeValueOp>(range, used.operands, {g.attr("expr", expression.getAttr())});
}

SizeTerm combine(IRGen &g, StringRef op, const SizeTerm &a, const SizeTerm &b, SourceRange range) {
  OperandList list(g.context);
  Dim left = list.take(a), right = list.take(b);
  if (Dim expression = combined(op, left, right); !expression.isUnknown())
    return {expression, list.operands};
  if (left.isNumber() && right.isNumber() && !right.is(0)) {
    StringRef sign =
        llvm::StringSwitch<StringRef>(op).Case("add", " + ").Case("sub", " - ").Case("mul", " * ").Default(" // ");
    g.fail(DiagId::SizeTooLarge, range, {(left.str() + sign + right.str()).str()});
  }
  if (right.is(0)) // an error of the run
    return leaf(g.create(op, range, {valueOf(g, a, range), valueOf(g, b, range)}));
  OperandList parts(g.context); // an expression that is too large is computed in two steps
  Dim x = parts.take(leaf(valueOf(g, a, range))), y = parts.take(leaf(valueOf(g, b, range)));
  return {combined(op, x, y), parts.operands};
}

Value arith(IRGen &g, StringRef op, Value a, Value b, SourceRange range) {
  if (!tensorTypeOf(a).isScalar() || !tensorTypeOf(b).isScalar())
    return g.create(op, range, {a, b});
  return valueOf(g, combine(g, op, sizeTerm(g, a, range), sizeTerm(g, b, range), range), range);
}

namespace {
struct DeclaredSize : DimComputation<Value> {
  DeclaredSize(IRGen &g, SourceRange range, llvm::function_ref<Value(StringRef)> valueOf)
      : g(g), range(range), valueOf(valueOf) {}
  Value constant(int64_t n) override { return g.integer(n, range); }
  Value symbol(StringRef name) override { return valueOf(name); }
  Value combine(Operation op, Value a, Value b) override {
    constexpr const char *names[] = {"add", "sub", "mul", "floordiv", "minimum", "maximum"};
    return arith(g, names[op], a, b, range);
  }
  IRGen &g;
  SourceRange range;
  llvm::function_ref<Value(StringRef)> valueOf;
};
} // namespace

Value sizeExpression(IRGen &g, Dim dim, SourceRange range, llvm::function_ref<Value(StringRef)> valueOf) {
  if (dim.isUnknown())
    g.fail(DiagId::SizeTooLarge, range, {g.sourceText(range)});
  return DeclaredSize(g, range, valueOf).compute(dim);
}

} // namespace toy
