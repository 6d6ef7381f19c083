// SPDX-License-Identifier: Apache-2.0
/// \file
/// PTX of the kernels that are written by hand.
#include "runtime/cuda/DeviceImpl.h"

namespace {
const char around[] = {
#embed "kernels.ptx"
    , 0};
const char ropeF32[] = {
#embed "rope-f32.ptx"
    , 0};
const char ropeF64[] = {
#embed "rope-f64.ptx"
    , 0};
const char ropeBF16[] = {
#embed "rope-bf16.ptx"
    , 0};
const char ropeF16[] = {
#embed "rope-f16.ptx"
    , 0};
} // namespace

namespace toy::rt::cuda {

DeviceKernel &kernelAround(const char *name) {
  static auto *module = new DeviceModule([](int) { return std::string(around); }); // never unloaded
  static auto *kernels = new std::map<std::string, DeviceKernel>;
  return kernels->try_emplace(name, DeviceKernel{module, name}).first->second;
}

} // namespace toy::rt::cuda

toy::rt::DeviceKernel *toy::rt::handWrittenKernel(std::string_view name) {
  constexpr std::pair<std::string_view, const char *> texts[] = {
      {"rope.f32", ropeF32}, {"rope.f64", ropeF64}, {"rope.bf16", ropeBF16}, {"rope.f16", ropeF16}};
  static auto *kernels = new std::map<std::string_view, DeviceKernel>;
  for (auto [known, text] : texts)
    if (auto at = kernels->find(known); known == name)
      return at != kernels->end()
                 ? &at->second
                 : &kernels
                        ->emplace(known, DeviceKernel{new DeviceModule([text](int) { return std::string(text); }),
                                                      "rope", true})
                        .first->second;
  return nullptr;
}
