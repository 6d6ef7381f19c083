// SPDX-License-Identifier: Apache-2.0
#include "passes/ArgumentHistory.h"

#include "passes/RowChanges.h"

#include "mlir/IR/RegionGraphTraits.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;

namespace toy {

/// Each step is compared with the places of those before.
constexpr size_t mostSteps = 128;

Value withoutNames(Value v) {
  while (auto relabel = v.getDefiningOp<RelabelOp>())
    v = relabel.getX();
  return v;
}

static bool isScalarInteger64(Value v) {
  auto tensor = dyn_cast<TensorType>(v.getType());
  return tensor && tensor.isScalar() && tensor.getDtype() == DType::I64;
}

static bool isOfEntry(Value v, int depth = 0) {
  constexpr int deepest = 3;
  if (!isScalarInteger64(v))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(v))
    return argument.getOwner()->isEntryBlock();
  Operation *def = v.getDefiningOp();
  return isa<ConstantOp>(def) || (isa<AddOp, SubOp, MulOp>(def) && depth < deepest &&
                                  llvm::all_of(def->getOperands(), [&](Value x) { return isOfEntry(x, depth + 1); }));
}

Value indexOfEntry(Value index) {
  while (auto check = index.getDefiningOp<CheckIndexOp>())
    index = check->getOperand(0);
  return isOfEntry(index) ? index : Value();
}

static bool isOfEntry(ElementStoreOp place) {
  return llvm::all_of(place.getIndices(), [](Value index) { return indexOfEntry(index); });
}

bool haveSameEntry(ElementStoreOp a, ElementStoreOp b) {
  return isOfEntry(a) && isOfEntry(b) && llvm::all_of_zip(a.getIndices(), b.getIndices(), [](Value v, Value w) {
           return areSame(indexOfEntry(v), indexOfEntry(w));
         });
}

static bool haveSameIndices(OperandRange a, OperandRange b) {
  return a.size() == b.size() &&
         llvm::all_of(llvm::zip(a, b), [](auto pair) { return areSame(std::get<0>(pair), std::get<1>(pair)); });
}

ArgumentHistory::ArgumentHistory(BlockArgument argument, const DominanceInfo &dominance)
    : function(cast<func::FuncOp>(argument.getOwner()->getParentOp())), dominance(dominance) {
  collect(argument);
  if (members.size() == 1 || members.size() > mostSteps)
    return;
  differences[argument] = Places();
  flow();
}

/// Whether a value with other names goes on as the tensor, and is not only read, or given to a call.
static bool goesOn(RelabelOp relabel) {
  return llvm::any_of(relabel->getUsers(), [&](Operation *user) {
    auto store = dyn_cast<ElementStoreOp>(user);
    auto other = dyn_cast<RelabelOp>(user);
    return isa<BranchOpInterface>(user) || (store && store.getX() == relabel.getResult()) || (other && goesOn(other));
  });
}

void ArgumentHistory::collect(BlockArgument argument) {
  auto add = [&](Value v) {
    if (isMember.insert(v).second)
      members.push_back(v);
  };
  add(argument);
  for (size_t i = 0; i < members.size(); ++i)
    for (Operation *user : members[i].getUsers()) {
      if (auto store = dyn_cast<ElementStoreOp>(user); store && store.getX() == members[i])
        add(store.getResult());
      else if (auto relabel = dyn_cast<RelabelOp>(user); relabel && goesOn(relabel))
        add(relabel.getResult());
      else if (isa<BranchOpInterface>(user))
        forEachHandedOn(user, [&](Value from, Value to) {
          if (from == members[i])
            add(to);
        });
    }
}

/// What an operation makes of a member, if it does.
Value ArgumentHistory::next(Operation &op) const {
  return isa<ElementStoreOp, RelabelOp>(op) && isMember.contains(op.getResult(0)) ? Value(op.getResult(0)) : Value();
}

/// Differences only grow, so that this ends.
void ArgumentHistory::flow() {
  const llvm::ReversePostOrderTraversal<Region *> order(&function.getBody());
  for (bool changed = true; changed;) {
    changed = false;
    for (Block *block : order) {
      for (BlockArgument argument : block->getArguments()) {
        if (!isMember.contains(argument) || block->isEntryBlock())
          continue;
        for (const BlockEdge &edge : edgesInto(block)) {
          Value from = edge.operandOf(argument);
          if (!isMember.contains(from))
            changed |= update(argument, std::nullopt);
          else if (auto known = differences.find(from); known != differences.end())
            changed |= update(argument, into(block, known->second));
        }
      }
      for (Operation &op : *block)
        if (Value v = next(op); v && differences.contains(op.getOperand(0)))
          changed |= update(v, behind(&op));
    }
  }
}

bool ArgumentHistory::update(Value v, Difference difference) {
  auto [known, isNew] = differences.try_emplace(v, difference);
  if (isNew)
    return true;
  Difference both = join(known->second, difference);
  bool grows = both.has_value() != known->second.has_value() || (both && both->size() != known->second->size());
  known->second = both;
  return grows;
}

