// SPDX-License-Identifier: Apache-2.0
/// \file
/// Groups that only take parts, join them or convert them are computed where they are read: on a device a launch costs
/// more than doing so twice.
#include "passes/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_REMATERIALIZEPRODUCERS
#include "passes/Passes.h.inc"

namespace {

bool isOfParts(FusedOp group) {
  return llvm::all_of(group.getBody().front(),
                      [](Operation &op) { return isa<RealOp, ImagOp, ComplexOp, ConjOp, CastOp, YieldOp>(op); });
}

/// `reader` with the body of `group` in the place of its result.
void join(FusedOp group, FusedOp reader) {
  Value result = group.getResult(0);
  SetVector<Value> inputs;
  for (Value input : reader.getInputs())
    if (input != result)
      inputs.insert(input);
  inputs.insert_range(group.getInputs());
  OpBuilder b(reader);
  auto joined = FusedOp::create(b, reader.getLoc(), reader->getResultTypes(), inputs.getArrayRef());
  Block *body = b.createBlock(&joined.getBody());
  IRMapping outside, mapping;
  for (Value input : inputs)
    outside.map(input, body->addArgument(input.getType(), input.getLoc()));
  auto clone = [&](FusedOp from) {
    for (auto [argument, input] : llvm::zip_equal(from.getBody().getArguments(), from.getInputs()))
      mapping.map(argument, outside.lookup(input));
    for (Operation &op : from.getBody().front().without_terminator())
      b.clone(op, mapping);
    return mapping.lookup(from.getBody().front().getTerminator()->getOperand(0));
  };
  outside.map(result, clone(group));
  YieldOp::create(b, reader.getLoc(), clone(reader));
  reader.getResult(0).replaceAllUsesWith(joined.getResult(0));
  reader.erase();
}

struct RematerializeProducersPass : impl::RematerializeProducersBase<RematerializeProducersPass> {
  void runOnOperation() override {
    auto isReadByGroups = [](FusedOp group) {
      return llvm::all_of(group->getUsers(),
                          [&](Operation *user) { return isa<FusedOp>(user) && user->getBlock() == group->getBlock(); });
    };
    for (Block &block : getOperation().getBody())
      for (Operation *op = &block.front(), *next; op; op = next) {
        auto group = dyn_cast<FusedOp>(op);
        bool joins = group && isOfParts(group) && isReadByGroups(group);
        while (joins && !group->use_empty())
          join(group, cast<FusedOp>(*group->user_begin()));
        next = op->getNextNode(); // readers are new ones now
        if (joins)
          group.erase();
      }
  }
};

} // namespace
} // namespace toy
