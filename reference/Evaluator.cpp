// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions, blocks and calls.
#include "reference/EvaluatorImpl.h"

#include "runtime/Memory.h"
#include "runtime/Parallel.h"
#include "runtime/Progress.h"
#include "support/CallLimit.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace toy {

SmallVector<int64_t> Frame::integers(ValueRange range) {
  SmallVector<int64_t> out;
  for (Value v : range)
    out.push_back(integer(v));
  return out;
}

const Liveness &Evaluator::livenessOf(Operation *function) {
  std::unique_ptr<Liveness> &known = liveness[function];
  if (!known)
    known = std::make_unique<Liveness>(function);
  return *known;
}

/// A value is read for the last time by `user` if all its other uses are earlier in the same block, or nothing that may
/// run later reads it.
rt::Value Frame::take(Value v, Operation *user) {
  bool alone = llvm::count(user->getOperands(), v) ==
               1; // `x[…] = x` reads what it writes: the operand is shared, so the update works on a copy
  if (single && alone) {
    rt::Value taken = std::move(values[v]);
    values.erase(v);
    return taken;
  }
  bool isHere = v.getParentBlock() == user->getBlock();
  bool last =
      isHere || (!single && alone && evaluator.livenessOf(user->getParentOfType<func::FuncOp>()).isDeadAfter(v, user));
  for (OpOperand &use : v.getUses())
    last &= !isHere || use.getOwner() == user
                ? true
                : use.getOwner()->getBlock() == user->getBlock() && use.getOwner()->isBeforeInBlock(user);
  if (single || !alone || !last)
    return values[v];
  rt::Value taken = std::move(values[v]);
  values.erase(v);
  return taken;
}

rt::Value leafOf(Type type, void *object) {
  if (isa<StrType>(type))
    return rt::StrRef(static_cast<rt::Str *>(object));
  if (isa<ListType>(type))
    return rt::ListRef(static_cast<rt::List *>(object));
  return rt::TensorRef(static_cast<rt::Tensor *>(object));
}

rt::Value complexView(const rt::Value &pairs) {
  const rt::Tensor &t = *std::get<rt::TensorRef>(pairs);
  return rt::TensorRef(
      rt::newView(const_cast<rt::Tensor *>(&t), complexOf(t.dtype), {t.sizes, static_cast<size_t>(t.rank - 1)}));
}

rt::Value pairsView(const rt::Value &complex) {
  const rt::Tensor &t = *std::get<rt::TensorRef>(complex);
  SmallVector<int64_t> sizes(t.sizes, t.sizes + t.rank);
  sizes.push_back(2);
  return rt::TensorRef(rt::newView(const_cast<rt::Tensor *>(&t), realOf(t.dtype), sizes));
}

/// An operation in packed form: its pairs are read as complex numbers, and complex results become pairs.
void Frame::runPacked(Operation *op) {
  Frame complex(evaluator);
  complex.single = single;
  complex.runningPacked = true;
  auto packed = op->getAttrOfType<DenseI64ArrayAttr>("packed").asArrayRef();
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    complex.values[operand] = llvm::is_contained(packed, i) ? complexView(values[operand]) : values[operand];
  complex.run(op);
  for (Value result : op->getResults()) {
    rt::Value &value = complex.values[result];
    auto *tensor = std::get_if<rt::TensorRef>(&value);
    values[result] = tensor && isComplex((*tensor)->dtype) ? pairsView(value) : value;
  }
}

template <> void Frame::evaluate(FusedOp op) {
  Frame inner(evaluator);
  for (auto [argument, operand] : llvm::zip_equal(op.getBody().getArguments(), op.getInputs()))
    inner.values[argument] = values[operand];
  Block &body = op.getBody().front();
  for (Operation &nested : body.without_terminator())
    inner.run(&nested);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), body.getTerminator()->getOperands()))
    values[result] = inner.values[value];
}

