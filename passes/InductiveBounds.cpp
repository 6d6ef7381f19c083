// SPDX-License-Identifier: Apache-2.0
/// \file
/// Indices that loops hand on: `best` where only counters below the size are assigned to it. That what a block is
/// handed lies below a size is assumed for all such values at once and proved for each way into the block; what fails
/// is given up until the rest proves itself, the greatest fixed point. Each entry of a block has what earlier entries
/// had as its assumption, so what is left holds at all of them.
#include "passes/IntegerBounds.h"

#include "ir/Constants.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace toy {

/// Whether a value may lie below a size because all that it is given does; what counts up lies below what ends its
/// loop.
static bool isHandedOn(BlockArgument argument) {
  return !argument.getOwner()->isEntryBlock() &&
         llvm::none_of(edgesInto(argument.getOwner()), [&](const BlockEdge &edge) {
           Value given = edge.operandOf(argument);
           Operation *def = given ? given.getDefiningOp() : nullptr;
           return !given || (isa_and_present<AddOp, SubOp>(def) && def->getOperand(0) == argument);
         });
}

/// What an index is handed on as: an argument of a block, and what is added to it.
static std::optional<std::pair<BlockArgument, int64_t>> handedOn(Value index) {
  int64_t more = 0;
  if (auto sum = index.getDefiningOp<AddOp>()) {
    auto n = constantInteger(sum.getRhs());
    if (!n || *n < 0 || *n > INT32_MAX)
      return std::nullopt;
    more = *n;
    index = sum.getLhs();
  }
  auto argument = dyn_cast<BlockArgument>(index);
  return argument && isHandedOn(argument) ? std::optional(std::pair(argument, more)) : std::nullopt;
}

/// What may be assumed: for each index that is checked, and all that blocks hand on to it.
SmallVector<Fact> Bounds::assumptions() {
  constexpr size_t most = 64; // of a function: proofs take time
  llvm::SetVector<std::pair<Value, std::pair<Value, int64_t>>> found;
  auto assume = [&](BlockArgument argument, Value size, int64_t gap) {
    Operation *def = size.getDefiningOp();
    Block *made = def ? def->getBlock() : cast<BlockArgument>(size).getOwner();
    if (found.size() < most && dominance.properlyDominates(made, argument.getOwner()))
      found.insert({argument, {size, gap}});
  };
  for (Block *block : order)
    for (auto check : block->getOps<CheckIndexOp>())
      if (auto index = handedOn(check.getIndex());
          index && !isBelow(check.getIndex(), check.getSize(), 1, check.getOperation()))
        assume(index->first, check.getSize(), index->second + 1);
  for (size_t i = 0; i < found.size(); ++i) {
    auto [v, bound] = found[i];
    auto argument = cast<BlockArgument>(v);
    for (const BlockEdge &edge : edgesInto(argument.getOwner()))
      if (auto given = dyn_cast<BlockArgument>(edge.operandOf(argument));
          given && given != argument && isHandedOn(given) && !isBelow(given, bound.first, bound.second, edge.from()))
        assume(given, bound.first, bound.second);
  }
  return llvm::map_to_vector(found,
                             [](auto &entry) { return Fact{entry.first, entry.second.first, entry.second.second}; });
}

void Bounds::noteHandedOn() {
  if (function.getBody().hasOneBlock())
    return;
  SmallVector<Fact> left = assumptions();
  if (left.empty())
    return;
  int proofs = 500; // of a function
  auto blockOf = [](const Fact &fact) { return cast<BlockArgument>(fact.lesser).getOwner(); };
  auto factsBefore = facts;
  const auto factsOfBefore = factsOf;
  for (Block *block : order) // all that is checked in a block holds at its end
    for (Operation &op : *block)
      noteCheck(&op);
  const auto factsAtEnds = facts;
  for (bool changed = true; changed && !left.empty();) {
    facts = factsAtEnds;
    factsOf = factsOfBefore;
    shared.clear(); // answers that followed from what was assumed
    for (const Fact &fact : left)
      note(fact, blockOf(fact));
    const size_t before = left.size();
    llvm::erase_if(left, [&](const Fact &fact) {
      auto argument = cast<BlockArgument>(fact.lesser);
      return llvm::any_of(edgesInto(blockOf(fact)), [&](const BlockEdge &edge) {
        Value given = edge.operandOf(argument);
        return !given || (given != argument && (--proofs < 0 || !isBelow(given, fact.greater, fact.gap, edge.from())));
      });
    });
    changed = left.size() != before;
  }
  facts = std::move(factsBefore);
  factsOf = factsOfBefore;
  shared.clear();
  for (const Fact &fact : left)
    note(fact, blockOf(fact));
}

} // namespace toy
