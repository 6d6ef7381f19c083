// SPDX-License-Identifier: Apache-2.0
/// \file
/// Matrix products as library calls.
#include "passes/Passes.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_SELECTKERNELS
#include "passes/Passes.h.inc"

namespace {

/// An operand without the transposes and conjugations around it.
struct Peeled {
  Value value;
  bool transposed = false, conjugated = false;
};

bool swapsLastTwo(PermuteOp op) {
  ArrayRef<int64_t> p = op.getPermutation();
  int64_t n = p.size();
  for (int64_t i = 0; i < n - 2; ++i)
    if (p[i] != i)
      return false;
  return n >= 2 && p[n - 2] == n - 1 && p[n - 1] == n - 2;
}

Peeled peel(Value value) {
  Peeled p{value};
  while (true) {
    if (auto permute = p.value.getDefiningOp<PermuteOp>(); permute && swapsLastTwo(permute)) {
      p.value = permute.getX();
      p.transposed = !p.transposed;
    } else if (auto conj = p.value.getDefiningOp<ConjOp>()) {
      p.value = conj.getX();
      p.conjugated = !p.conjugated;
    } else
      return p;
  }
}

struct SelectKernelsPass : impl::SelectKernelsBase<SelectKernelsPass> {
  void runOnOperation() override {
    getOperation().walk([](MatMulOp op) {
      OpBuilder b(op);
      Peeled lhs = peel(op.getLhs()), rhs = peel(op.getRhs());
      auto gemm = GemmOp::create(b, op.getLoc(), op.getType(), lhs.value, rhs.value, lhs.transposed, lhs.conjugated, rhs.transposed, rhs.conjugated);
      SmallVector<Operation *> unused;
      for (Value operand : op.getOperands())
        for (Operation *at = operand.getDefiningOp(); isa_and_present<PermuteOp, ConjOp>(at); at = at->getOperand(0).getDefiningOp())
          unused.push_back(at);
      op.replaceAllUsesWith(gemm.getResult());
      op.erase();
      SmallPtrSet<Operation *, 8> gone;
      for (Operation *at : unused)
        if (!gone.contains(at) && at->use_empty()) {
          gone.insert(at);
          at->erase();
        }
    });
  }
};

} // namespace
} // namespace toy
