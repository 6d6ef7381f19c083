// SPDX-License-Identifier: Apache-2.0
/// \file
/// Runs after exact recognition, on what that left and on what it made.
#include "passes/recognize/Relaxed.h"

#include "passes/recognize/SumOfProducts.h"

using namespace mlir;

namespace toy {
namespace {

const char *const optionHint = "; --fast-math allows it";

class RelaxedRecognizer {
public:
  RelaxedRecognizer(RecognitionLog &log, bool allowed) : log(log), allowed(allowed) {}

  void run(Block &block) {
    for (DivOp div : SmallVector<DivOp>(block.getOps<DivOp>()))
      if (!div->use_empty()) {
        quotient(div);
        reciprocal(div);
      }
    threeMultiplications(block);
    flatAccumulations(block);
    for (SqrtOp root : SmallVector<SqrtOp>(block.getOps<SqrtOp>()))
      magnitude(root);
    if (allowed) // without it the polar form stays, which has the same bits
      for (PolarOp polar : SmallVector<PolarOp>(block.getOps<PolarOp>()))
        exponential(polar);
  }

private:
  static bool isReal(Value v) { return isFloat(tensorTypeOf(v).getDtype()); }

  /// Reports or raises: `make` gives the complex value whose parts `re` and `im` are.
  void raise(Operation *re, Operation *im, StringRef kind, StringRef form, StringRef reason,
             llvm::function_ref<Value(OpBuilder &)> make) {
    if (!allowed) {
      log.missed.push_back({re->getLoc(), (form + ": " + reason + optionHint).str(), {}});
      return;
    }
    Operation *later = re->isBeforeInBlock(im) ? im : re;
    OpBuilder b(later);
    Value z = make(b);
    if (!z || tensorTypeOf(z).withDType(realOf(tensorTypeOf(z).getDtype())) != re->getResult(0).getType())
      return;
    // Uses before the later of the two keep what was written.
    auto replace = [&](Operation *part, StringRef name) {
      Value value = createByRule(b, part->getLoc(), name, z);
      part->getResult(0).replaceUsesWithIf(value, [&](OpOperand &use) {
        Operation *user = later->getBlock()->findAncestorOpInBlock(*use.getOwner());
        return !user || !user->isBeforeInBlock(value.getDefiningOp());
      });
    };
    replace(re, "toy.real");
    replace(im, "toy.imag");
    log.recognized.push_back({re->getLoc(), kind.str(), form.str(), "loop"});
  }

  /// re(x * conj y) / (c*c + d*d) with im(x * conj y) / (c*c + d*d), y = c + id: x / y.
  void quotient(DivOp re) {
    auto real = re.getLhs().getDefiningOp<RealOp>();
    auto product = real ? real.getX().getDefiningOp<MulOp>() : MulOp();
    if (!product)
      return;
    for (auto [x, conjugate] :
         {std::pair(product.getLhs(), product.getRhs()), std::pair(product.getRhs(), product.getLhs())}) {
      auto conj = conjugate.getDefiningOp<ConjOp>();
      auto y = conj ? conj.getX().getDefiningOp<ComplexOp>() : ComplexOp();
      if (!y || !isSumOfSquares(re.getRhs(), y.getLhs(), y.getRhs()))
        continue;
      for (Operation *part : product->getUsers())
        if (isa<ImagOp>(part))
          for (Operation *user : part->getUsers())
            if (auto im = dyn_cast<DivOp>(user); im && im.getLhs() == part->getResult(0) &&
                                                 im.getRhs() == re.getRhs() && im->getBlock() == re->getBlock()) {
              raise(re, im, "div", "re = (a*c + b*d)/(c*c + d*d), im = (b*c - a*d)/(c*c + d*d)",
                    "division rounds differently, and does not overflow",
                    [&, x = x](OpBuilder &b) { return createByRule(b, re->getLoc(), "toy.div", {x, y}); });
              return;
            }
    }
  }

  /// c / (c*c + d*d) with -d / (c*c + d*d): 1 / (c + id).
  void reciprocal(DivOp re) {
    if (re->use_empty() || !isReal(re.getLhs()))
      return;
    for (Operation *user : llvm::to_vector(re.getRhs().getUsers())) {
      auto im = dyn_cast<DivOp>(user);
      auto negated = im ? im.getLhs().getDefiningOp<NegOp>() : NegOp();
      if (!negated || im == re || im.getRhs() != re.getRhs() || im->getBlock() != re->getBlock() ||
          !isSumOfSquares(re.getRhs(), re.getLhs(), negated.getX()))
        continue;
      raise(re, im, "reciprocal", "re = c/(c*c + d*d), im = -d/(c*c + d*d)",
            "division rounds differently, and does not overflow", [&](OpBuilder &b) {
              Value y = createByRule(b, re->getLoc(), "toy.complex", {re.getLhs(), negated.getX()});
              return y ? createByRule(b, re->getLoc(), "toy.reciprocal", y) : Value();
            });
      return;
    }
  }

