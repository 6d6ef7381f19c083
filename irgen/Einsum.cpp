// SPDX-License-Identifier: Apache-2.0
/// \file
/// Einstein summation: subscripts become diagonals, sums, matrix products and permutations.
#include "irgen/Builtins.h"
#include "irgen/Decisions.h"
#include "irgen/Expressions.h"
#include "irgen/Statements.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;

namespace toy {

namespace {

/// A tensor whose axes have labels: letters, or -1, -2, … for the axes of an ellipsis counted from the last one.
struct Labelled {
  Value value;
  SmallVector<int> labels;
};

class Einsum {
public:
  Einsum(IRGen &g, SourceRange range, std::string spec) : g(g), r(range), spec(std::move(spec)) {}

  RValue run(ArrayRef<RValue> operands) {
    parse(operands);
    SmallVector<Labelled> all;
    for (auto [i, v] : llvm::enumerate(operands)) {
      Labelled x{v.value, inputs[i]};
      takeDiagonals(x);
      all.push_back(std::move(x));
    }
    for (size_t i = 0; i < all.size(); ++i)
      sumOut(all[i], [&](int label) { return llvm::is_contained(output, label) || usedAfter(all, i, label); });
    if (all.size() == 3)
      return ofThree(all);
    Labelled result = all[0];
    for (size_t i = 1; i < all.size(); ++i)
      result = contract(result, all[i],
                        [&](int label) { return llvm::is_contained(output, label) || usedFrom(all, i + 1, label); });
    return arranged(result);
  }

private:
  Value arranged(Labelled &result) {
    sumOut(result, [&](int label) { return llvm::is_contained(output, label); });
    return arrange(result, output);
  }

  /// (a, b), c, or a, (b, c) where that takes fewer products.
  Value ofThree(ArrayRef<Labelled> all) {
    const Labelled &a = all[0], &b = all[1], &c = all[2];
    auto isNeededBy = [&](const Labelled &other) {
      return [&](int label) { return llvm::is_contained(output, label) || llvm::is_contained(other.labels, label); };
    };
    auto isOutput = [&](int label) { return llvm::is_contained(output, label); };
    auto fromLeft = [&] {
      Labelled result = contract(contract(a, b, isNeededBy(c)), c, isOutput);
      return arranged(result);
    };
    auto fromRight = [&] {
      Labelled result = contract(a, contract(b, c, isNeededBy(a)), isOutput);
      return arranged(result);
    };
    const bool hasEllipsis = llvm::any_of(
        all, [](const Labelled &x) { return llvm::any_of(x.labels, [](int label) { return label < 0; }); });
    if (hasEllipsis) // whose axes are repeated
      return fromLeft();
    auto cost = [&](const Labelled &x, const Labelled &y, const Labelled &last) { // of the last one with what remains
      SmallVector<int> both = unionOf(x.labels, y.labels), kept;
      llvm::copy_if(both, std::back_inserter(kept), isNeededBy(last));
      return arith<AddOp>(g, productOf(sizesIn(all, both)), productOf(sizesIn(all, unionOf(kept, last.labels))), r);
    };
    return either(g.create<LtOp>(r, {cost(b, c, a), cost(a, b, c)}), fromRight, fromLeft);
  }

  static SmallVector<int> unionOf(ArrayRef<int> a, ArrayRef<int> b) {
    SmallVector<int> all(a);
    llvm::copy_if(b, std::back_inserter(all), [&](int label) { return !llvm::is_contained(a, label); });
    return all;
  }
  SmallVector<Value> sizesIn(ArrayRef<Labelled> all, ArrayRef<int> labels) {
    return llvm::map_to_vector(labels, [&](int label) {
      const Labelled &x = *llvm::find_if(all, [&](const Labelled &l) { return llvm::is_contained(l.labels, label); });
      return sizeOf(g, x.value, axisOf(x, label), r);
    });
  }

