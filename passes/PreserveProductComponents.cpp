// SPDX-License-Identifier: Apache-2.0
/// \file
/// Unused parts of complex products survive until recognition.
#include "passes/Passes.h"
#include "passes/recognize/SumOfProducts.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_PRESERVEPRODUCTCOMPONENTS
#include "passes/Passes.h.inc"

namespace {

struct PreserveProductComponentsPass : impl::PreserveProductComponentsBase<PreserveProductComponentsPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (op->use_empty() && sumOfProducts(op)) {
        OpBuilder b(op->getContext());
        b.setInsertionPointAfter(op);
        UseOp::create(b, op->getLoc(), op->getResults())->setAttr("toy.part", b.getUnitAttr());
      }
    });
  }
};

} // namespace
} // namespace toy