  /// exp(a) * (cos b + i sin b): exp(a + ib).
  void exponential(PolarOp polar) {
    auto radius = polar.getLhs().getDefiningOp<ExpOp>();
    if (!radius || polar->use_empty())
      return;
    OpBuilder b(polar);
    Value z = createByRule(b, polar.getLoc(), "toy.complex", {radius.getX(), polar.getRhs()}),
          e = z ? createByRule(b, polar.getLoc(), "toy.exp", z) : Value();
    if (!e || e.getType() != polar.getType())
      return;
    polar.getResult().replaceAllUsesWith(e);
    log.recognized.push_back({polar.getLoc(), "exp", "re = exp(a)*cos b, im = exp(a)*sin b", "loop"});
  }

  static bool isSumOfSquares(Value v, Value c, Value d) {
    if (auto abs2 = v.getDefiningOp<Abs2Op>()) {
      auto pair = abs2.getX().getDefiningOp<ComplexOp>();
      return pair && ((pair.getLhs() == c && pair.getRhs() == d) || (pair.getLhs() == d && pair.getRhs() == c));
    }
    auto sum = v.getDefiningOp() ? sumOfProducts(v.getDefiningOp()) : std::nullopt;
    if (!sum || sum->isMatrix || sum->terms[0].negative || sum->terms[1].negative)
      return false;
    auto isSquare = [&](unsigned i, Value of) { return sum->terms[i].lhs == of && sum->terms[i].rhs == of; };
    return (isSquare(0, c) && isSquare(1, d)) || (isSquare(0, d) && isSquare(1, c));
  }

  /// k1 = (a + b)·c, k2 = a·(d - c), k3 = b·(c + d), re = k1 - k3, im = k1 + k2 (Gauss).
  void threeMultiplications(Block &block) {
    SmallVector<SumOfProducts> sums;
    for (Operation &op : block)
      if (isa<AddOp, SubOp>(op) && !op.use_empty() && isReal(op.getResult(0)))
        if (auto sum = sumOfProducts(&op))
          sums.push_back(*sum);
    for (const SumOfProducts &re : sums)
      for (const SumOfProducts &im : sums)
        if (re.hasMixedSigns() && !im.hasMixedSigns() && !im.terms[0].negative && re.isMatrix == im.isMatrix)
          matchGauss(re, im);
  }

  void matchGauss(const SumOfProducts &re, const SumOfProducts &im) {
    const ProductTerm &k1 = re.terms[re.terms[0].negative], &k3 = re.terms[!re.terms[0].negative];
    const ProductTerm *k2 = im.terms[0].op == k1.op ? &im.terms[1] : im.terms[1].op == k1.op ? &im.terms[0] : nullptr;
    if (!k2)
      return;
    bool ordered = re.isMatrix;
    for (bool e1 : {false, true})
      for (bool e2 : {false, true})
        for (bool e3 : {false, true}) {
          if (ordered && (e1 || e2 || e3))
            continue;
          Value ab = e1 ? k1.rhs : k1.lhs, c = e1 ? k1.lhs : k1.rhs, a = e2 ? k2->rhs : k2->lhs,
                dc = e2 ? k2->lhs : k2->rhs, b = e3 ? k3.rhs : k3.lhs, cd = e3 ? k3.lhs : k3.rhs;
          auto sumAb = ab.getDefiningOp<AddOp>(), sumCd = cd.getDefiningOp<AddOp>();
          auto difference = dc.getDefiningOp<SubOp>();
          if (!sumAb || !sumCd || !difference || difference.getRhs() != c)
            continue;
          Value d = difference.getLhs();
          auto isSum = [](AddOp sum, Value x, Value y) {
            return (sum.getLhs() == x && sum.getRhs() == y) || (sum.getLhs() == y && sum.getRhs() == x);
          };
          if (!isSum(sumAb, a, b) || !isSum(sumCd, c, d))
            continue;
          raise(re.root, im.root, ordered ? "matmul" : "mul", "k1 = (a+b)c, re = k1 - b(c+d), im = k1 + a(d-c)",
                "the form with three multiplications rounds differently", [&](OpBuilder &at) {
                  Location loc = re.root->getLoc();
                  Value x = createByRule(at, loc, "toy.complex", {a, b}),
                        y = createByRule(at, loc, "toy.complex", {c, d});
                  return x && y ? createByRule(at, loc, ordered ? "toy.matmul" : "toy.mul", {x, y}) : Value();
                });
          return;
        }
  }