ArgumentHistory::Difference ArgumentHistory::join(Difference a, const Difference &b) {
  if (!a || !b)
    return std::nullopt;
  for (ElementStoreOp place : *b)
    if (llvm::none_of(*a, [&](ElementStoreOp other) { return other == place; }))
      a->push_back(place);
  return a;
}

bool ArgumentHistory::isEqual(Value v) const {
  auto known = differences.find(withoutNames(v));
  return known != differences.end() && known->second && known->second->empty();
}

ArgumentHistory::Difference ArgumentHistory::behind(Operation *op) const {
  Difference difference = differences.lookup(op->getOperand(0));
  auto store = dyn_cast<ElementStoreOp>(op);
  if (!difference || !store)
    return difference;
  llvm::erase_if(*difference,
                 [&](ElementStoreOp place) { return haveSameIndices(place.getIndices(), store.getIndices()); });
  if (!storesOld(store))
    difference->push_back(store);
  return difference;
}

/// Whether a place is the same in a block that follows: what it is computed from was computed before it, and is not
/// computed again there.
bool ArgumentHistory::holdsIn(Block *block, ElementStoreOp place) const {
  return llvm::all_of(place.getIndices(), [&](Value index) {
    return indexOfEntry(index) || dominance.properlyDominates(index.getParentBlock(), block);
  });
}

ArgumentHistory::Difference ArgumentHistory::into(Block *block, Difference difference) const {
  if (difference && !llvm::all_of(*difference, [&](ElementStoreOp place) { return holdsIn(block, place); }))
    return std::nullopt;
  return difference;
}

/// Where the argument has an element that is read of a value.
ArgumentHistory::Indices ArgumentHistory::elementOfArgument(Value v, int depth) const {
  auto element = v.getDefiningOp<ElementOp>();
  return element ? elementAt(element.getX(), element.getIndices(), depth) : std::nullopt;
}

/// Through stores: behind `t = x[i]; x[i] = x[k]; x[k] = t`, x[k] is what x[i] was. So is x[i] what x[k] was, since
/// both are one if i is k.
ArgumentHistory::Indices ArgumentHistory::elementAt(Value x, ValueRange indices, int depth) const {
  constexpr int deepest = 6;
  if (isEqual(x))
    return Indices(indices);
  auto store = withoutNames(x).getDefiningOp<ElementStoreOp>();
  if (!store || depth == deepest || store.getIndices().size() != indices.size())
    return std::nullopt;
  auto areAll = [](ValueRange a, ValueRange b, auto same) {
    return llvm::all_of(llvm::zip_equal(a, b), [&](auto pair) { return same(std::get<0>(pair), std::get<1>(pair)); });
  };
  auto isSame = [](Value v, Value w) { return areSame(v, w); };
  Indices stored = elementOfArgument(store.getValue(), depth + 1);
  if (areAll(store.getIndices(), indices, isSame))
    return stored;
  Indices before = elementAt(store.getX(), indices, depth + 1);
  if (!stored || !before || stored->size() != before->size() || stored->size() != indices.size())
    return std::nullopt;
  for (auto [a, b, to, at] : llvm::zip_equal(*stored, *before, store.getIndices(), indices))
    if (!areSame(a, b) && !(areSame(a, to) && areSame(b, at)) && !(areSame(a, at) && areSame(b, to)))
      return std::nullopt;
  return before;
}

/// Whether a value is the element that the argument has where something is stored.
bool ArgumentHistory::isElementOfArgument(Value v, ElementStoreOp store) const {
  Indices indices = elementOfArgument(v);
  return indices && llvm::all_of(llvm::zip_equal(*indices, store.getIndices()),
                                 [](auto pair) { return areSame(std::get<0>(pair), std::get<1>(pair)); });
}

/// Whether a condition says that the argument has the element that is stored. Floats that compare equal may be zeros
/// with different signs.
bool ArgumentHistory::implies(Value condition, bool holds, ElementStoreOp store) const {
  if (auto argument = dyn_cast<BlockArgument>(condition)) { // of a block that one edge leads to
    auto edges = edgesInto(argument.getOwner());
    return edges.size() == 1 && implies(edges.front().operandOf(argument), holds, store);
  }
  Operation *test = condition.getDefiningOp();
  if (auto inverse = dyn_cast<NotOp>(test))
    return implies(inverse->getOperand(0), !holds, store);
  if (isElementOfArgument(condition, store)) { // a bool
    auto constant = store.getValue().getDefiningOp<ConstantOp>();
    auto value = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
    return value && value.getElementType().isInteger(1) && *value.value_begin<bool>() == holds;
  }
  if (!isa<EqOp, NeOp>(test) || isa<EqOp>(test) != holds)
    return false;
  Value a = test->getOperand(0), b = test->getOperand(1);
  DType dtype = tensorTypeOf(a).getDtype();
  if (dtype != tensorTypeOf(b).getDtype() || !isInteger(dtype))
    return false;
  return (isElementOfArgument(a, store) && areSame(b, store.getValue())) ||
         (isElementOfArgument(b, store) && areSame(a, store.getValue()));
}

