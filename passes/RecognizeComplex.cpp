// SPDX-License-Identifier: Apache-2.0
/// \file
/// Real arithmetic that is complex arithmetic becomes complex operations. Only forms with the same bits are raised
/// (matrix products: with the same componentwise error bound); everything that comes close is reported with the reason.
#include "passes/Passes.h"
#include "passes/RecognitionLog.h"
#include "passes/recognize/Relaxed.h"
#include "passes/recognize/SumOfProducts.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_RECOGNIZECOMPLEX
#include "passes/Passes.h.inc"

namespace {

bool isCosineAndSine(Value x, Value y) {
  auto cosine = x.getDefiningOp<CosOp>();
  auto sine = y.getDefiningOp<SinOp>();
  return cosine && sine && cosine.getX() == sine.getX();
}

/// x without reshapes that only drop or add axes: they do not change which elements these are.
Value withoutReshape(Value x) {
  while (auto reshape = (x = withoutRelabel(x)).getDefiningOp<ReshapeOp>())
    x = reshape.getX();
  return x;
}

bool isSameSize(Value x, Value y) {
  auto size = x == y ? std::nullopt : sizeBehind(x);
  return x == y || (size && size == sizeBehind(y));
}

/// Whether x and y are slices of one tensor that differ only in the start of its last axis: the even and odd elements,
/// the elements 0 and 1, or the two halves.
bool isSplitPair(Value x, Value y) {
  auto s = withoutReshape(x).getDefiningOp<SliceOp>(), t = withoutReshape(y).getDefiningOp<SliceOp>();
  if (!s || !t || s.getX() != t.getX() || s.getSteps() != t.getSteps())
    return false;
  size_t rank = s.getSteps().size(), last = rank - 1;
  bool isEveryOther = s.getSteps()[last] == 2; // what is multiplied with both says that there are as many
  for (size_t i = 0; i < s.getBounds().size(); ++i)
    if (i != last && !(isEveryOther && i == rank + last) && !isSameSize(s.getBounds()[i], t.getBounds()[i]))
      return false;
  auto from = sizeBehind(s.getStarts()[last]), to = sizeBehind(t.getStarts()[last]),
       count = sizeBehind(s.getCounts()[last]);
  if (!from || !to || !count || !from->is(0))
    return false;
  Dim size = tensorTypeOf(s.getX()).getDim(last); // an axis without elements has no element 1
  return isEveryOther ? to->is(1) || *to == size.min(Dim::number(size.getContext(), 1))
                      : s.getSteps()[last] == 1 && *to == *count;
}

class Recognizer {
public:
  Recognizer(func::FuncOp function, RecognitionLog &log) : function(function), log(log) {}

  void run() {
    for (Block &block : function.getBody())
      for (Operation &op : block)
        if (auto sum = sumOfProducts(&op))
          sums.push_back(*sum);
    pairUp();
    for (const ComplexProduct &product : products)
      raise(product);
    for (Operation *part : llvm::reverse(replaced))
      eraseDead(part);
    for (Block &block : function.getBody()) {
      for (AddOp add : SmallVector<AddOp>(block.getOps<AddOp>()))
        raiseHalfSplit(add);
      raiseMagnitudesAndAngles(block);
      for (UseOp use : llvm::make_early_inc_range(block.getOps<UseOp>()))
        if (use->hasAttr("toy.part"))
          use.erase();
    }
  }

private:
  /// Sums over the same four operands; of those, pairs in program order.
  void pairUp() {
    llvm::MapVector<SmallVector<void *, 4>, SmallVector<size_t>, std::map<SmallVector<void *, 4>, unsigned>> groups;
    for (auto [i, sum] : llvm::enumerate(sums)) {
      SmallVector<void *, 4> key = sum.operandKey();
      key.push_back(reinterpret_cast<void *>(static_cast<uintptr_t>(sum.isMatrix)));
      groups[key].push_back(i);
    }
    for (auto &[key, members] : groups)
      if (members.size() > 1)
        pairGroup(members);
  }

