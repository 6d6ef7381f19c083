// SPDX-License-Identifier: Apache-2.0
/// \file
/// Decomposition and matching. Nothing is changed here.
#include "passes/recognize/SumOfProducts.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace toy {

Value withoutRelabel(Value x) {
  while (auto relabel = x.getDefiningOp<RelabelOp>())
    x = relabel.getX();
  return x;
}

bool isSameUpToNames(TensorType x, TensorType y) {
  return x.getDtype() == y.getDtype() && x.getRank() == y.getRank() &&
         llvm::all_of(llvm::zip_equal(x.getDims(), y.getDims()), [](auto pair) {
           auto [a, b] = pair;
           return a == b || !(a.is(1) || b.is(1) || (a.isNumber() && b.isNumber()));
         });
}

/// x without negations around it; `negative` flips for each. Other names of sizes go, too.
static Value withoutNegations(Value x, bool &negative) {
  while (auto neg = (x = withoutRelabel(x)).getDefiningOp<NegOp>()) {
    negative = !negative;
    x = neg.getX();
  }
  return x;
}

static bool isReal(Value x) {
  auto type = dyn_cast<TensorType>(x.getType());
  return type && !type.isComplex() && type.getDtype() != DType::Bool;
}

static std::optional<ProductTerm> productTerm(Value value) {
  ProductTerm term{nullptr, {}, {}, false};
  value = withoutNegations(value, term.negative);
  term.op = value.getDefiningOp();
  if (!isa_and_present<MulOp, MatMulOp>(term.op) || !isReal(term.op->getOperand(0)) || !isReal(term.op->getOperand(1)))
    return std::nullopt;
  term.lhs = withoutNegations(term.op->getOperand(0), term.negative);
  term.rhs = withoutNegations(term.op->getOperand(1), term.negative);
  return term;
}

static bool isTwo(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return elements && elements.isSplat() && isa<FloatType>(elements.getElementType()) &&
         elements.getSplatValue<APFloat>().convertToDouble() == 2;
}

std::optional<SumOfProducts> sumOfProducts(Operation *op) {
  if (op->getNumResults() != 1 || !isReal(op->getResult(0)))
    return std::nullopt;
  if (auto mul = dyn_cast<MulOp>(op)) { // 2 * (x*y) is x*y + x*y, bit for bit
    for (auto [two, product] : {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())})
      if (auto term = isTwo(two) ? productTerm(product) : std::nullopt; term && isa<MulOp>(term->op))
        return SumOfProducts{op, {*term, *term}, false};
    return std::nullopt;
  }
  if (!isa<AddOp, SubOp>(op))
    return std::nullopt;
  auto x = productTerm(op->getOperand(0)), y = productTerm(op->getOperand(1));
  if (!x || !y || isa<MatMulOp>(x->op) != isa<MatMulOp>(y->op))
    return std::nullopt;
  y->negative ^= isa<SubOp>(op);
  return SumOfProducts{op, {*x, *y}, isa<MatMulOp>(x->op)};
}

SmallVector<void *, 4> SumOfProducts::operandKey() const {
  SmallVector<void *, 4> key;
  for (const ProductTerm &term : terms)
    key.append({term.lhs.getAsOpaquePointer(), term.rhs.getAsOpaquePointer()});
  llvm::sort(key);
  return key;
}

std::string ComplexProduct::form() const {
  StringRef times = re->isMatrix ? "@" : "*";
  auto sum = [&](StringRef x, bool xNegative, StringRef y, bool yNegative) {
    std::string first = (x.take_front(1) + times + x.drop_front(1)).str(),
                second = (y.take_front(1) + times + y.drop_front(1)).str();
    if (xNegative && !yNegative)
      return second + " - " + first;
    return (xNegative ? "-" : "") + first + (yNegative ? " - " : " + ") + second;
  };
  return "re = " + sum("ac", acNegative, "bd", bdNegative) + ", im = " + sum("ad", adNegative, "bc", bcNegative);
}

/// Whether a term is the product of x and y; order matters for matrices.
static bool isProductOf(const ProductTerm &term, Value x, Value y, bool ordered) {
  return (term.lhs == x && term.rhs == y) || (!ordered && term.lhs == y && term.rhs == x);
}

/// Labels the operands so that re's products are a·c and b·d, and im's are a·d and b·c; signs are not looked at.
static std::optional<ComplexProduct> label(const SumOfProducts &re, const SumOfProducts &im, bool ordered) {
  // The positive product of re comes first: then a and c carry no sign when that is possible.
  bool swap = re.terms[0].negative && !re.terms[1].negative;
  const ProductTerm &p = re.terms[swap], &q = re.terms[!swap];
  for (bool exchangeP : {false, true})
    for (bool exchangeQ : {false, true}) {
      if (ordered && (exchangeP || exchangeQ))
        continue;
      Value a = exchangeP ? p.rhs : p.lhs, c = exchangeP ? p.lhs : p.rhs, b = exchangeQ ? q.rhs : q.lhs,
            d = exchangeQ ? q.lhs : q.rhs;
      for (bool exchangeTerms : {false, true}) {
        const ProductTerm &ad = im.terms[exchangeTerms], &bc = im.terms[!exchangeTerms];
        if (isProductOf(ad, a, d, ordered) && isProductOf(bc, b, c, ordered))
          return ComplexProduct{&re, &im, a, b, c, d, p.negative, q.negative, ad.negative, bc.negative};
      }
    }
  return std::nullopt;
}

std::optional<ComplexProduct> matchProduct(const SumOfProducts &re, const SumOfProducts &im, Mismatch &why,
                                           const ProductTerm *&culprit) {
  why = Mismatch::None;
  auto product = label(re, im, re.isMatrix);
  if (!product) {
    why = Mismatch::Pairing;
    auto unordered = re.isMatrix ? label(re, im, false) : std::nullopt;
    if (!unordered)
      return std::nullopt;
    why = Mismatch::Order;
    culprit = &im.terms[1];
    for (const ProductTerm &term : im.terms) // the one whose factors stand on the wrong side
      if (!llvm::is_contained({re.terms[0].lhs, re.terms[1].lhs}, term.lhs) ||
          !llvm::is_contained({re.terms[0].rhs, re.terms[1].rhs}, term.rhs))
        culprit = &term;
    return std::nullopt;
  }
  if (re.hasMixedSigns() == im.hasMixedSigns()) {
    why = Mismatch::Signs;
    return std::nullopt;
  }
  return product;
}

Value createByRule(OpBuilder &b, Location loc, StringRef name, ValueRange operands) {
  OperationName opName(name, b.getContext());
  RuleContext ctx(b.getContext(), opName.stripDialect(), operands, b.getDictionaryAttr({}));
  if (failed(opName.getRegisteredInfo()->getInterface<TypeRuleOpInterface>()->inferTypes(ctx)))
    return {};
  OperationState state(loc, opName, operands, ctx.results);
  return b.create(state)->getResult(0);
}

} // namespace toy
