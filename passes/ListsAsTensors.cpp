// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists of numbers that never leave their function become vectors, which grow as they do and which loops over elements
/// know: what is stored goes where it is, behind one question whether somebody else holds it.
#include "ir/Constants.h"
#include "passes/ControlFlow.h"
#include "passes/Passes.h"

#include "mlir/IR/RegionGraphTraits.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_LISTSASTENSORS
#include "passes/Passes.h.inc"

namespace {

/// Whether a value is a list of numbers.
bool isListOfNumbers(Value v) {
  auto list = dyn_cast<ListType>(v.getType());
  auto element = list ? dyn_cast<TensorType>(list.getElement()) : TensorType();
  return element && element.isScalar();
}

/// Whether a list is the beginning of another, which it takes the place of.
bool isBeginning(Operation *op) {
  auto slice = dyn_cast_if_present<ListSliceOp>(op);
  return slice && constantInteger(slice.getStart()) == 0 && constantInteger(slice.getStep()) == 1;
}
/// Whether a list comes from another with something changed.
bool isChange(Operation *op) { return isa_and_present<ListAppendOp, ListSetOp>(op) || isBeginning(op); }

class Converter {
public:
  explicit Converter(func::FuncOp function) : function(function), b(function.getContext()) {}

  void run() {
    collect();
    if (values.empty())
      return;
    nameSizes();
    relabelEdges();
    for (Value v : values)
      if (auto argument = dyn_cast<BlockArgument>(v))
        argument.setType(typeOf(v));
    SmallVector<Operation *> done;
    for (Value v : values) {
      for (Operation *user : llvm::make_early_inc_range(v.getUsers()))
        convertQuestion(user);
      if (Operation *def = v.getDefiningOp())
        done.push_back(def);
    }
    for (Operation *op : done) {
      op->replaceAllUsesWith(ValueRange(made(op)));
      op->erase();
    }
  }

private:
  /// Lists that hand themselves on to each other, of which nothing else is asked than what vectors answer.
  void collect() {
    SmallVector<Value> all; // as they are made
    auto note = [&](Value v) {
      if (isListOfNumbers(v))
        all.push_back(v);
    };
    for (Block *block : llvm::ReversePostOrderTraversal<Region *>(&function.getBody())) {
      llvm::for_each(block->getArguments(), note);
      for (Operation &op : *block)
        llvm::for_each(op.getResults(), note);
    }
    const llvm::DenseSet<Value> reached(all.begin(), all.end());
    llvm::EquivalenceClasses<void *> groups;
    llvm::DenseSet<void *> left; // a member of each group that stays as it is
    auto unite = [&](Value a, Value b) { groups.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer()); };
    for (Value v : all) {
      groups.insert(v.getAsOpaquePointer());
      Operation *def = v.getDefiningOp();
      bool stays = def ? !isa<ListOp>(def) && !isChange(def) : !isHandedOn(cast<BlockArgument>(v), reached);
      if (isChange(def))
        unite(def->getOperand(0), v);
      for (OpOperand &use : v.getUses()) {
        Operation *user = use.getOwner();
        const bool isAsked = (isa<ListLenOp, ListElementOp>(user) || isChange(user)) && use.getOperandNumber() == 0;
        stays |= !isAsked && !isa<BranchOpInterface>(user);
        forEachHandedOn(user, [&](Value from, Value to) {
          if (from == v)
            unite(from, to);
        });
      }
      if (stays)
        left.insert(v.getAsOpaquePointer());
    }
    llvm::DenseSet<void *> leaders;
    for (void *member : left)
      leaders.insert(groups.getLeaderValue(member));
    llvm::copy_if(all, std::back_inserter(values),
                  [&](Value v) { return !leaders.contains(groups.getLeaderValue(v.getAsOpaquePointer())); });
  }

  /// Whether a block is handed lists only that are made on some way.
  static bool isHandedOn(BlockArgument argument, const llvm::DenseSet<Value> &reached) {
    return !argument.getOwner()->isEntryBlock() &&
           llvm::all_of(edgesInto(argument.getOwner()),
                        [&](const BlockEdge &edge) { return reached.contains(edge.operandOf(argument)); });
  }

  /// Sizes, from those that lists are made with on. What a block is handed has the size that all ways give it, at first
  /// of those that are known; if they differ, a name of its own, with which all begins again.
  void nameSizes() {
    for (Value v : values)
      if (isBeginning(v.getDefiningOp()))
        newName(v);
    for (bool again = true; again;) {
      sizes = named;
      const size_t before = named.size();
      for (bool changed = true; changed && named.size() == before;) {
        changed = false;
        for (Value v : values)
          if (!named.contains(v)) {
            Dim size = sizeFrom(v);
            if (named.size() != before || size == sizes.lookup(v)) // names are found by what was known before them
              continue;
            sizes[v] = size;
            changed = true;
          }
      }
      again = named.size() != before;
    }
  }
  /// What is known of the size of a value now, or nothing.
  Dim sizeFrom(Value v) {
    if (auto list = v.getDefiningOp<ListOp>())
      return Dim::number(b.getContext(), list.getValues().size());
    if (auto append = v.getDefiningOp<ListAppendOp>()) {
      Dim before = sizes.lookup(append.getList());
      return before ? before + Dim::number(b.getContext(), 1) : Dim();
    }
    if (auto set = v.getDefiningOp<ListSetOp>())
      return sizes.lookup(set.getList());
    auto argument = cast<BlockArgument>(v);
    Dim same;
    for (const BlockEdge &edge : edgesInto(argument.getOwner())) {
      Dim handed = sizes.lookup(edge.operandOf(argument));
      if (handed && same && handed != same)
        return newName(v);
      same = handed ? handed : same;
    }
    return same;
  }
  Dim newName(Value v) { return named[v] = Dim::symbol(b.getContext(), "list$" + std::to_string(named.size())); }