  /// As many pairs as possible; among those the ones that come first. Members are in program order and almost always
  /// two.
  void pairGroup(ArrayRef<size_t> members) {
    SmallVector<SmallVector<size_t>> partners(members.size());
    for (size_t i = 0; i < members.size(); ++i)
      for (size_t j = i + 1; j < members.size(); ++j)
        if (canPair(sums[members[i]], sums[members[j]])) {
          partners[i].push_back(j);
          partners[j].push_back(i);
        }
    SmallVector<std::optional<size_t>> mate(members.size());
    // Sums with mixed signs on one side, equal signs on the other: augmenting paths give a largest matching.
    auto augment = [&](auto &self, size_t i, SmallVector<bool> &seen) -> bool {
      for (size_t j : partners[i]) {
        if (seen[j])
          continue;
        seen[j] = true;
        if (!mate[j] || self(self, *mate[j], seen)) {
          mate[j] = i;
          mate[i] = j;
          return true;
        }
      }
      return false;
    };
    for (size_t i = 0; i < members.size(); ++i)
      if (sums[members[i]].hasMixedSigns() && !mate[i]) {
        SmallVector<bool> seen(members.size(), false);
        augment(augment, i, seen);
      }
    for (size_t i = 0; i < members.size(); ++i) {
      if (mate[i] && *mate[i] > i)
        products.push_back(*asProduct(sums[members[i]], sums[members[*mate[i]]]));
      else if (!mate[i])
        explain(sums[members[i]], members, i);
    }
  }

  bool canPair(const SumOfProducts &x, const SumOfProducts &y) { return asProduct(x, y).has_value(); }

  std::optional<ComplexProduct> asProduct(const SumOfProducts &first, const SumOfProducts &second) {
    Mismatch why;
    const ProductTerm *culprit = nullptr;
    auto product = realPartIsSecond(first, second) ? matchProduct(second, first, why, culprit)
                                                   : matchProduct(first, second, why, culprit);
    return product && refusal(*product).empty() ? product : std::nullopt;
  }

  /// Every such pair is a product in two readings, with the parts exchanged. The real part is the one that is used as
  /// such, or comes first.
  bool realPartIsSecond(const SumOfProducts &first, const SumOfProducts &second) {
    Value x = first.root->getResult(0), y = second.root->getResult(0);
    for (Operation *user : x.getUsers())
      if (isa<ComplexOp>(user))
        return user->getOperand(0) == y && user->getOperand(1) == x;
    auto joinedAt = [](Value v) -> std::pair<Operation *, unsigned> {
      for (OpOperand &use : v.getUses()) {
        Operation *user = use.getOwner();
        if (isa<ReshapeOp>(user) && user->hasOneUse())
          for (OpOperand &next : user->getResult(0).getUses())
            if (isa<ConcatOp>(next.getOwner()))
              return {next.getOwner(), next.getOperandNumber()};
        if (isa<ConcatOp>(user))
          return {user, use.getOperandNumber()};
      }
      return {nullptr, 0};
    };
    auto [concatX, positionX] = joinedAt(x);
    auto [concatY, positionY] = joinedAt(y);
    return concatX && concatX == concatY && positionY < positionX;
  }

  /// Why a pair with the right operands and signs is left alone; empty when it is not.
  std::string refusal(const ComplexProduct &p) {
    Operation *re = p.re->root, *im = p.im->root;
    if (!isFloat(tensorTypeOf(re->getResult(0)).getDtype()))
      return "there are no complex integers";
    if (re->getBlock() != im->getBlock())
      return "its parts are computed in different branches";
    // Both have the shape that all four operands stretch to.
    if (!isSameUpToNames(tensorTypeOf(re->getResult(0)), tensorTypeOf(im->getResult(0))))
      return "its parts have different types, " + typeText(re->getResult(0).getType()) + " and " +
             typeText(im->getResult(0).getType());
    if (p.re->isMatrix && !(isSameUpToNames(tensorTypeOf(p.a), tensorTypeOf(p.b)) &&
                            isSameUpToNames(tensorTypeOf(p.c), tensorTypeOf(p.d))))
      return "real and imaginary parts of a factor have different shapes";
    return "";
  }