  /// A value that a condition on sizes chooses, of the type of the second one.
  Value either(Value condition, llvm::function_ref<Value()> then, llvm::function_ref<Value()> otherwise) {
    if (auto known = constantOf(condition))
      return *known ? then() : otherwise();
    Block *first = newBlock(g), *second = newBlock(g), *join = newBlock(g);
    cf::CondBranchOp::create(g.b, g.loc(r), g.create<TruthOp>(r, {condition}), first, ValueRange(), second,
                             ValueRange());
    ++g.fn().conditions;
    moveTo(g, second);
    Value value = otherwise();
    join->addArgument(value.getType(), g.loc(r));
    cf::BranchOp::create(g.b, g.loc(r), join, value);
    moveTo(g, first);
    Value other = then();
    for (auto [axis, dim] : llvm::enumerate(tensorTypeOf(value).getDims()))
      other = withSize(g, other, axis, dim, r);
    cf::BranchOp::create(g.b, g.loc(r), join, other);
    --g.fn().conditions;
    moveTo(g, join);
    return join->getArgument(0);
  }

  [[noreturn]] void fail(std::string why) { g.fail(DiagId::EinsumSpec, r, {spec, std::move(why)}); }

  SmallVector<int> parseTerm(StringRef term, int64_t ellipsisAxes, bool &hasEllipsis) {
    SmallVector<int> labels;
    hasEllipsis = false;
    while (!term.empty()) {
      if (term.consume_front("...")) {
        if (hasEllipsis)
          fail("an operand has two ellipses");
        hasEllipsis = true;
        for (int64_t i = ellipsisAxes; i > 0; --i)
          labels.push_back(static_cast<int>(-i));
        continue;
      }
      if (!std::isalpha(static_cast<unsigned char>(term.front())))
        fail(std::string("`") + term.front() + "` is no letter");
      labels.push_back(term.front());
      term = term.drop_front();
    }
    return labels;
  }

  void parse(ArrayRef<RValue> operands) {
    std::string text;
    for (char c : spec)
      if (c != ' ')
        text += c;
    auto [left, right] = StringRef(text).split("->");
    bool isExplicit = text.find("->") != std::string::npos, hasEllipsis = false;
    SmallVector<StringRef> terms;
    left.split(terms, ',');
    if (terms.size() != operands.size())
      fail(std::to_string(terms.size()) + " operands are named, " + std::to_string(operands.size()) + " are given");
    int64_t widest = 0;
    for (auto [term, v] : llvm::zip_equal(terms, operands)) {
      int64_t letters = llvm::count_if(term, [](char c) { return c != '.'; }), rank = v.rank();
      bool ellipsis = term.contains("...");
      if (ellipsis ? rank < letters : rank != letters)
        fail("`" + term.str() + "` names " + std::to_string(letters) + " axes, the operand is " + v.type().str());
      widest = ellipsis ? std::max(widest, rank - letters) : widest;
      inputs.push_back(parseTerm(term, rank - letters, hasEllipsis));
    }
    if (isExplicit) {
      output = parseTerm(right, widest, hasEllipsis);
      if (widest && !hasEllipsis)
        fail("the result has no `...`");
      for (auto [i, label] : llvm::enumerate(output)) {
        if (llvm::is_contained(ArrayRef(output).take_front(i), label))
          fail(std::string("the result names `") + static_cast<char>(label) + "` twice");
        if (label > 0 &&
            llvm::none_of(inputs, [label = label](auto &labels) { return llvm::is_contained(labels, label); }))
          fail(std::string("no operand has `") + static_cast<char>(label) + "`");
      }
      return;
    }
    for (int64_t i = widest; i > 0; --i)
      output.push_back(static_cast<int>(-i));
    std::map<int, int> counts;
    for (auto &labels : inputs)
      for (int label : labels)
        if (label > 0)
          ++counts[label];
    for (auto [label, n] : counts) // in alphabetical order
      if (n == 1)
        output.push_back(label);
  }

  static bool usedFrom(ArrayRef<Labelled> all, size_t begin, int label) {
    return llvm::any_of(all.drop_front(begin), [&](const Labelled &x) { return llvm::is_contained(x.labels, label); });
  }
  /// By any other operand.
  static bool usedAfter(ArrayRef<Labelled> all, size_t self, int label) {
    return usedFrom(all, self + 1, label) ||
           llvm::any_of(all.take_front(self), [&](const Labelled &x) { return llvm::is_contained(x.labels, label); });
  }

