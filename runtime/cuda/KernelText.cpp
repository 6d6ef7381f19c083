// SPDX-License-Identifier: Apache-2.0
/// \file
/// PTX of the kernels that are written by hand.
#include "runtime/cuda/DeviceImpl.h"

#include <algorithm>

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
const char ropeBF16Newer[] = {
#embed "rope-bf16-sm80.ptx"
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
  struct Text {
    std::string_view name;
    const char *older, *newer; ///< from compute capability 8.0 on
  };
  constexpr Text texts[] = {{"rope.f32", ropeF32, ropeF32},
                            {"rope.f64", ropeF64, ropeF64},
                            {"rope.bf16", ropeBF16, ropeBF16Newer},
                            {"rope.f16", ropeF16, ropeF16}};
  static auto *kernels = new std::map<std::string_view, DeviceKernel>;
  const auto *text = std::find_if(std::begin(texts), std::end(texts), [&](const Text &t) { return t.name == name; });
  if (text == std::end(texts))
    return nullptr;
  if (!kernels->contains(text->name)) {
    auto *module = new DeviceModule([text = *text](int capability) { // never unloaded
      return std::string(capability < 80 ? text.older : text.newer);
    });
    kernels->emplace(text->name, DeviceKernel{module, "rope", true});
  }
  return &kernels->at(text->name);
}
