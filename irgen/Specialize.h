// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sizes that no signature declares: a function is compiled for the sizes of its first call; when a size changes, it is
/// compiled once more with that size as a dynamic one. What the compiler decided by looking at such a size is a shape
/// guard of that specialization; what would be an error otherwise is a run-time check.
#pragma once

#include "ir/ShapeFacts.h"
#include "irgen/IRGen.h"

namespace toy {

/// A condition on sizes of arguments, and the place in the source that asked for it.
struct SizeGuard {
  SizeFact fact;
  SourceRange range;
};

/// A size of an argument: its place, how users write it, and what callers brought so far.
struct DynamicDim {
  unsigned leaf, axis; ///< of the flattened arguments
  std::string shown;   ///< `x.shape[0]`
  int64_t first = 0;   ///< of the first call
  bool varies = false;
};

/// A function for some sizes that its signature does not declare.
struct Specialization {
  std::vector<std::optional<int64_t>> fixed; ///< by slot: static sizes; none: dynamic
  std::vector<std::string> names;            ///< by slot: of dynamic sizes, in types
  llvm::StringMap<Dim> hints;                ///< the sizes of the call it was made for, by name
  std::vector<SizeGuard> decisions;          ///< guards as they were found
  std::vector<SizeGuard> guards; ///< those of them that do not follow from the others: otherwise another one is chosen
  std::vector<SizeGuard> checks; ///< otherwise the call is an error
  ShapeFacts facts;
  std::string key, reason;    ///< of the instance; why it was made
  llvm::StringMap<Dim> bound; ///< the sizes of the last call, by name
  bool generic = false;       ///< decides while it runs: no guards; only which sizes are 1, and stretch, is known
  int64_t calls = 0;

  static constexpr int64_t anySize = -1;
  std::vector<int64_t> wanted; ///< by slot: the fixed size, or anySize
  std::vector<SizeTest> tests; ///< the guards

  bool isDynamic() const { return !hints.empty(); }
  std::map<std::string, std::string> shownNames(llvm::ArrayRef<DynamicDim> slots) const;
  /// Makes `accepts` ready, when fixed sizes and guards are known.
  void freeze();
  llvm::StringMap<unsigned> places() const;       ///< names to slots
  bool (*native)(const int64_t *sizes) = nullptr; ///< the same as machine code, for what is used again
  bool accepts(const int64_t *sizes) const {
    if (native)
      return native(sizes);
    for (size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i] == anySize ? generic && sizes[i] == 1 : wanted[i] != sizes[i])
        return false;
    for (const SizeTest &test : tests)
      if (!test.holds(sizes))
        return false;
    return true;
  }
  /// Empty when sizes fit, otherwise the first thing that does not.
  std::string mismatch(llvm::ArrayRef<DynamicDim> slots, llvm::ArrayRef<int64_t> sizes) const;
  llvm::StringMap<Dim> bind(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> sizes) const;
};

/// The specializations of a function for arguments of the same dtypes and ranks.
struct SpecializationSet {
  std::string function;
  std::vector<DynamicDim> slots;
  std::vector<std::shared_ptr<Specialization>> entries;
  static constexpr size_t most = 8; ///< then a generic one follows

  /// The one for sizes (by slot), or null. Those for static sizes come first, then the one that was found last.
  Specialization *find(const int64_t *sizes) {
    for (const auto &entry : entries)
      if (!entry->isDynamic() && entry->accepts(sizes))
        return entry.get();
    if (recent < entries.size() && entries[recent]->isDynamic() && entries[recent]->accepts(sizes))
      return entries[recent].get();
    for (size_t i = 0; i < entries.size(); ++i)
      if (entries[i]->isDynamic() && entries[i]->accepts(sizes))
        return entries[recent = i].get();
    return nullptr;
  }
  size_t recent = 0;
};

} // namespace toy
