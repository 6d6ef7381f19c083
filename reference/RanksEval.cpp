// SPDX-License-Identifier: Apache-2.0
/// \file
/// What several ranks do together, by the runtime, for evaluated and compiled code alike.
#include "reference/EvaluatorImpl.h"

#include "runtime/ranks/Ranks.h"

using namespace mlir;

namespace toy {

ranks::Place placeOf(Operation *op) {
  Location at = op->getLoc();
  while (true)
    if (auto call = dyn_cast<CallSiteLoc>(at))
      at = call.getCallee();
    else if (auto fused = dyn_cast<FusedLoc>(at))
      at = fused.getLocations().front();
    else
      break;
  auto range = dyn_cast<FileLineColRange>(at);
  if (!range)
    return {};
  StringRef file = range.getFilename();
  return {{file.data(), file.size()}, range.getStartLine(), range.getStartColumn()};
}

static ranks::Reduction reductionOf(StringRef name) {
  return ranks::reductionNamed(std::string_view(name.data(), name.size()));
}

template <> void Frame::evaluate(RankOp o) { setInteger(o.getResult(), ranks::rank()); }
template <> void Frame::evaluate(RankCountOp o) { setInteger(o.getResult(), ranks::count()); }
template <> void Frame::evaluate(BarrierOp o) { ranks::barrier(placeOf(o)); }
template <> void Frame::evaluate(CheckReplicatedOp o) {
  StringRef what = o.getWhat();
  ranks::checkReplicated(placeOf(o), tensor(o.getX()), {what.data(), what.size()});
}
template <> void Frame::evaluate(AllReduceOp o) {
  set(o.getResult(), ranks::allReduce(placeOf(o), tensor(o.getX()), reductionOf(o.getReduction())));
}
template <> void Frame::evaluate(AllGatherPartsOp o) {
  set(o.getResult(), ranks::allReduceParts(placeOf(o), tensor(o.getX()), reductionOf(o.getReduction())));
}
template <> void Frame::evaluate(ReduceScatterOp o) {
  set(o.getResult(), ranks::reduceScatter(placeOf(o), tensor(o.getX()), o.getAxis(), reductionOf(o.getReduction())));
}
template <> void Frame::evaluate(AllGatherOp o) {
  set(o.getResult(), ranks::allGather(placeOf(o), tensor(o.getX()), o.getAxis()));
}
template <> void Frame::evaluate(AllToAllOp o) {
  set(o.getResult(), ranks::allToAll(placeOf(o), tensor(o.getX()), o.getAxis()));
}
template <> void Frame::evaluate(BroadcastRanksOp o) {
  set(o.getResult(), ranks::broadcast(placeOf(o), tensor(o.getX()), integer(o.getFrom())));
}
template <> void Frame::evaluate(ShiftOp o) {
  set(o.getResult(), ranks::shift(placeOf(o), tensor(o.getX()), integer(o.getBy())));
}
template <> void Frame::evaluate(SendOp o) {
  ranks::send(placeOf(o), tensor(o.getX()), integer(o.getTo()), integer(o.getTag()));
}
template <> void Frame::evaluate(RecvOp o) {
  set(o.getResult(), ranks::receive(placeOf(o), tensor(o.getLike()), integer(o.getFrom()), integer(o.getTag())));
}

} // namespace toy
