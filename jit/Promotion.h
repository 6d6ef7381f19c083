// SPDX-License-Identifier: Apache-2.0
/// \file
/// Kernels of few elements begin as quick code, which takes a sixth of the time to make, and counts what it computes.
/// Those that turn out to be worth more are optimized on a thread of their own while the program goes on; the results
/// have the same bits. Both forms are made of one piece of LLVM IR, which travels in the quick one's object.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace toy {

/// What a quick kernel has in its data.
struct KernelTier {
  std::atomic<void *> code;  ///< the optimized form, once there is one
  std::atomic<int64_t> left; ///< elements that are still computed before it is asked for
  const char *bitcode;       ///< of a module with the function `sharedKernelName`
  int64_t size;              ///< of the bitcode
  const char *digest;        ///< 64 characters
};

/// What is left to a kernel that an earlier program had, too: what is run again will be run again.
constexpr int64_t elementsOfKept = 1 << 18;

/// Whether a kernel tells how much it computes.
bool canCount(llvm::Function &kernel);
/// Makes a kernel that does begin with a look at its KernelTier: on to the optimized form if there is one, else it
/// counts.
void countRuns(llvm::Function &kernel, llvm::StringRef digest, llvm::StringRef bitcode);
/// The kernels of a module need not tell.
void dropCounts(llvm::Module &module);

/// What quick code calls when it has counted enough: gives the optimized form if that is there or is worth waiting for,
/// else null.
void *promoteKernel(KernelTier *tier, class Promoter *promoter, int64_t elements);

/// The thread that optimizes kernels, from the first that is asked for on.
class Promoter {
public:
  /// Links the object of a kernel and gives its address to the quick form; false where it cannot. Called on the thread.
  using Link = std::function<bool(llvm::MemoryBufferRef object)>;
  /// `level`: as optimizeModule's.
  Promoter(int level, Link link) : level(level), link(std::move(link)) {}
  /// What is being compiled is left as soon as LLVM asks whether it goes on.
  ~Promoter();

  /// Called by compiled code, on any thread.
  void ask(KernelTier &tier);
  /// The optimized form of what was asked for; null where it cannot be made, or after Ctrl-C.
  void *await(KernelTier &tier);
  struct Kernel {
    std::string digest;
    std::unique_ptr<llvm::MemoryBuffer> object;
  };
  /// Those that were made since the last call.
  std::vector<Kernel> takeMade();
  int64_t count() const { return made; }

private:
  void work();
  std::unique_ptr<llvm::MemoryBuffer> compile(llvm::TargetMachine &machine, const KernelTier &tier);
  const int level;
  const Link link;
  std::mutex mutex; ///< of what is asked for and what is done
  std::condition_variable changed;
  std::deque<KernelTier *> asked;
  KernelTier *current = nullptr; ///< that is being made
  std::vector<Kernel> done;
  std::atomic<bool> stopping = false;
  std::atomic<int64_t> made = 0;
  std::thread thread;
};

} // namespace toy
