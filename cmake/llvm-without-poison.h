// SPDX-License-Identifier: Apache-2.0
/// \file
/// For sanitized builds, before every other header of files that include LLVM's. LLVM's allocators, in headers, poison
/// what is not handed out; the libraries, which are built without sanitizers, hand out the same memory and do not lift
/// the poison. So the headers' calls become nothing, and user poisoning stays on for everything else.
#pragma once

#ifdef __cplusplus
#include "llvm/Support/Compiler.h"

#define __asan_poison_memory_region(address, size) ((void)(address), (void)(size))
#define __asan_unpoison_memory_region(address, size) ((void)(address), (void)(size))
#endif