bool ArgumentHistory::storesOld(ElementStoreOp store) const {
  if (isElementOfArgument(store.getValue(), store))
    return true;
  Region *body = store->getParentRegion();
  if (body->hasOneBlock())
    return false; // there is no tree
  for (auto *node = dominance.getDomTree(body).getNode(store->getBlock()); node && node->getIDom();
       node = node->getIDom()) {
    auto edges = edgesInto(node->getBlock());
    llvm::erase_if(edges, [&](const BlockEdge &edge) { return dominance.dominates(node->getBlock(), edge.from()); });
    auto branch = edges.size() == 1 ? dyn_cast<cf::CondBranchOp>(edges.front().terminator) : cf::CondBranchOp();
    auto truth = branch ? branch.getCondition().getDefiningOp<TruthOp>() : TruthOp();
    if (truth && implies(truth->getOperand(0), edges.front().successor == 0, store))
      return true;
  }
  return false;
}

/// Whether there is one value at a time, which is not returned already: each dies where the next one is made, and
/// blocks are handed one.
bool ArgumentHistory::isLinear(const Liveness &liveness) const {
  return llvm::all_of(members, [&](Value v) {
    auto argument = dyn_cast<BlockArgument>(v);
    if (argument &&
        llvm::count_if(argument.getOwner()->getArguments(), [&](Value other) { return isMember.contains(other); }) != 1)
      return false;
    return llvm::all_of(v.getUsers(), [&](Operation *user) {
      return !isa<func::ReturnOp>(user) && (!next(*user) || user->getOperand(0) != v || diesAt(liveness, v, user));
    });
  });
}

/// What is there at the end of each block: the last value that was made.
llvm::DenseMap<Block *, ArgumentHistory::Difference> ArgumentHistory::atEnds() const {
  llvm::DenseMap<Block *, Difference> ends;
  Region &body = func::FuncOp(function).getBody();
  const llvm::ReversePostOrderTraversal<Region *> order(&body);
  for (bool changed = true; changed;) {
    changed = false;
    for (Block *block : order) {
      std::optional<Difference> here;
      if (block->isEntryBlock())
        here = Difference(Places());
      for (const BlockEdge &edge : edgesInto(block))
        if (auto end = ends.find(edge.from()); end != ends.end()) {
          Difference difference = into(block, end->second);
          here = here ? join(*here, difference) : difference;
        }
      for (BlockArgument argument : block->getArguments())
        if (isMember.contains(argument))
          here = differences.lookup(argument);
      for (Operation &op : *block)
        if (Value v = next(op))
          here = differences.lookup(v);
      if (!here)
        continue;
      auto [known, isNew] = ends.try_emplace(block, *here);
      changed |= isNew || known->second.has_value() != here->has_value() ||
                 (*here && (*here)->size() != known->second->size());
      known->second = *here;
    }
  }
  return ends;
}

/// Whether all places at which the argument may have other elements at the end of a block are read before they were
/// stored into, or of the entry.
bool ArgumentHistory::restore(const Difference &difference, BlockEdge edge, Block *at) {
  constexpr size_t most = 4; // places that each call looks at
  if (!difference)
    return false;
  Restoring restoring = {edge, {}, {}};
  for (ElementStoreOp place : *difference) {
    if (isEqual(place.getX()) && dominance.dominates(place->getBlock(), at))
      restoring.places.push_back(place);
    else if (!isOfEntry(place))
      return false;
    else if (llvm::none_of(restoring.ofEntry, [&](ElementStoreOp other) { return haveSameEntry(other, place); }))
      restoring.ofEntry.push_back(place);
  }
  if (!difference->empty())
    toRestore.push_back(restoring);
  return restoring.ofEntry.size() <= most;
}

bool ArgumentHistory::comesBack(const Liveness &liveness) {
  toRestore.clear();
  if (members.size() > mostSteps || llvm::none_of(members, [](Value v) { return v.getDefiningOp<ElementStoreOp>(); }) ||
      !isLinear(liveness))
    return false;
  auto ends = atEnds();
  for (auto end : function.getBody().getOps<func::ReturnOp>()) {
    Block *block = end->getBlock();
    auto edges = edgesInto(block);
    if (block->isEntryBlock() || llvm::any_of(*block, [&](Operation &op) { return next(op); })) {
      if (!restore(ends.lookup(block), {end, 0}, block))
        return false;
      continue;
    }
    for (const BlockEdge &edge : edges)
      if (ends.contains(edge.from()) && !restore(ends.lookup(edge.from()), edge, edge.from()))
        return false;
  }
  return true;
}

} // namespace toy