  /// (e ± ac) ± bd beside (f ± ad) ± bc.
  struct Accumulation {
    SumOfProducts sum;
    Value rest;
  };
  static std::optional<Accumulation> accumulation(Operation *op) {
    if (!isa<AddOp, SubOp>(op) || op->use_empty() || !isReal(op->getResult(0)))
      return std::nullopt;
    Operation *inner = op->getOperand(0).getDefiningOp();
    if (!isa_and_present<AddOp, SubOp>(inner) || !inner->hasOneUse())
      return std::nullopt;
    // Borrow the matcher: the inner and the outer product as one sum.
    auto term = [](Operation *sum, unsigned i) -> std::optional<ProductTerm> {
      auto mul = sum->getOperand(i).getDefiningOp<MulOp>();
      return mul ? std::optional(ProductTerm{mul, mul.getLhs(), mul.getRhs(), i == 1 && isa<SubOp>(sum)})
                 : std::nullopt;
    };
    auto outer = term(op, 1), added = term(inner, 1), first = term(inner, 0);
    if (!outer || !added || first)
      return std::nullopt;
    return Accumulation{{op, {*added, *outer}, false}, inner->getOperand(0)};
  }

  void flatAccumulations(Block &block) {
    SmallVector<Accumulation> all;
    for (Operation &op : block)
      if (auto found = accumulation(&op))
        all.push_back(*found);
    for (const Accumulation &re : all)
      for (const Accumulation &im : all) {
        Mismatch why;
        const ProductTerm *culprit = nullptr;
        if (!re.sum.hasMixedSigns() || im.sum.hasMixedSigns())
          continue;
        auto product = matchProduct(re.sum, im.sum, why, culprit);
        if (!product)
          continue;
        raise(re.sum.root, im.sum.root, "mul", "re = e + a*c - b*d, im = f + a*d + b*c",
              "the products are added one after the other; written as e + (a*c - b*d) it is a complex product",
              [&](OpBuilder &b) {
                Location loc = re.sum.root->getLoc();
                auto factor = [&](Value real, bool negateReal, Value imaginary, bool negateImaginary) {
                  if (negateReal)
                    real = createByRule(b, loc, "toy.neg", real);
                  if (negateImaginary)
                    imaginary = createByRule(b, loc, "toy.neg", imaginary);
                  return createByRule(b, loc, "toy.complex", {real, imaginary});
                };
                Value x = factor(product->a, false, product->b, product->negateB()),
                      y = factor(product->c, product->negateC(), product->d, product->negateD());
                Value z = x && y ? createByRule(b, loc, "toy.mul", {x, y}) : Value(),
                      base = createByRule(b, loc, "toy.complex", {re.rest, im.rest});
                return z && base ? createByRule(b, loc, "toy.add", {base, z}) : Value();
              });
        break;
      }
  }

  /// sqrt(a*a + b*b): the magnitude of a + ib.
  void magnitude(SqrtOp root) {
    Operation *def = root.getX().getDefiningOp();
    auto abs2 = dyn_cast_if_present<Abs2Op>(def);
    auto pair = abs2 ? abs2.getX().getDefiningOp<ComplexOp>() : ComplexOp();
    if (!pair || root->use_empty())
      return;
    if (!allowed) {
      log.missed.push_back(
          {root.getLoc(),
           std::string("sqrt(a*a + b*b): the magnitude of a complex number does not overflow on the way") + optionHint,
           {}});
      return;
    }
    OpBuilder b(root);
    Value magnitude = createByRule(b, root.getLoc(), "toy.abs", pair.getResult());
    if (!magnitude || magnitude.getType() != root.getType())
      return;
    root.getResult().replaceAllUsesWith(magnitude);
    log.recognized.push_back({root.getLoc(), "abs", "sqrt(a*a + b*b)", "loop"});
  }

  RecognitionLog &log;
  bool allowed;
};

} // namespace

void recognizeRelaxed(func::FuncOp function, RecognitionLog &log, bool allowed) {
  for (Block &block : function.getBody())
    RelaxedRecognizer(log, allowed).run(block);
}

} // namespace toy
