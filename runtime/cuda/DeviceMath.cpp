// SPDX-License-Identifier: Apache-2.0
/// \file
/// The runtime's elementary functions for a device, compiled to LLVM bitcode that kernels link what they need of.
/// Ordinary arguments take the very operations of the host (ElementKernels.cpp, one lane wide), so that results have
/// the same bits; for all others the host has libm and wider types, and here are forms in double: the same classes
/// (zeros with their signs, infinities, NaN), within a few ulp. There is no C library on a device.
#define TOY_DEVICE_MATH
#define TOY_ISA device
#include "runtime/ElementKernels.cpp"
#include "runtime/cuda/DeviceComplex.h"

namespace toy::rt::device {
namespace {

using Results = Lanes<2>; ///< of a function: one, or two parts

/// An element through its kernel, or through the function for any argument.
template <auto kernel, int inputs, int outputs, typename Any> void apply(double *v, Any any) {
  constexpr int most = inputs > outputs ? inputs : outputs;
  Argument<kernel> lanes[most];
  for (int i = 0; i < inputs; ++i)
    lanes[i] = __builtin_convertvector(all<1>(v[i]), Argument<kernel>);
  auto ordinary = kernel(lanes);
  Results found;
  if (ordinary[0])
    for (int i = 0; i < outputs; ++i)
      found[i] = lanes[i][0];
  else if constexpr (inputs == 1)
    found = any(v[0]);
  else if constexpr (inputs == 2)
    found = any(v[0], v[1]);
  else if constexpr (inputs == 3)
    found = any(v[0], v[1], v[2]);
  else
    found = any(v[0], v[1], v[2], v[3]);
  for (int i = 0; i < outputs; ++i)
    v[i] = found[i];
}

// Arguments by value: their addresses would keep them in memory where nobody calls these, too. Rare, so they stay
// calls.
#define TOY_RARE __attribute__((noinline, cold)) Results
#define TOY_REAL(NAME, FUNCTION)                                                                                       \
  TOY_RARE any_##NAME##_F64(double x) { return {FUNCTION(x), 0}; }                                                     \
  TOY_RARE any_##NAME##_F32(double x) { return any_##NAME##_F64(x); }
#define TOY_REAL2(NAME, FUNCTION)                                                                                      \
  TOY_RARE any_##NAME##_F64(double x, double y) { return {FUNCTION(x, y), 0}; }                                        \
  TOY_RARE any_##NAME##_F32(double x, double y) { return any_##NAME##_F64(x, y); }
#define TOY_COMPLEX(NAME, FUNCTION)                                                                                    \
  TOY_RARE any_##NAME##_C128(double re, double im) { return parts(FUNCTION({re, im})); }                               \
  TOY_RARE any_##NAME##_C64(double re, double im) { return any_##NAME##_C128(re, im); }
#define TOY_COMPLEX2(NAME, DTYPE, FUNCTION)                                                                            \
  TOY_RARE any_##NAME##_##DTYPE(double a, double b, double c, double d) { return parts(FUNCTION({a, b}, {c, d})); }
#define TOY_BOTH(NAME, SUFFIX) TOY_REAL(NAME, real##SUFFIX) TOY_COMPLEX(NAME, complex##SUFFIX)
Results parts(Complex z) { return {z.re, z.im}; }
// clang-format off: a list
TOY_BOTH(exp, Exp) TOY_BOTH(expm1, Expm1) TOY_BOTH(log, Log) TOY_BOTH(log1p, Log1p) TOY_BOTH(log2, Log2)
TOY_BOTH(log10, Log10) TOY_BOTH(sin, Sin) TOY_BOTH(cos, Cos) TOY_BOTH(tan, Tan)
TOY_BOTH(sinh, Sinh) TOY_BOTH(cosh, Cosh) TOY_BOTH(tanh, Tanh) TOY_BOTH(asin, Asin) TOY_BOTH(acos, Acos)
TOY_BOTH(atan, Atan) TOY_BOTH(asinh, Asinh) TOY_BOTH(acosh, Acosh) TOY_BOTH(atanh, Atanh)
TOY_COMPLEX(sqrt, complexSqrt) TOY_COMPLEX(rsqrt, complexRsqrt) TOY_COMPLEX(sign, complexSign)
TOY_COMPLEX(reciprocal, complexReciprocal)
TOY_REAL(erf, realErf) TOY_REAL(exp2, realExp2) TOY_REAL(rsqrt, 1 / __builtin_sqrt)
TOY_REAL2(atan2, realAtan2) TOY_REAL2(hypot, realHypot) TOY_REAL2(mod, floorModulo) TOY_REAL2(floordiv, floorDivide)
TOY_REAL2(pow, realPow)
TOY_COMPLEX2(div, C128, divide) TOY_COMPLEX2(quotient, C64, divide)
TOY_COMPLEX2(pow, C128, complexPow) TOY_COMPLEX2(pow, C64, complexPow)
    // clang-format on
    TOY_RARE any_cis_F64(double x) {
  double re, im;
  anyAngle(x, im, re);
  return {re, im};
}
TOY_RARE any_cis_F32(double x) { return any_cis_F64(x); }
TOY_RARE any_abs_C128(double re, double im) { return {complexAbs({re, im}), 0}; }
TOY_RARE any_abs_C64(double re, double im) { return any_abs_C128(re, im); }
TOY_RARE any_powi_C128(double re, double im, double n) { return parts(complexPowi({re, im}, n)); }
TOY_RARE any_powi_C64(double re, double im, double n) { return any_powi_C128(re, im, n); }

} // namespace

#define TOY_SYMBOL_F32(NAME) toy_device_##NAME##_f32
#define TOY_SYMBOL_F64(NAME) toy_device_##NAME##_f64
#define TOY_SYMBOL_C64(NAME) toy_device_##NAME##_c64
#define TOY_SYMBOL_C128(NAME) toy_device_##NAME##_c128
extern "C" {
#define TOY_ELEMENT(KERNEL, NAME, DTYPE, INPUTS, OUTPUTS)                                                              \
  void TOY_SYMBOL_##DTYPE(NAME)(double *v) { apply<KERNEL<1>, INPUTS, OUTPUTS>(v, any_##NAME##_##DTYPE); }
#include "runtime/ElementFunctions.def"

double toy_rt_float_floordiv_f64(double a, double b) { return floorDivide(a, b); }
double toy_rt_float_mod_f64(double a, double b) { return floorModulo(a, b); }
float toy_rt_float_floordiv_f32(float a, float b) { return static_cast<float>(floorDivide(a, b)); }
float toy_rt_float_mod_f32(float a, float b) { return static_cast<float>(floorModulo(a, b)); }
}

} // namespace toy::rt::device
