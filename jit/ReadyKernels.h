// SPDX-License-Identifier: Apache-2.0
/// \file
/// Kernels that were compiled when the program was built, in a file beside it.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace toy {

/// What the linker named this program by its contents (`--build-id`), hexadecimal; empty if it did not.
std::string linkedBuildId();

/// Objects by the digests of the kernels in them. The file is mapped when the first kernel is looked for, and what
/// nobody asks for is not read. One of another build, of another owner than the program, or that anybody may write, is
/// none; digests cover the processor, so that another one finds nothing.
class ReadyKernels {
public:
  /// The file of this build: $TOY_READY_KERNELS, or `share/kernels` and `../lib/toy/kernels` beside the program.
  explicit ReadyKernels(std::string build) : build(std::move(build)) {}
  /// The object that has a kernel, which stays where it is mapped, or null.
  std::unique_ptr<llvm::MemoryBuffer> find(llvm::StringRef digest);

  /// Writes objects to a file, behind those that are in it.
  static bool write(const std::string &path, const std::string &build, std::vector<std::string> objects);

private:
  void open(const std::vector<std::string> &paths);
  std::string build;
  bool isOpen = false;
  std::unique_ptr<llvm::MemoryBuffer> file;
};

} // namespace toy