  void needEqual(Value x, int64_t axis, Value y, int64_t other, int label) {
    Dim a = tensorTypeOf(x).getDim(axis), b = tensorTypeOf(y).getDim(other);
    if (a == b)
      return;
    std::string what = std::string("sizes of `") + static_cast<char>(label) + "` in einsum";
    if (a.isNumber() && b.isNumber()) {
      for (Value v : {x, y})
        failLater(g, v, {DiagId::SizesDiffer, {what, a.str(), b.str()}, r});
      fail(std::string("`") + static_cast<char>(label) + "` is " + a.str() + " and " + b.str());
    }
    g.createOp<CheckEqualOp>(r, {sizeOf(g, x, axis, r), sizeOf(g, y, other, r)}, {g.stringAttr("what", what)});
  }

  /// A label that an operand has twice is its diagonal.
  void takeDiagonals(Labelled &x) {
    for (size_t i = 0; i < x.labels.size(); ++i)
      for (size_t j = i + 1; j < x.labels.size(); ++j)
        if (x.labels[i] == x.labels[j]) {
          needEqual(x.value, i, x.value, j, x.labels[i]);
          SmallVector<int64_t> order;
          SmallVector<int> labels;
          for (size_t k = 0; k < x.labels.size(); ++k)
            if (k != i && k != j) {
              order.push_back(k);
              labels.push_back(x.labels[k]);
            }
          labels.push_back(x.labels[i]);
          order.append({static_cast<int64_t>(i), static_cast<int64_t>(j)});
          x = {g.create<DiagonalOp>(r, {permute(g, x.value, order, r)}, {g.integerAttr("offset", 0)}), labels};
          i = -1;
          break;
        }
  }

  void sumOut(Labelled &x, llvm::function_ref<bool(int)> isNeeded) {
    SmallVector<int64_t> axes;
    SmallVector<int> kept;
    for (auto [axis, label] : llvm::enumerate(x.labels))
      if (isNeeded(label))
        kept.push_back(label);
      else
        axes.push_back(axis);
    auto sum = [&](ArrayRef<int64_t> over) {
      x.value = g.create<SumOp>(r, {x.value}, {g.integersAttr("axes", over), g.boolAttr("keepdims", false)});
    };
    const auto first = axesToFoldFirst(x.labels.size(), axes);
    if (!first.empty())
      sum(first);
    if (axes.resize(axes.size() - first.size()); !axes.empty())
      sum(axes);
    x.labels = kept;
  }

  static int64_t axisOf(const Labelled &x, int label) { return llvm::find(x.labels, label) - x.labels.begin(); }

  /// The axes in another order; labels that are missing become axes of size 1.
  Value arrange(const Labelled &x, ArrayRef<int> order) {
    SmallVector<int64_t> permutation;
    for (int label : order)
      if (llvm::is_contained(x.labels, label))
        permutation.push_back(axisOf(x, label));
    Value moved = permute(g, x.value, permutation, r);
    if (permutation.size() == order.size())
      return moved;
    SmallVector<Value> sizes;
    int64_t axis = 0;
    for (int label : order)
      sizes.push_back(llvm::is_contained(x.labels, label) ? sizeOf(g, moved, axis++, r) : g.integer(1, r));
    return reshape(g, moved, sizes, r);
  }

  Value productOf(ArrayRef<Value> sizes) {
    Value product = g.integer(1, r);
    for (Value size : sizes)
      product = arith<MulOp>(g, product, size, r);
    return product;
  }
  SmallVector<Value> sizesOf(const Labelled &x, ArrayRef<int> labels) {
    return llvm::map_to_vector(labels, [&](int label) { return sizeOf(g, x.value, axisOf(x, label), r); });
  }

  /// Whose products are sums of rounded products.
  static bool sumsProducts(DType dtype) {
    return isComplex(dtype) || dtype == DType::F64 || dtype == DType::F32 || dtype == DType::I64;
  }
  /// Where all labels that stay are both operands': products of elements, and their sums, for which no matrices have to
  /// be made. The axes lie as those of the first operand, if it has all labels.
  Labelled rowsOfProducts(const Labelled &x, const Labelled &y, ArrayRef<int> batch, ArrayRef<int> inner, DType dtype) {
    SmallVector<int> order(batch);
    order.append(inner.begin(), inner.end());
    if (x.labels.size() == order.size())
      order = x.labels;
    RValue product = elementwise<MulOp>(g, RValue(arrange(x, order)), RValue(arrange(y, order)), dtype, r, r, r);
    Labelled all{product.value, order};
    sumOut(all, [&](int label) { return !llvm::is_contained(inner, label); });
    return all;
  }

