// SPDX-License-Identifier: Apache-2.0
/// \file
/// The rows of ElementFunctions.def in lanes. A kernel overwrites its arguments by its results and returns the lanes whose arguments were ordinary.
#include "runtime/LaneMath.h"

#include "runtime/ElementFunctions.h"

namespace toy::rt::TOY_ISA {
namespace {

template <int N> Mask<N> isBelow(Lanes<N> x, double limit) { return fabs<N>(x) < limit; }
template <int N> Mask<N> isPositive(Lanes<N> x) { return (x >= 0x1p-1022) & (x < 0x1p1000); }
/// Squares neither over- nor underflow.
template <int N> Mask<N> isModerate(Lanes<N> x) { return (fabs<N>(x) > 0x1p-400) & (fabs<N>(x) < 0x1p400); }
template <int N> Mask<N> isModerateOrZero(Lanes<N> x) { return isModerate<N>(x) | (x == 0); }
template <int N> Mask<N> isModeratePair(const Lanes<N> *v) {
  return isModerateOrZero<N>(v[0]) & isModerateOrZero<N>(v[1]) & ((v[0] != 0) | (v[1] != 0));
}
template <int N> Lanes<N> magnitude(const Lanes<N> *v) { return sqrt<N>(fma<N>(v[0], v[0], v[1] * v[1])); }

template <int N> Mask<N> RealExp(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], 708);
  v[0] = exp<N>(v[0]);
  return ok;
}
template <int N> Mask<N> RealExpm1(Lanes<N> *v) { // for f32: half the digits may go
  Mask<N> ok = isBelow<N>(v[0], exponentLimit);
  Lanes<N> x = v[0], series = polynomial<N>(x, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040);
  v[0] = fabs<N>(x) < 0.0625 ? x * series : exp<N>(x) - 1;
  return ok;
}
template <int N> Mask<N> RealLog(Lanes<N> *v) {
  Mask<N> ok = isPositive<N>(v[0]);
  v[0] = log<N>(v[0], all<N>(0));
  return ok;
}
template <int N> Mask<N> scaledLog(Lanes<N> *v, double factor) {
  Mask<N> ok = RealLog<N>(v);
  v[0] *= factor;
  return ok;
}
template <int N> Mask<N> RealLog2(Lanes<N> *v) { return scaledLog<N>(v, 0x1.71547652b82fep+0); }
template <int N> Mask<N> RealLog10(Lanes<N> *v) { return scaledLog<N>(v, 0x1.bcb7b1526e50ep-2); }
template <int N> Mask<N> RealCis(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], angleLimit);
  sincos<N>(v[0], v[1], v[0]);
  return ok;
}
template <int N> Mask<N> RealCos(Lanes<N> *v) {
  Lanes<N> both[2] = {v[0]};
  Mask<N> ok = RealCis<N>(both);
  v[0] = both[0];
  return ok;
}
template <int N> Mask<N> RealSin(Lanes<N> *v) {
  Lanes<N> both[2] = {v[0]};
  Mask<N> ok = RealCis<N>(both);
  v[0] = both[1];
  return ok;
}
template <int N> Mask<N> RealTan(Lanes<N> *v) {
  Lanes<N> both[2] = {v[0]};
  Mask<N> ok = RealCis<N>(both);
  v[0] = both[1] / both[0];
  return ok;
}
template <int N> Mask<N> RealSinh(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], exponentLimit);
  Lanes<N> s, c;
  sinhcosh<N>(v[0], s, c);
  v[0] = s;
  return ok;
}
template <int N> Mask<N> RealCosh(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], exponentLimit);
  Lanes<N> s, c;
  sinhcosh<N>(v[0], s, c);
  v[0] = c;
  return ok;
}
template <int N> Mask<N> RealTanh(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], exponentLimit);
  Lanes<N> s, c, a = fabs<N>(v[0]), e = exp<N>(-2 * __builtin_elementwise_min(a, all<N>(50)));
  sinhcosh<N>(v[0], s, c);
  v[0] = a < 0.5 ? s / c : copysign<N>((1 - e) / (1 + e), v[0]);
  return ok;
}
template <int N> Mask<N> RealAtan2(Lanes<N> *v) {
  Mask<N> ok = isModeratePair<N>(v);
  v[0] = atan2<N>(v[0], v[1]);
  return ok;
}