  TensorType typeOf(Value v) {
    return cast<TensorType>(cast<ListType>(listTypes.try_emplace(v, v.getType()).first->second).getElement())
        .withDims({sizes.lookup(v)});
  }

  /// Other names are given on the way on which they hold: elsewhere, nobody else holds the value.
  void relabelEdges() {
    for (Block &block : llvm::make_early_inc_range(function.getBody()))
      for (BlockEdge edge : edgesInto(&block)) {
        auto needsName = [&](Value argument) {
          return sizes.contains(argument) &&
                 sizes.lookup(argument) != sizes.lookup(edge.operandOf(cast<BlockArgument>(argument)));
        };
        if (llvm::none_of(block.getArguments(), needsName))
          continue;
        if (!isa<cf::BranchOp>(edge.terminator))
          edge = splitEdge(edge, edge.terminator->getLoc());
        b.setInsertionPoint(edge.terminator);
        for (BlockArgument argument : llvm::make_filter_range(block.getArguments(), needsName)) {
          OpOperand &handed = edge.operands()[argument.getArgNumber()];
          handed.set(RelabelOp::create(b, edge.terminator->getLoc(), typeOf(argument), handed.get()));
        }
      }
  }

  /// The length of a list, at an operation before which it may already have been changed: what it was made of is asked
  /// before it is. One that was made longer or shorter has a length that needs no look at it.
  Value lengthOf(Value list, Operation *at) {
    b.setInsertionPoint(at);
    Operation *def = list.getDefiningOp();
    if (auto slice = dyn_cast_if_present<ListSliceOp>(def))
      return slice.getCount();
    if (auto made = dyn_cast_if_present<ListOp>(def))
      return integerConstant(b, at->getLoc(), made.getValues().size());
    if (!isa_and_present<ListAppendOp, ListSetOp>(def))
      return DimOp::create(b, at->getLoc(), TensorType::scalar(b.getContext(), DType::I64), list, 0);
    if (!lengths.contains(def)) {
      Value before = lengthOf(def->getOperand(0), def);
      if (isa<ListAppendOp>(def))
        before = AddOp::create(b, def->getLoc(), before.getType(), before, integerConstant(b, def->getLoc(), 1));
      lengths[def] = before;
    }
    return lengths[def];
  }

  /// What a list is asked.
  void convertQuestion(Operation *op) {
    b.setInsertionPoint(op);
    Value answer, list = op->getOperand(0); // whose type is a vector's by now
    if (isa<ListLenOp>(op))
      answer = lengthOf(list, op);
    else if (auto element = dyn_cast<ListElementOp>(op))
      answer = ElementOp::create(b, op->getLoc(), element.getType(), list, ValueRange(element.getIndex()));
    else
      return;
    op->getResult(0).replaceAllUsesWith(answer);
    op->erase();
  }

  /// A list.
  Value made(Operation *op) {
    b.setInsertionPoint(op);
    TensorType type = typeOf(op->getResult(0));
    Value list = op->getNumOperands() ? op->getOperand(0) : Value();
    if (auto append = dyn_cast<ListAppendOp>(op))
      return AppendOp::create(b, op->getLoc(), type, list, append.getValue());
    if (auto set = dyn_cast<ListSetOp>(op))
      return ElementStoreOp::create(b, op->getLoc(), type, list, set.getValue(), ValueRange(set.getIndex()));
    if (auto slice = dyn_cast<ListSliceOp>(op))
      return ShortenOp::create(b, op->getLoc(), type, list, slice.getCount());
    ValueRange elements = cast<ListOp>(op).getValues();
    if (elements.empty())
      return FullOp::create(b, op->getLoc(), type, zeroConstant(b, op->getLoc(), type.getDtype()),
                            ValueRange(integerConstant(b, op->getLoc(), 0)));
    return FromElementsOp::create(b, op->getLoc(), type, elements,
                                  b.getDenseI64ArrayAttr({static_cast<int64_t>(elements.size())}));
  }

  func::FuncOp function;
  OpBuilder b;
  SmallVector<Value> values;
  llvm::DenseMap<Value, Dim> sizes, named;    ///< of all values; of those with names of their own
  llvm::DenseMap<Value, Type> listTypes;      ///< of values as they were
  llvm::DenseMap<Operation *, Value> lengths; ///< of what it makes
};

struct ListsAsTensorsPass : impl::ListsAsTensorsBase<ListsAsTensorsPass> {
  void runOnOperation() override {
    if (!getOperation().isExternal())
      Converter(getOperation()).run();
  }
};

} // namespace
} // namespace toy