  void explain(const SumOfProducts &sum, ArrayRef<size_t> members, size_t self) {
    for (size_t other = 0; other < self; ++other) { // once, at the later sum
      const SumOfProducts &first = sums[members[other]];
      Mismatch why;
      const ProductTerm *culprit = nullptr;
      auto product = matchProduct(first, sum, why, culprit);
      Location at = sum.root->getLoc();
      if (product) {
        if (std::string reason = refusal(*product); !reason.empty())
          log.missed.push_back(
              {at, "`{0}` and `{1}` would be a complex product, but " + reason, {first.root->getLoc(), at}});
      } else if (why == Mismatch::Order)
        log.missed.push_back(
            {at,
             "not a complex product with `{0}`: there is the product `{1}`; matrix products do not commute",
             {first.root->getLoc(), culprit->op->getLoc()}});
      else if (why == Mismatch::Signs)
        log.missed.push_back(
            {at,
             "not a complex product with `{0}`: one of the two must be a sum and the other a difference",
             {first.root->getLoc()}});
      else
        continue;
      return;
    }
  }

  void raise(ComplexProduct p) {
    for (Value *operand : {&p.a, &p.b, &p.c, &p.d}) // parts of products that were raised before
      if (auto it = raised.find(*operand); it != raised.end())
        *operand = it->second;
    Operation *re = p.re->root, *im = p.im->root, *earlier = re->isBeforeInBlock(im) ? re : im;
    OpBuilder b(earlier);
    Location loc = earlier->getLoc();
    auto factor = [&](Value real, bool negateReal, Value imaginary, bool negateImaginary) {
      if (negateReal)
        real = createByRule(b, loc, "toy.neg", real);
      bool conjugate = !negateReal && negateImaginary;
      if (negateImaginary && !conjugate)
        imaginary = createByRule(b, loc, "toy.neg", imaginary);
      if (p.re->isMatrix && imaginary.getType() != real.getType()) // one size under two names: both sums were checked
        imaginary = RelabelOp::create(b, loc, real.getType(), imaginary);
      Value z = createByRule(b, loc, "toy.complex", {real, imaginary});
      return conjugate ? createByRule(b, loc, "toy.conj", z) : z;
    };
    Value x = factor(p.a, false, p.b, p.negateB()), y = factor(p.c, p.negateC(), p.d, p.negateD());
    Value z = createByRule(b, loc, p.re->isMatrix ? "toy.matmul" : "toy.mul", {x, y});
    if (!z || !isSameUpToNames(tensorTypeOf(z).withDType(realOf(tensorTypeOf(z).getDtype())),
                               tensorTypeOf(re->getResult(0)))) {
      log.missed.push_back(
          {loc,
           "`{0}` and `{1}` would be a complex product, but a factor's real and imaginary parts broadcast differently",
           {re->getLoc(), im->getLoc()}});
      return;
    }
    for (auto [part, name] : {std::pair(re, "toy.real"), std::pair(im, "toy.imag")}) {
      Value value = createByRule(b, loc, name, z);
      if (Type type = part->getResult(0).getType(); value.getType() != type) {
        OpBuilder here(part); // where the names are known
        value = RelabelOp::create(here, loc, type, value);
      }
      raised[part->getResult(0)] = value;
      part->getResult(0).replaceAllUsesWith(value);
      replaced.push_back(part);
    }
    log.recognized.push_back({re->getLoc(), kindOf(p), p.form(), p.re->isMatrix ? "evaluated" : "loop"});
    if (p.re->isMatrix)
      z.getDefiningOp()->setAttr("toy.recognized", b.getI64IntegerAttr(log.recognized.size() - 1));
  }

