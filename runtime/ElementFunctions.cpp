// SPDX-License-Identifier: Apache-2.0
/// \file
/// The table of element functions, their forms for any argument, and the choice of the machine's kernels.
#include "runtime/ElementFunctions.h"

#include "runtime/ComplexMath.h"
#include "runtime/Isa.h"
#include "runtime/Scalar.h"

#include <bit>
#include <cmath>

// What functions of two registers end with: results are where the arguments of this are (runtime/ElementKernels.cpp).
__asm__(".text\n.globl toy_rt_both_registers\n.hidden toy_rt_both_registers\n"
        ".type toy_rt_both_registers, %function\ntoy_rt_both_registers:\nret\n");

namespace toy::rt {

#define TOY_FOR_ISA(NAME)                                                                                              \
  namespace NAME {                                                                                                     \
  extern const ElementKernel elementKernels[];                                                                         \
  extern void *const laneFunctions[];                                                                                  \
  extern void *const pairFunctions[];                                                                                  \
  extern const int laneWidth;                                                                                          \
  }
TOY_FOR_ISA(baseline)
#ifdef __x86_64__
TOY_FOR_ISA(avx2)
TOY_FOR_ISA(avx512)
#endif

namespace {

using std::exp, std::exp2, std::expm1, std::log, std::log1p, std::log2, std::log10, std::sin, std::cos, std::tan,
    std::sinh, std::cosh, std::tanh, std::asin, std::acos, std::atan, std::asinh, std::acosh, std::atanh, std::erf;

/// libm, and the complex functions, in double: who asks rounds to f32, once.
#define TOY_REAL(NAME)                                                                                                 \
  void real_##NAME(double *v) { v[0] = NAME(v[0]); }
// clang-format off: a list
TOY_REAL(exp) TOY_REAL(exp2) TOY_REAL(expm1) TOY_REAL(log) TOY_REAL(log1p) TOY_REAL(log2) TOY_REAL(log10) TOY_REAL(sin)
TOY_REAL(cos) TOY_REAL(tan) TOY_REAL(sinh) TOY_REAL(cosh) TOY_REAL(tanh)
TOY_REAL(erf) TOY_REAL(asin) TOY_REAL(acos) TOY_REAL(atan) TOY_REAL(asinh) TOY_REAL(acosh) TOY_REAL(atanh)
    // clang-format on
    void real_cis(double *v) {
  double x = v[0];
  v[0] = cos(x);
  v[1] = sin(x);
}
void real_rsqrt(double *v) { v[0] = 1 / std::sqrt(v[0]); }
void real_atan2(double *v) { v[0] = std::atan2(v[0], v[1]); }
void real_hypot(double *v) { v[0] = std::hypot(v[0], v[1]); }
void real_mod(double *v) { v[0] = floorModulo(v[0], v[1]); }
void real_floordiv(double *v) { v[0] = floorDivide(v[0], v[1]); }
/// Of integers, as bits; the caller has looked for divisors of 0.
template <auto function> void byIntegers(double *v) {
  const auto x = std::bit_cast<int64_t>(v[0]), y = std::bit_cast<int64_t>(v[1]);
  v[0] = std::bit_cast<double>(y == 0 ? 0 : function(x, y));
}
constexpr auto *integerModulo = static_cast<int64_t (*)(int64_t, int64_t)>(floorModulo);
constexpr auto *integerQuotient = static_cast<int64_t (*)(int64_t, int64_t)>(floorDivide);
void real_integer_mod(double *v) { byIntegers<integerModulo>(v); }
void real_integer_floordiv(double *v) { byIntegers<integerQuotient>(v); }
void real_pow(double *v) { v[0] = std::pow(v[0], v[1]); }

void put(double *v, c128 z) {
  v[0] = z.real();
  v[1] = z.imag();
}
#define TOY_COMPLEX(NAME)                                                                                              \
  void complex_##NAME(double *v) {                                                                                     \
    static const ComplexFunction function = complexFunction(#NAME);                                                    \
    put(v, function({v[0], v[1]}));                                                                                    \
  }
// clang-format off: a list
TOY_COMPLEX(exp) TOY_COMPLEX(expm1) TOY_COMPLEX(log) TOY_COMPLEX(log1p) TOY_COMPLEX(log2) TOY_COMPLEX(log10)
TOY_COMPLEX(sqrt) TOY_COMPLEX(rsqrt) TOY_COMPLEX(sin) TOY_COMPLEX(cos) TOY_COMPLEX(tan)
TOY_COMPLEX(sinh) TOY_COMPLEX(cosh) TOY_COMPLEX(tanh) TOY_COMPLEX(asin) TOY_COMPLEX(acos) TOY_COMPLEX(atan)
TOY_COMPLEX(asinh) TOY_COMPLEX(acosh) TOY_COMPLEX(atanh) TOY_COMPLEX(sign) TOY_COMPLEX(reciprocal)
TOY_COMPLEX(abs)
    // clang-format on
    void complex_div(double *v) {
  put(v, divide({v[0], v[1]}, {v[2], v[3]}));
}
void complex_quotient(double *v) { put(v, divideSingle({v[0], v[1]}, {v[2], v[3]})); }
void complex_pow(double *v) { put(v, power({v[0], v[1]}, c128(v[2], v[3]))); }
void complex_powi(double *v) { put(v, power({v[0], v[1]}, static_cast<int64_t>(v[2]))); }

#define real_F32(NAME) real_##NAME
#define real_F64(NAME) real_##NAME
#define real_C64(NAME) complex_##NAME
#define real_C128(NAME) complex_##NAME
const ElementFunction table[] = {
#define TOY_ELEMENT(KERNEL, NAME, DTYPE, INPUTS, OUTPUTS) {#NAME, DType::DTYPE, INPUTS, OUTPUTS, real_##DTYPE(NAME)},
#include "runtime/ElementFunctions.def"
};

struct Machine {
  const ElementKernel *kernels;
  void *const *functions, *const *pairs;
  int width;
};
const Machine &machine() {
  static const Machine chosen{TOY_OF_MACHINE(elementKernels), TOY_OF_MACHINE(laneFunctions),
                              TOY_OF_MACHINE(pairFunctions), TOY_OF_MACHINE(laneWidth)};
  return chosen;
}

} // namespace

std::span<const ElementFunction> elementFunctions() { return table; }

int findElementFunction(std::string_view name, DType dtype) {
  for (const ElementFunction &row : table)
    if (row.dtype == dtype && row.name == name)
      return static_cast<int>(&row - table);
  return -1;
}

void applyElements(int function, int64_t n, double *values) {
  machine().kernels[function](n, values, table[function].careful);
}

int laneWidth() { return machine().width; }
void *laneFunction(int function) { return machine().functions[function]; }
void *pairFunction(int function) { return machine().pairs[function]; }

} // namespace toy::rt
