// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which sanitizers this build has.
#pragma once

#ifndef __has_feature
#define __has_feature(FEATURE) 0
#endif

namespace toy {

#if __has_feature(address_sanitizer) || defined(__SANITIZE_ADDRESS__)
#define TOY_ADDRESS_SANITIZER 1
constexpr bool hasAddressSanitizer = true;
#else
#define TOY_ADDRESS_SANITIZER 0
constexpr bool hasAddressSanitizer = false;
#endif

} // namespace toy