  /// A batch of matrices with such rows and columns. Where the operand has its axes in the order of their transposes,
  /// it is taken as those, which products read in place.
  Value matrices(const Labelled &x, ArrayRef<int> batch, ArrayRef<int> rows, ArrayRef<int> columns) {
    SmallVector<int> order(batch);
    order.append(columns.begin(), columns.end());
    order.append(rows.begin(), rows.end());
    const bool isTransposed = x.labels == order;
    if (!isTransposed) {
      order.assign(batch.begin(), batch.end());
      order.append(rows.begin(), rows.end());
      order.append(columns.begin(), columns.end());
    }
    const Value all = arrange(x, order);
    SmallVector<Value> sizes;
    SmallVector<int64_t> permutation;
    for (size_t axis = 0; axis < batch.size(); ++axis) {
      sizes.push_back(sizeOf(g, all, axis, r));
      permutation.push_back(axis);
    }
    const Value height = productOf(sizesOf(x, rows)), width = productOf(sizesOf(x, columns));
    if (!isTransposed) {
      sizes.append({height, width});
      return reshape(g, all, sizes, r);
    }
    sizes.append({width, height});
    permutation.append({static_cast<int64_t>(batch.size()) + 1, static_cast<int64_t>(batch.size())});
    return permute(g, reshape(g, all, sizes, r), permutation, r);
  }

  /// Labels of both that nothing needs later are summed: a matrix product over the labels of both that stay.
  Labelled contract(const Labelled &x, const Labelled &y, llvm::function_ref<bool(int)> isNeeded) {
    SmallVector<int> batch, inner, left, right;
    for (int label : x.labels) {
      bool shared = llvm::is_contained(y.labels, label);
      (shared ? isNeeded(label) || label < 0 ? batch : inner : left).push_back(label);
      if (shared && label > 0)
        needEqual(x.value, axisOf(x, label), y.value, axisOf(y, label), label);
    }
    for (int label : y.labels)
      if (!llvm::is_contained(x.labels, label))
        right.push_back(label);
    for (SmallVector<int> *side : {&left, &right}) // axes of an ellipsis broadcast
      for (int label : llvm::to_vector(*side))
        if (label < 0) {
          batch.push_back(label);
          side->erase(llvm::find(*side, label));
        }
    llvm::stable_sort(batch, [](int a, int b) { return (a < 0) > (b < 0) || (a < 0 && b < 0 && a < b); });
    SmallVector<int> labels(batch);
    labels.append(left);
    labels.append(right);
    DType dtype = promoteAll({RValue(x.value), RValue(y.value)});
    if (inner.empty()) {
      RValue product = elementwise<MulOp>(g, RValue(arrange(x, labels)), RValue(arrange(y, labels)),
                                          dtype == DType::Bool ? DType::I64 : dtype, r, r, r);
      return {product.value, labels};
    }
    if (!batch.empty() && left.empty() && right.empty() && sumsProducts(dtype))
      return rowsOfProducts(x, y, labels, inner, dtype);
    Value a = matrices(x, batch, left, inner), b = matrices(y, batch, inner, right);
    RValue product = matmul(g, RValue(a), RValue(b), r, r, r);
    SmallVector<Value> sizes;
    for (size_t axis = 0; axis < batch.size(); ++axis)
      sizes.push_back(sizeOf(g, product.value, axis, r));
    sizes.append(sizesOf(x, left));
    sizes.append(sizesOf(y, right));
    return {reshape(g, product.value, sizes, r), labels};
  }

  IRGen &g;
  SourceRange r;
  std::string spec;
  SmallVector<SmallVector<int>> inputs;
  SmallVector<int> output;
};

} // namespace

RValue einsumBuiltin(IRGen &g, Bound &args, SourceRange r) {
  std::string spec = staticString(g, *args["subscripts"], "einsum");
  bool severalAreNamed = StringRef(spec).contains(',');
  std::vector<RValue> operands = tensorList(g, args, severalAreNamed);
  for (RValue &v : operands)
    v = convertFor(g, 'n', v, r);
  if (operands.empty())
    g.fail(DiagId::MissingArgument, r, {"einsum", "operands"});
  return Einsum(g, r, spec).run(operands);
}

} // namespace toy