  /// What only led to sums that were replaced would look like more complex arithmetic.
  void eraseDead(Operation *op) {
    if (erased.contains(op) || !op->use_empty() || !isa<AddOp, SubOp, MulOp, NegOp, MatMulOp>(op))
      return;
    SmallVector<Operation *> operands;
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp(); def && !llvm::is_contained(operands, def))
        operands.push_back(def);
    erased.insert(op);
    op->erase();
    for (Operation *def : operands)
      eraseDead(def);
  }

  std::string kindOf(const ComplexProduct &p) {
    if (p.re->isMatrix)
      return p.isConjugated() ? "conj_matmul" : "matmul";
    bool splitX = isSplitPair(p.a, p.b) || isSplitPair(p.b, p.a),
         splitY = isSplitPair(p.c, p.d) || isSplitPair(p.d, p.c);
    if (splitX != splitY)
      return "rope";
    if (isCosineAndSine(p.a, p.b) || isCosineAndSine(p.c, p.d))
      return "rotation";
    return p.isConjugated() ? "conj_mul" : "mul";
  }

  /// The value whose two copies along the last axis are v, through functions of elements and new axes; creates it at
  /// the builder.
  Value halfOf(OpBuilder &b, Value v) {
    Operation *def = v.getDefiningOp();
    if (!def)
      return {};
    int64_t last = tensorTypeOf(v).getRank() - 1;
    if (auto concat = dyn_cast<ConcatOp>(def))
      return concat.getParts().size() == 2 && concat.getParts()[0] == concat.getParts()[1] &&
                     static_cast<int64_t>(concat.getAxis()) == last
                 ? concat.getParts()[0]
                 : Value();
    if (isa<CosOp, SinOp>(def)) {
      Value half = halfOf(b, def->getOperand(0));
      return half ? createByRule(b, def->getLoc(), def->getName().getStringRef(), half) : Value();
    }
    auto reshape = dyn_cast<ReshapeOp>(def);
    if (!reshape || tensorTypeOf(reshape.getX()).getDims().back() != tensorTypeOf(v).getDims().back())
      return {};
    Value half = halfOf(b, reshape.getX());
    if (!half)
      return {};
    SmallVector<Value> operands = {half};
    llvm::append_range(operands, reshape.getSizes().drop_back());
    TensorType type = tensorTypeOf(half);
    operands.push_back(
        DimOp::create(b, def->getLoc(), TensorType::scalar(b.getContext(), DType::I64), half, type.getRank() - 1));
    SmallVector<Dim> dims = tensorTypeOf(v).getDims();
    dims.back() = type.getDims().back();
    return ReshapeOp::create(b, def->getLoc(), type.withDims(dims), half, ValueRange(operands).drop_front());
  }

