// SPDX-License-Identifier: Apache-2.0
/// \file
/// Errors that programs catch and raise, and what they ask of their process.
#include "reference/EvaluatorImpl.h"

#include "runtime/Device.h"
#include "runtime/Guard.h"
#include "runtime/System.h"
#include "runtime/Watch.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace toy {

/// Errors of the data and of files; what Ctrl-C, a fault, `exit` or other ranks end goes on ending.
static bool isCaught(const rt::Error &error) {
  char family = infoOf(error.id).code.front();
  bool isOfRanks = error.id == DiagId::RanksDisagree || error.id == DiagId::RankLost;
  return (family == 'R' || family == 'I') && error.id != DiagId::Interrupted && !isOfRanks;
}

bool attempt(Environment &environment, llvm::function_ref<bool()> body,
             llvm::function_ref<void(const rt::Error &)> tell) {
  rt::Watch watch(/*countsReferences=*/true);
  const rt::RandomState random = environment.random();
  const int depth = environment.callDepth;
  environment.beginAttempt();
  bool failed = false, isThrown = false;
  {
    llvm::scope_exit end([&] { environment.endAttempt(failed); });
    try {
      failed = !body();
      if (rt::deviceWasUsed()) // errors there belong to the block
        rt::waitForDevice();
    } catch (...) {
      rt::Error error = rt::currentError();
      if (!isCaught(error))
        throw;
      failed = isThrown = true;
      tell(error);
    }
  }
  if (failed) {
    environment.random() = random;
    environment.callDepth = depth;
  }
  if (isThrown)
    watch.giveBack(environment.heldObjects());
  return !isThrown;
}

rt::Value absentValue(Type type) {
  if (auto list = dyn_cast<ListType>(type))
    return rt::ListRef(rt::newList(itemKindOf(list.getElement())));
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return rt::StrRef(rt::newStr(""));
  SmallVector<int64_t> sizes(tensor.getRank(), 0);
  rt::TensorRef value(rt::newTensor(tensor.getDtype(), {sizes.data(), sizes.size()}));
  std::memset(value->data, 0, sizeOf(tensor.getDtype()) * value->count());
  return value;
}

template <> void Frame::evaluate(AbsentOp op) { values[op.getResult()] = absentValue(op.getResult().getType()); }

rt::Error failureOf(SystemOp op, std::vector<std::string> texts) {
  if (op.getFunction() == "fail")
    return {DiagId::Failed, std::move(texts)};
  DiagId id = *findDiagnostic(texts.front()); // the row of Diagnostics.def with a code, and what its text wants
  texts.erase(texts.begin());
  return {id, std::move(texts)};
}

/// What a row of System.def does.
static void callSystem(Frame &f, SystemOp op, StringRef function) {
  OperandRange operands = op.getArguments();
  auto give = [&](std::string value) { f.setText(op.getResult(0), std::move(value)); };
  auto texts = [&] {
    std::vector<std::string> all;
    for (Value operand : operands)
      all.push_back(f.text(operand));
    return all;
  };
  auto number = [&](unsigned i) { return *f.tensor(operands[i]).as<double>(); };
  if (function == "fail" || function == "raise")
    throw failureOf(op, texts());
  if (function == "exit")
    rt::exitProgram(f.integer(operands[0]));
  if (function == "sleep")
    return rt::sleepFor(number(0));
  if (function == "env")
    return give(rt::environmentVariable(f.text(operands[0]), f.text(operands[1])));
  if (function == "date")
    return give(rt::dateText(number(0), f.text(operands[1])));
  if (function == "read_line")
    return give(ranks::shareText(placeOf(op), rt::readLine));
  if (function == "caught")
    return give(f.environment().caught(f.integer(operands[0])));
  assert(function == "time");
  double seconds = rt::secondsNow();
  f.set(op.getResult(0), rt::TensorRef(rt::newScalar(DType::F64, &seconds)));
}

template <> void Frame::evaluate(SystemOp op) { callSystem(*this, op, op.getFunction()); }

} // namespace toy
