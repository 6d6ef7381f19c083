// SPDX-License-Identifier: Apache-2.0
/// \file
/// What recognition found, what it and padding refused, and what loops pay, for remarks, :explain and --stats.
#pragma once

#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace toy {

/// Complex arithmetic found in real arithmetic.
struct Recognized {
  mlir::Location place;
  std::string kind;     ///< mul, conj_mul, matmul, conj_matmul, rotation, rope, abs2, polar, cis
  std::string form;     ///< the equation as it was written, over a, b, c, d
  std::string strategy; ///< what computes it
};

/// A near miss. `{0}`, `{1}` … in the reason stand for the source text of `parts`.
struct Missed {
  mlir::Location place;
  std::string reason;
  llvm::SmallVector<mlir::Location, 2> parts;
};

/// A size with buckets that is not padded.
struct NotPadded {
  mlir::Location place;
  std::string size, reason;
};

/// What a loop pays in each turn.
struct LoopCost {
  mlir::Location place;
  std::string text;
  bool isCheck = false; ///< of an index
};

struct RecognitionLog {
  std::vector<Recognized> recognized;
  std::vector<Missed> missed;
  std::vector<NotPadded> notPadded;
  std::vector<LoopCost> loops;
};

} // namespace toy
