// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where compiled code spends its time: a timer interrupts the thread that runs the program, and the handler notes the
/// chain of calls that the code has told (passes/lowering/CodePlaces.h) and the address that it was at. Nothing is
/// decided there: what an address means is looked up later.
#pragma once

#include "jit/CodeMap.h"

#include "mlir/IR/Location.h"

#include <map>
#include <memory>

namespace toy {

class Profiler {
public:
  static constexpr double interval = 0.5e-3; ///< seconds between samples

  /// From here on, the calling thread is watched while it is in compiled code.
  Profiler();
  ~Profiler();
  Profiler(const Profiler &) = delete;

  /// Places of the code, by number from 1 on.
  std::vector<mlir::Location> places;
  /// Code that was linked and tells its places.
  void addCode(std::vector<CodeFunction> functions);

  /// Numbers of places, the outermost first.
  struct Sample {
    std::vector<uint32_t> chain;
    int64_t count;
  };
  std::vector<Sample> samples() const;
  /// There was no room for them.
  int64_t lost() const;

  /// Compiled code runs as long as this lives; nothing else counts.
  class Running {
  public:
    explicit Running(bool isRunning = true);
    ~Running();
    Running(const Running &) = delete;

  private:
    bool before;
  };

private:
  uint32_t lineAt(uint64_t address) const;
  struct Timer;
  std::unique_ptr<Timer> timer;
  std::vector<CodeFunction> code; ///< by address
};

} // namespace toy