/// Products as calls of kernels are compiled only, and what ends a group is seen by the group.
template <> void Frame::evaluate(GemmOp) { rt::fail(DiagId::Internal, {"toy.gemm is compiled"}); }
template <> void Frame::evaluate(YieldOp) {}

/// By operation. One without an evaluation does not link.
template <typename Op> static void evaluateAs(Frame &frame, Operation *op) {
  if constexpr (Op::template hasTrait<toy::OpTrait::Elementwise>())
    frame.elementwise(op);
  else
    frame.evaluate(cast<Op>(op));
}
using Evaluation = void (*)(Frame &, Operation *);
template <typename... Ops> static DenseMap<TypeID, Evaluation> tableOf() {
  return {{TypeID::get<Ops>(), evaluateAs<Ops>}...};
}

void Frame::run(Operation *op) {
  if (auto store = dyn_cast<SliceStoreOp>(op); store && storeOnDevice(store))
    return;
  if (!isa<ReshapeOp, ViewAsRealOp, ViewAsComplexOp, RelabelOp, DimOp, ReadPartOp, GlobalStoreOp, FusedOp, PrintOp,
           FormatOp, LibraryOp, AllReduceOp, AllGatherPartsOp, ReduceScatterOp, AllGatherOp, AllToAllOp,
           BroadcastRanksOp, ShiftOp, RecvOp>(op)) // those look at no element, or only at some, or where they are
    for (Value operand : op->getOperands())
      if (auto it = values.find(operand); it != values.end())
        if (auto *t = std::get_if<rt::TensorRef>(&it->second))
          rt::onHost(**t);
  if (op->hasAttr("packed") && !runningPacked)
    return runPacked(op);
  static const DenseMap<TypeID, Evaluation> evaluations = tableOf<
#define GET_OP_LIST
#include "ir/ToyOps.cpp.inc"
      >();
  evaluations.find(op->getName().getTypeID())->second(*this, op);
}

/// `x[…] = v` on a top-level variable: the variable gives up its value right before the update, which then happens in
/// place. Only where nothing can fail any more (sizes are known, stores follow), so that a failed statement still
/// changes nothing.
static GlobalLoadOp updatedGlobal(Operation &op) {
  auto update = dyn_cast<SliceStoreOp>(op);
  auto load = update ? update.getX().getDefiningOp<GlobalLoadOp>() : GlobalLoadOp();
  if (!load || load->getBlock() != op.getBlock() || !update->hasOneUse() ||
      !tensorTypeOf(update.getX()).hasStaticShape() || !tensorTypeOf(update.getValues()).hasStaticShape() ||
      !llvm::all_of(update.getCounts(), [](Value v) { return v.getDefiningOp<ConstantOp>(); }))
    return {};
  auto store = dyn_cast<GlobalStoreOp>(*update->user_begin());
  if (!store || store.getName() != load.getName())
    return {};
  for (Operation *user : load->getUsers())
    if (user != update && (isa<ReshapeOp, ViewAsRealOp, ViewAsComplexOp, RelabelOp, GlobalStoreOp>(user) ||
                           user->getBlock() != op.getBlock() || !user->isBeforeInBlock(update)))
      return {};
  for (Operation *next = op.getNextNode(); next; next = next->getNextNode())
    if (!isa<GlobalStoreOp, ConstantOp, func::ReturnOp>(next))
      return {};
  return load;
}

