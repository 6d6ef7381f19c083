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
const char combineU8[] = {
#embed "combine-u8.ptx"
    , 0};
const char combineI32[] = {
#embed "combine-i32.ptx"
    , 0};
const char combineI64[] = {
#embed "combine-i64.ptx"
    , 0};
const char combineF32[] = {
#embed "combine-f32.ptx"
    , 0};
const char combineF64[] = {
#embed "combine-f64.ptx"
    , 0};
const char combineC64[] = {
#embed "combine-c64.ptx"
    , 0};
const char combineC128[] = {
#embed "combine-c128.ptx"
    , 0};
const char combineBF16[] = {
#embed "combine-bf16.ptx"
    , 0};
const char combineF16[] = {
#embed "combine-f16.ptx"
    , 0};
} // namespace

namespace toy::rt::cuda {

/// Modules and kernels are made once and never unloaded.
static DeviceModule *moduleOf(const char *older, const char *newer) {
  static auto *modules = new std::map<const char *, DeviceModule *>;
  DeviceModule *&module = (*modules)[older];
  if (!module)
    module = new DeviceModule([older, newer](int capability) { return std::string(capability < 80 ? older : newer); });
  return module;
}

static DeviceKernel *kernelOf(const std::string &kernel, const char *older, const char *newer, bool takesTwo) {
  static auto *kernels = new std::map<std::pair<const char *, std::string>, DeviceKernel>;
  return &kernels->try_emplace({older, kernel}, DeviceKernel{moduleOf(older, newer), kernel, takesTwo}).first->second;
}

DeviceKernel &kernelAround(const char *name) { return *kernelOf(name, around, around, false); }

DeviceKernel &combiningKernel(DType dtype, const char *name) {
  auto text = [&] {
    switch (dtype) {
    case DType::I32:
      return combineI32;
    case DType::I64:
      return combineI64;
    case DType::F32:
      return combineF32;
    case DType::F64:
      return combineF64;
    case DType::C64:
      return combineC64;
    case DType::C128:
      return combineC128;
    case DType::BF16:
      return combineBF16;
    case DType::F16:
      return combineF16;
    default:
      return combineU8;
    }
  };
  return *kernelOf(name, text(), text(), false);
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
  const auto *text = std::find_if(std::begin(texts), std::end(texts), [&](const Text &t) { return t.name == name; });
  return text == std::end(texts) ? nullptr : cuda::kernelOf("rope", text->older, text->newer, true);
}
