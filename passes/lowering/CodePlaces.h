// SPDX-License-Identifier: Apache-2.0
/// \file
/// Code that says where it is, for profiles. An instruction carries the number of its place as the line of debug
/// information, so that LLVM keeps it through its passes and writes it to the line table. In front of what may take
/// long and has no such table (the runtime, BLAS, other functions) code leaves the number in
/// `toy_rt_profile_places[depth]`, and its depth in `toy_rt_profile_depth`: the chain of calls at any moment.
#pragma once

#include "mlir/IR/Location.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <vector>

namespace toy {

/// Beside a place's number while the function itself runs, or a loop over elements that it has called: addresses tell
/// more than the number then. Functions without effects are called without leaving a place, so that loops stay what
/// they are; the address behind their call tells it.
constexpr int64_t inCode = int64_t(1) << 32;

class CodePlaces {
public:
  /// `places` is of all modules: place i has the number i + 1.
  CodePlaces(llvm::Module &module, std::vector<mlir::Location> &places);
  /// What instructions of a place carry until `finish`.
  llvm::DebugLoc of(mlir::Location place);
  /// Completes a function whose last argument is its depth: it leaves places at calls. A function of the library
  /// leaves none, so that those around it stay.
  void tellCalls(llvm::Function &function, bool isLibrary);
  /// The function goes on behind a call that may have left places of its own.
  void tellReturn(llvm::IRBuilder<> &b, llvm::Function &function, bool isLibrary);
  /// When all functions of the module are there.
  void finish();

  /// Instructions that a builder makes meanwhile belong to a place.
  class Scope {
  public:
    Scope(CodePlaces *places, llvm::IRBuilder<> &b, mlir::Location place) : b(b), before(b.getCurrentDebugLocation()) {
      if (places)
        b.SetCurrentDebugLocation(places->of(place));
    }
    ~Scope() { b.SetCurrentDebugLocation(before); }
    Scope(const Scope &) = delete;

  private:
    llvm::IRBuilder<> &b;
    const llvm::DebugLoc before;
  };

private:
  llvm::Module &module;
  std::vector<mlir::Location> &places;
  llvm::DenseMap<mlir::Location, unsigned> numbers;
  llvm::DILocalScope *unknown; ///< of all locations until `finish`
};

} // namespace toy