/// e^x (cos y + i sin y).
template <int N> Mask<N> ComplexExp(Lanes<N> *v) {
  Mask<N> ok = isBelow<N>(v[0], exponentLimit) & isBelow<N>(v[1], angleLimit);
  Lanes<N> e = exp<N>(v[0]), s, c;
  sincos<N>(v[1], s, c);
  v[0] = e * c;
  v[1] = e * s;
  return ok;
}
/// log|z| = log(x^2 + y^2)/2, the sum with twice the digits; too close to |z| = 1 even those are not enough.
template <int N> Mask<N> ComplexLog(Lanes<N> *v) {
  Lanes<N> x = v[0], y = v[1], xx = x * x, yy = y * y, large = xx > yy ? xx : yy, small = xx > yy ? yy : xx;
  Lanes<N> sum = large + small, rest = ((large - sum) + small) + (fma<N>(x, x, -xx) + fma<N>(y, y, -yy));
  Mask<N> ok = isModeratePair<N>(v) & (fabs<N>((sum - 1) + rest) > 0x1p-40);
  v[0] = 0.5 * log<N>(sum, rest);
  v[1] = atan2<N>(y, x);
  return ok;
}
template <int N> Mask<N> scaledComplexLog(Lanes<N> *v, double factor) {
  Mask<N> ok = ComplexLog<N>(v);
  v[0] *= factor;
  v[1] *= factor;
  return ok;
}
template <int N> Mask<N> ComplexLog2(Lanes<N> *v) { return scaledComplexLog<N>(v, 0x1.71547652b82fep+0); }
template <int N> Mask<N> ComplexLog10(Lanes<N> *v) { return scaledComplexLog<N>(v, 0x1.bcb7b1526e50ep-2); }
/// t = sqrt((|z| + |x|)/2), u = |y|/(2t): t + iu on the right, u + it on the left.
template <int N> Mask<N> ComplexSqrt(Lanes<N> *v) {
  Mask<N> ok = isModeratePair<N>(v);
  Lanes<N> r = magnitude<N>(v), t = sqrt<N>(0.5 * (r + fabs<N>(v[0]))), u = fabs<N>(v[1]) / (2 * t);
  Mask<N> right = v[0] >= 0;
  v[0] = right ? t : u;
  v[1] = copysign<N>(right ? u : t, v[1]);
  return ok;
}
/// conj(sqrt z)/|z|.
template <int N> Mask<N> ComplexRsqrt(Lanes<N> *v) {
  Lanes<N> r = magnitude<N>(v);
  Mask<N> ok = ComplexSqrt<N>(v);
  v[0] = v[0] / r;
  v[1] = -v[1] / r;
  return ok;
}
/// What sin, cos, sinh, cosh, tan and tanh need of one real and one imaginary argument.
template <int N> struct Circular {
  Lanes<N> s, c, sh, ch;
  Mask<N> ok;
  Circular(Lanes<N> angle, Lanes<N> exponent) {
    ok = isBelow<N>(angle, angleLimit) & isBelow<N>(exponent, exponentLimit);
    sincos<N>(angle, s, c);
    sinhcosh<N>(exponent, sh, ch);
  }
};
template <int N> Mask<N> ComplexSin(Lanes<N> *v) {
  Circular<N> f(v[0], v[1]);
  v[0] = f.s * f.ch;
  v[1] = f.c * f.sh;
  return f.ok;
}
template <int N> Mask<N> ComplexCos(Lanes<N> *v) {
  Circular<N> f(v[0], v[1]);
  v[0] = f.c * f.ch;
  v[1] = -(f.s * f.sh);
  return f.ok;
}
template <int N> Mask<N> ComplexSinh(Lanes<N> *v) {
  Circular<N> f(v[1], v[0]);
  v[0] = f.c * f.sh;
  v[1] = f.s * f.ch;
  return f.ok;
}
template <int N> Mask<N> ComplexCosh(Lanes<N> *v) {
  Circular<N> f(v[1], v[0]);
  v[0] = f.c * f.ch;
  v[1] = f.s * f.sh;
  return f.ok;
}
/// tanh(x + iy) = (sinh x cosh x + i sin y cos y)/(sinh^2 x + cos^2 y); for c64.
template <int N> Mask<N> ComplexTanh(Lanes<N> *v) {
  Circular<N> f(v[1], v[0]);
  Lanes<N> d = f.sh * f.sh + f.c * f.c;
  Mask<N> ok = f.ok & isBelow<N>(v[0], exponentLimit / 2);
  v[0] = f.sh * f.ch / d;
  v[1] = f.s * f.c / d;
  return ok;
}
template <int N> Mask<N> ComplexTan(Lanes<N> *v) { // tan z = -i tanh(iz)
  Lanes<N> w[2] = {-v[1], v[0]};
  Mask<N> ok = ComplexTanh<N>(w);
  v[0] = w[1];
  v[1] = -w[0];
  return ok;
}
template <int N> Mask<N> ComplexSign(Lanes<N> *v) {
  Mask<N> ok = isModeratePair<N>(v);
  Lanes<N> r = magnitude<N>(v);
  v[0] /= r;
  v[1] /= r;
  return ok;
}
template <int N> Mask<N> ComplexAbs(Lanes<N> *v) {
  Mask<N> ok = isModeratePair<N>(v);
  v[0] = magnitude<N>(v);
  return ok;
}
/// The numerators by Kahan's difference of products; the same operations as rt::divide.
template <int N> Mask<N> ComplexDiv(Lanes<N> *v) {
  Lanes<N> a = v[0], b = v[1], c = v[2], d = v[3];
  Mask<N> ok = isModerateOrZero<N>(a) & isModerateOrZero<N>(b) & isModeratePair<N>(v + 2);
  Lanes<N> denominator = c * c + d * d, bd = b * d, ad = -a * d;
  v[0] = (fma<N>(a, c, bd) + fma<N>(b, d, -bd)) / denominator;
  v[1] = (fma<N>(b, c, ad) + fma<N>(-a, d, -ad)) / denominator;
  return ok;
}
template <int N> Mask<N> ComplexReciprocal(Lanes<N> *v) {
  Lanes<N> quotient[4] = {all<N>(1), all<N>(0), v[0], v[1]};
  Mask<N> ok = ComplexDiv<N>(quotient);
  v[0] = quotient[0];
  v[1] = quotient[1];
  return ok;
}

