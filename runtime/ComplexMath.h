// SPDX-License-Identifier: Apache-2.0
/// \file
/// Complex elementary functions in double precision; c64 callers round once. C99 Annex G special values and branch
/// cuts.
#pragma once

#include <complex>
#include <string_view>

namespace toy::rt {

using c128 = std::complex<double>;

/// exp expm1 log log1p log2 log10 sqrt rsqrt reciprocal sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh
/// sign abs (real result)
using ComplexFunction = c128 (*)(c128);
/// Null for an unknown name.
ComplexFunction complexFunction(std::string_view name);

/// Never over- or underflows where the quotient is representable, each part within 2 ulp whatever cancels; C99's
/// infinities and zeros.
c128 divide(c128 x, c128 y);
/// The quotient of c64 values, in double: products are exact there and nothing overflows, so the plain formula serves.
/// Compiled code has the same operations inline.
c128 divideSingle(c128 x, c128 y);
/// z**n by repeated squaring; z**0 is 1.
c128 power(c128 z, int64_t n);
/// exp(w log z); integral real w up to 2^31 by repeated squaring; 0**w is 0 for positive real w.
c128 power(c128 z, c128 w);

} // namespace toy::rt