  /// x*cos + cat(-x2, x1)*sin, where x is cat(x1, x2) and both tables hold each value twice: the pairs (x1, x2) turned
  /// by the angle. The first half is x1*c + (-x2)*s = x1*c - x2*s, the second x2*c + x1*s: the parts of (x1 + i x2)(c +
  /// is), each rounded in the same places.
  void raiseHalfSplit(AddOp add) {
    auto sum = add->use_empty() ? std::nullopt : sumOfProducts(add);
    if (!sum || sum->isMatrix || sum->terms[0].negative || sum->terms[1].negative)
      return;
    for (unsigned turned : {0u, 1u})
      for (bool swapTurned : {false, true})
        for (bool swapPlain : {false, true}) {
          const ProductTerm &r = sum->terms[turned], &p = sum->terms[1 - turned];
          Value rotated = swapTurned ? r.rhs : r.lhs, sine = swapTurned ? r.lhs : r.rhs, x = swapPlain ? p.rhs : p.lhs,
                cosine = swapPlain ? p.lhs : p.rhs;
          auto halves = withoutRelabel(rotated).getDefiningOp<ConcatOp>();
          if (!halves || halves.getParts().size() != 2 ||
              static_cast<int64_t>(halves.getAxis()) != tensorTypeOf(rotated).getRank() - 1)
            continue;
          auto negated = withoutRelabel(halves.getParts()[0]).getDefiningOp<NegOp>();
          Value x1 = withoutRelabel(halves.getParts()[1]), x2 = negated ? withoutRelabel(negated.getX()) : Value();
          auto slice = x1.getDefiningOp<SliceOp>();
          if (!x2 || !slice || withoutRelabel(slice.getX()) != withoutRelabel(x) || !isSplitPair(x1, x2) ||
              slice.getSteps().back() != 1)
            continue;
          OpBuilder b(add);
          Value c = halfOf(b, cosine), s = halfOf(b, sine);
          if (!c || !s) {
            log.missed.push_back(
                {add.getLoc(),
                 "`{0}` would be a rotation of pairs, but it is not known that both halves of its tables are the same",
                 {add.getLoc()}});
            return;
          }
          Location loc = add.getLoc();
          Value left = createByRule(b, loc, "toy.complex", {x1, x2}),
                right = createByRule(b, loc, "toy.complex", {c, s});
          Value z = left && right ? createByRule(b, loc, "toy.mul", {left, right}) : Value();
          if (!z)
            return;
          Value parts[] = {createByRule(b, loc, "toy.real", z), createByRule(b, loc, "toy.imag", z)};
          if (tensorTypeOf(parts[0]).getRank() != tensorTypeOf(add.getResult()).getRank())
            return;
          auto joined = ConcatOp::create(b, loc, add.getType(), parts, tensorTypeOf(add.getResult()).getRank() - 1);
          add.getResult().replaceAllUsesWith(joined);
          log.recognized.push_back({loc, "rope", "x*cos + cat(-x2, x1)*sin", "loop"});
          return;
        }
  }