/// The results of a call; of one that is caught (toy.try) where it fails, -1 and what stands for the others.
std::vector<rt::Value> Evaluator::callFrom(Frame &frame, func::CallOp call) {
  std::string name = call.getCallee().str();
  std::vector<rt::Value> results;
  const bool isTried = call->hasAttr(triedCall);
  auto run = [&] {
    int &depth = environment.callDepth; // a block counts as no call
    depth -= isTried;
    environment.callers.push_back(call.getLoc());
    llvm::scope_exit back([&] {
      depth += isTried;
      environment.callers.pop_back();
    });
    std::vector<rt::Value> operands;
    for (Value operand : call.getOperands())
      operands.push_back(frame.values[operand]);
    auto callee = module.lookupSymbol<func::FuncOp>(name);
    results = callee && !callee.isExternal() && !environment.isCompiled(name)
                  ? this->call(callee, std::move(operands))
                  : environment.callExternal(name, std::move(operands));
    return true;
  };
  if (!isTried) {
    run();
    return results;
  }
  size_t known = callChain.size();
  auto tell = [&](const rt::Error &error) {
    environment.noteCaught(error, {}, ArrayRef(callChain).drop_front(known));
    callChain.resize(known, call.getLoc());
  };
  if (!attempt(environment, run, tell)) {
    for (Type type : call.getResultTypes())
      results.push_back(absentValue(type));
    int64_t failed = -1;
    results[0] = rt::TensorRef(rt::newScalar(DType::I64, &failed));
  }
  return results;
}

std::vector<rt::Value> Evaluator::call(func::FuncOp function, std::vector<rt::Value> arguments) {
  int &depth = environment.callDepth;
  if (++depth > mostCalls + 1) { // the statement itself is the first
    --depth;
    rt::fail(DiagId::RecursionDepth);
  }
  struct Leave {
    int &depth;
    ~Leave() { --depth; }
  } leave{depth};
  Frame frame(*this);
  Block *block = &function.getBody().front();
  for (auto [argument, value] : llvm::zip_equal(block->getArguments(), arguments))
    frame.values[argument] = std::move(value);
  arguments.clear();
  auto jump = [&](Block *target, ValueRange operands) {
    std::vector<rt::Value> passed;
    for (Value operand : operands)
      passed.push_back(frame.values[operand]);
    // What only this block defined is gone, and what is handed on for the last time, so that updates in loops find
    // themselves alone.
    for (Value operand : operands)
      if (!livenessOf(function).getLiveness(target)->isLiveIn(operand))
        frame.values.erase(operand);
    for (Operation &op : *block)
      for (Value result : op.getResults())
        if (!result.isUsedOutsideOfBlock(block))
          frame.values.erase(result);
    for (Value argument : block->getArguments())
      if (!argument.isUsedOutsideOfBlock(block))
        frame.values.erase(argument);
    for (auto [argument, value] : llvm::zip_equal(target->getArguments(), passed))
      frame.values[argument] = std::move(value);
    block = target;
    rt::poll();
    if (rt::turnIsAsked())
      environment.tellTurns(block, [&](Value v) { return frame.integerOf(v); });
  };
  while (true) {
    Operation *current = nullptr;
    try {
      for (Operation &op : block->without_terminator()) {
        current = &op;
        if (auto call = dyn_cast<func::CallOp>(op)) {
          std::vector<rt::Value> results = callFrom(frame, call);
          for (auto [result, value] : llvm::zip_equal(call.getResults(), results))
            frame.values[result] = std::move(value);
          continue;
        }
        if (GlobalLoadOp load = updatedGlobal(op))
          environment.releaseGlobal(load.getName().str());
        frame.run(&op);
      }
    } catch (...) {
      callChain.push_back(current->getLoc());
      throw;
    }
    Operation *terminator = block->getTerminator();
    if (auto branch = dyn_cast<cf::BranchOp>(terminator))
      jump(branch.getDest(), branch.getDestOperands());
    else if (auto branch = dyn_cast<cf::CondBranchOp>(terminator)) {
      bool truth = *static_cast<uint8_t *>(rt::onHost(frame.tensor(branch.getCondition())));
      jump(truth ? branch.getTrueDest() : branch.getFalseDest(),
           truth ? branch.getTrueDestOperands() : branch.getFalseDestOperands());
    } else {
      std::vector<rt::Value> results;
      for (Value operand : terminator->getOperands())
        results.push_back(frame.values[operand]);
      return results;
    }
  }
}

} // namespace toy
