// SPDX-License-Identifier: Apache-2.0
/// \file
/// Nanoseconds to find the compiled specialization of a call: 4 matrices (8 sizes), 8 specializations. Warm, and with
/// caches that other data went through. Also the time of typical questions about sizes.
#include "irgen/Specialize.h"
#include "jit/Engine.h"

#include "mlir/IR/MLIRContext.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace toy;

static double nanoseconds(llvm::function_ref<void()> body) {
  auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

static double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
  return v[v.size() / 2];
}

static bool measure(bool native) {
  mlir::MLIRContext context;
  CompileOptions options;
  Engine engine(options);
  SpecializationSet set;
  for (unsigned slot = 0; slot < 8; ++slot)
    set.slots.push_back({slot / 2, slot % 2, "", 0, false});
  // Seven specializations with 5 guards each that fail at the last one, then the one that fits.
  for (int specialization = 0; specialization < 8; ++specialization) {
    auto entry = std::make_shared<Specialization>();
    for (int slot = 0; slot < 8; ++slot) {
      entry->fixed.push_back(slot % 2 ? std::optional<int64_t>(64) : std::nullopt);
      entry->names.push_back(slot % 2 ? "" : "d" + std::to_string(slot));
      if (slot % 2 == 0)
        entry->hints[entry->names.back()] = Dim::number(&context, 9);
    }
    auto d = [&](const char *text) { return *Dim::parse(&context, text); };
    for (SizeFact fact :
         {SizeFact::equal(d("d0"), d("d2")), SizeFact::atLeast(d("d4"), d("3")), SizeFact::equal(d("d6%8"), d("0")),
          SizeFact::atLeast(d("d0+d4"), d("5")),
          SizeFact::equal(d("d4"), Dim::number(&context, specialization == 7 ? 40 : 100 + specialization))})
      entry->guards.push_back({fact, {}});
    entry->freeze();
    std::vector<SizeFact> facts;
    for (const SizeGuard &guard : entry->guards)
      facts.push_back(guard.fact);
    if (native)
      entry->native = engine.compileGuards(entry->fixed, facts, entry->places());
    set.entries.push_back(entry);
  }
  int64_t sizes[] = {32, 64, 32, 64, 40, 64, 16, 64};
  std::vector<double> warm, turns, cold, questions;
  std::vector<char> other(64 << 20);
  volatile bool found = true;
  for (int i = 0; i < 2000; ++i)
    warm.push_back(nanoseconds([&] {
                     for (int k = 0; k < 100; ++k)
                       found = found && set.find(sizes);
                   }) /
                   100);
  for (int i = 0; i < 2000; ++i) // every call asks for another specialization than the last one
    turns.push_back(nanoseconds([&] {
                      for (int k = 0; k < 96; ++k) {
                        sizes[4] = k % 8 == 7 ? 40 : 100 + k % 8;
                        found = found && set.find(sizes);
                      }
                    }) /
                    96);
  sizes[4] = 40;
  for (int i = 0; i < 100; ++i) {
    for (size_t at = 0; at < other.size(); at += 64)
      other[at] += static_cast<char>(i);
    cold.push_back(nanoseconds([&] { found = found && set.find(sizes); }));
  }
  for (int i = 0; native && i < 200; ++i)
    questions.push_back(nanoseconds([&] { // what 50 operations on two sizes ask
      ShapeFacts facts;
      Dim n = Dim::symbol(&context, "N"), m = Dim::symbol(&context, "M"), one = Dim::number(&context, 1);
      facts.assume(SizeFact::equal(n, m));
      for (int k = 0; k < 50; ++k)
        found = found &&
                facts.decide(k % 2 ? SizeFact::equal(n + one, m + one) : SizeFact::atLeast(n + m, n)) == Truth::Yes;
    }));
  const char *how = native ? "machine code" : "program over sizes";
  std::printf("| %s: the specialization of the last call, ns | %.0f |\n| %s: another of 8 specializations each time, "
              "ns | %.0f |\n| %s: "
              "caches cold, ns | %.0f |\n",
              how, median(warm), how, median(turns), how, median(cold));
  if (native)
    std::printf("| 50 questions about sizes, us | %.0f |\n", median(questions) / 1e3);
  return found;
}

int main() { return measure(false) && measure(true) ? 0 : 1; }