/// n elements in place, N at a time; the lanes beyond n compute the values of 1.
template <int N, auto kernel, int inputs, int outputs> void run(int64_t n, double *values, CarefulFunction careful) {
  constexpr int most = inputs > outputs ? inputs : outputs;
  for (int64_t begin = 0; begin < n; begin += N) {
    const int count = n - begin < N ? static_cast<int>(n - begin) : N;
    Lanes<N> v[most], arguments[most];
    for (int i = 0; i < inputs; ++i) {
      v[i] = all<N>(1);
      if (count == N)
        __builtin_memcpy(&v[i], values + i * n + begin, sizeof v[i]);
      else
        for (int lane = 0; lane < count; ++lane)
          v[i][lane] = values[i * n + begin + lane];
      arguments[i] = v[i];
    }
    Mask<N> ordinary = kernel(v);
    for (int i = 0; i < outputs; ++i)
      if (count == N)
        __builtin_memcpy(values + i * n + begin, &v[i], sizeof v[i]);
      else
        for (int lane = 0; lane < count; ++lane)
          values[i * n + begin + lane] = v[i][lane];
    if (__builtin_reduce_and(ordinary) != 0)
      continue;
    for (int lane = 0; lane < count; ++lane)
      if (!ordinary[lane]) {
        double one[most];
        for (int i = 0; i < inputs; ++i)
          one[i] = arguments[i][lane];
        careful(one);
        for (int i = 0; i < outputs; ++i)
          values[i * n + begin + lane] = one[i];
      }
  }
}

template <auto narrow, auto wide, int inputs, int outputs> void apply(int64_t n, double *values, CarefulFunction careful) {
  if (n <= 2)
    run<2, narrow, inputs, outputs>(n, values, careful);
  else
    run<4, wide, inputs, outputs>(n, values, careful);
}

} // namespace

extern const ElementKernel elementKernels[];
const ElementKernel elementKernels[] = {
#define TOY_ELEMENT(KERNEL, NAME, DTYPE, INPUTS, OUTPUTS) apply<KERNEL<2>, KERNEL<4>, INPUTS, OUTPUTS>,
#include "runtime/ElementFunctions.def"
};

} // namespace toy::rt::TOY_ISA