  /// r*cos t with r*sin t, and x*x + y*y, where they were not part of a product.
  void raiseMagnitudesAndAngles(Block &block) {
    llvm::MapVector<std::pair<void *, void *>, MulOp> cosines;
    auto angle = [](MulOp mul, auto function, Value &radius) -> Value {
      for (auto [f, r] : {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())})
        if (Operation *def = f.getDefiningOp(); isa_and_present<decltype(function)>(def) && isReal(r)) {
          radius = r;
          return def->getOperand(0);
        }
      return {};
    };
    SmallVector<std::pair<MulOp, MulOp>> polars;
    llvm::MapVector<std::pair<void *, void *>, MulOp> sines;
    for (MulOp mul : block.getOps<MulOp>()) {
      if (!isReal(mul.getResult()) || !llvm::any_of(mul->getUsers(), [](Operation *) { return true; }))
        continue;
      Value radius;
      if (Value t = angle(mul, CosOp(), radius))
        cosines.insert({{radius.getAsOpaquePointer(), t.getAsOpaquePointer()}, mul});
      if (Value t = angle(mul, SinOp(), radius))
        sines.insert({{radius.getAsOpaquePointer(), t.getAsOpaquePointer()}, mul});
    }
    for (auto &[key, cosine] : cosines)
      if (auto it = sines.find(key); it != sines.end() && it->second != cosine)
        polars.push_back({cosine, it->second});
    for (auto [cosine, sine] : polars) {
      OpBuilder b(cosine->isBeforeInBlock(sine) ? cosine : sine);
      Location loc = cosine.getLoc();
      Value radius;
      Value t = angle(cosine, CosOp(), radius);
      Value z = createByRule(b, loc, "toy.polar", {radius, t});
      if (!z || tensorTypeOf(z).withDType(realOf(tensorTypeOf(z).getDtype())) != cosine.getType() ||
          cosine.getType() != sine.getType())
        continue;
      cosine.replaceAllUsesWith(createByRule(b, loc, "toy.real", z));
      sine.replaceAllUsesWith(createByRule(b, loc, "toy.imag", z));
      log.recognized.push_back({loc, "polar", "re = r*cos t, im = r*sin t", "loop"});
    }
    for (ComplexOp pair : SmallVector<ComplexOp>(block.getOps<ComplexOp>())) { // cos t + i sin t
      if (!isCosineAndSine(pair.getLhs(), pair.getRhs()))
        continue;
      OpBuilder b(pair);
      Value angle = pair.getLhs().getDefiningOp<CosOp>().getX();
      auto one = DenseElementsAttr::get(RankedTensorType::get({}, b.getF64Type()), 1.0);
      Value radius =
          ConstantOp::create(b, pair.getLoc(), TensorType::scalar(b.getContext(), DType::F64), cast<ElementsAttr>(one));
      if (DType dtype = tensorTypeOf(angle).getDtype(); dtype != DType::F64)
        radius = CastOp::create(b, pair.getLoc(), TensorType::scalar(b.getContext(), dtype), radius);
      Value z = createByRule(b, pair.getLoc(), "toy.polar", {radius, angle});
      if (!z || z.getType() != pair.getType())
        continue;
      pair.getResult().replaceAllUsesWith(z);
      log.recognized.push_back({pair.getLoc(), "cis", "cos t + i sin t", "loop"});
    }
    SmallVector<AddOp> squares(block.getOps<AddOp>());
    for (AddOp add : squares) {
      auto sum = add->use_empty() ? std::nullopt : sumOfProducts(add);
      if (!sum || sum->isMatrix || sum->hasMixedSigns() || sum->terms[0].negative ||
          sum->terms[0].lhs != sum->terms[0].rhs || sum->terms[1].lhs != sum->terms[1].rhs ||
          sum->terms[0].lhs == sum->terms[1].lhs || !isFloat(tensorTypeOf(add.getResult()).getDtype()))
        continue;
      OpBuilder b(add);
      Value z = createByRule(b, add.getLoc(), "toy.complex", {sum->terms[0].lhs, sum->terms[1].lhs}),
            r = z ? createByRule(b, add.getLoc(), "toy.abs2", z) : Value();
      if (!r || r.getType() != add.getType())
        continue;
      add.getResult().replaceAllUsesWith(r);
      log.recognized.push_back({add.getLoc(), "abs2", "a*a + b*b", "loop"});
    }
  }

  static bool isReal(Value x) { return isFloat(tensorTypeOf(x).getDtype()) && !isComplex(tensorTypeOf(x).getDtype()); }

  func::FuncOp function;
  RecognitionLog &log;
  std::vector<SumOfProducts> sums;
  std::vector<ComplexProduct> products;
  llvm::DenseMap<Value, Value> raised; ///< sums, by the parts that took their places
  SmallVector<Operation *> replaced;
  llvm::DenseSet<Operation *> erased;
};

/// The reason with the places of its parts, where no source text is at hand.
std::string withPlaces(const Missed &missed) {
  std::string reason = missed.reason;
  for (auto [i, part] : llvm::enumerate(missed.parts)) {
    std::string hole = "{" + std::to_string(i) + "}", place;
    llvm::raw_string_ostream(place) << part;
    if (size_t at = reason.find(hole); at != std::string::npos)
      reason.replace(at, hole.size(), place);
  }
  return reason;
}

struct RecognizeComplexPass : impl::RecognizeComplexBase<RecognizeComplexPass> {
  using RecognizeComplexBase::RecognizeComplexBase;
  RecognitionLog *log = nullptr;

  void runOnOperation() override {
    RecognitionLog own;
    Recognizer(getOperation(), log ? *log : own).run();
    recognizeRelaxed(getOperation(), log ? *log : own, relaxed);
    if (log)
      return;
    for (const Recognized &r : own.recognized)
      emitRemark(r.place) << "recognized " << r.kind << ": " << r.form;
    for (const Missed &m : own.missed)
      emitRemark(m.place) << "missed: " << withPlaces(m);
  }
};

} // namespace

std::unique_ptr<Pass> createRecognizeComplex(const RecognizeComplexOptions &options, RecognitionLog *log) {
  auto pass = std::make_unique<RecognizeComplexPass>(options);
  pass->log = log;
  return pass;
}

} // namespace toy
