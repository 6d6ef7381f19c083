// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built once for each instruction set with TOY_ISA naming it; without fused multiply-add, so that all of them give the
/// same bits.
#include "runtime/FourierLanes.h"
#include "runtime/KernelVectors.h"

namespace toy::rt {
namespace {

/// Interleaved complex numbers of a register.
template <typename R, bool isBackward> struct Lanes {
  static constexpr int count = registerLanes<R>;
  using V = Register<R>;
  static V load(const R *from) {
    V v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
  }
  static void store(R *to, V v) { __builtin_memcpy(to, &v, sizeof v); }
  static V swapped(V v) {
    if constexpr (count == 16)
      return __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
    else if constexpr (count == 8)
      return __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
    else if constexpr (count == 4)
      return __builtin_shufflevector(v, v, 1, 0, 3, 2);
    else
      return __builtin_shufflevector(v, v, 1, 0);
  }
  /// The real or the imaginary parts, each twice.
  template <int p> static V twice(V v) {
    if constexpr (count == 16)
      return __builtin_shufflevector(v, v, p, p, 2 + p, 2 + p, 4 + p, 4 + p, 6 + p, 6 + p, 8 + p, 8 + p, 10 + p, 10 + p,
                                     12 + p, 12 + p, 14 + p, 14 + p);
    else if constexpr (count == 8)
      return __builtin_shufflevector(v, v, p, p, 2 + p, 2 + p, 4 + p, 4 + p, 6 + p, 6 + p);
    else if constexpr (count == 4)
      return __builtin_shufflevector(v, v, p, p, 2 + p, 2 + p);
    else
      return __builtin_shufflevector(v, v, p, p);
  }
  /// x in real parts, y in imaginary ones.
  static V pair(R x, R y) {
    V v;
    for (int i = 0; i < count; ++i)
      v[i] = i % 2 ? y : x;
    return v;
  }
  /// By -i, or by i backwards.
  static V turned(V v) { return swapped(v) * (isBackward ? pair(-1, 1) : pair(1, -1)); }

  struct Factor {
    V re, im;
    explicit Factor(const R *w) : re(w[0]), im(pair(-w[1], w[1])) {}
    V operator*(V v) const { return v * re + swapped(v) * im; }
  };

  static void of2(V *x) {
    V a = x[0] + x[1];
    x[1] = x[0] - x[1];
    x[0] = a;
  }
  static void of3(V *x) {
    V sum = x[1] + x[2], middle = x[0] - R(0.5) * sum, side = turned((x[1] - x[2]) * R(0.86602540378443864676));
    x[0] += sum;
    x[1] = middle + side;
    x[2] = middle - side;
  }
  static void of4(V &a, V &b, V &c, V &d) {
    V even = a + c, odd = a - c, sum = b + d, side = turned(b - d);
    a = even + sum;
    b = odd + side;
    c = even - sum;
    d = odd - side;
  }
  static void of8(V *x) {
    constexpr R half = R(0.70710678118654752440);
    of4(x[0], x[2], x[4], x[6]);
    of4(x[1], x[3], x[5], x[7]);
    V first = half * (x[3] + turned(x[3])), second = turned(x[5]), third = half * (turned(x[7]) - x[7]), zeroth = x[1];
    V e0 = x[0], e1 = x[2], e2 = x[4], e3 = x[6];
    x[0] = e0 + zeroth;
    x[4] = e0 - zeroth;
    x[1] = e1 + first;
    x[5] = e1 - first;
    x[2] = e2 + second;
    x[6] = e2 - second;
    x[3] = e3 + third;
    x[7] = e3 - third;
  }
  /// Any odd number, elements k and radix - k together.
  template <int known> static void ofOdd(V *x, int64_t given, const R *roots) {
    constexpr int64_t most = (known ? known : largestLanePrime) / 2 + 1;
    const int64_t radix = known ? known : given, half = radix / 2;
    V sums[most], differences[most], first = x[0], all = x[0];
    for (int64_t j = 1; j <= half; ++j) {
      sums[j] = x[j] + x[radix - j];
      differences[j] = x[j] - x[radix - j];
      all += sums[j];
    }
    x[0] = all;
    for (int64_t k = 1; k <= half; ++k) {
      V middle = first, side = V(0);
      for (int64_t j = 1, at = k; j <= half; ++j, at = at + k < radix ? at + k : at + k - radix) {
        middle += roots[2 * at] * sums[j];
        side += roots[2 * at + 1] * differences[j];
      }
      side = swapped(side) * pair(1, -1);
      x[k] = middle + side;
      x[radix - k] = middle - side;
    }
  }

  template <int radix> [[gnu::always_inline]] static void butterfly(V *x, const LaneStage<R> &stage) {
    if constexpr (radix == 2)
      of2(x);
    else if constexpr (radix == 3)
      of3(x);
    else if constexpr (radix == 4)
      of4(x[0], x[1], x[2], x[3]);
    else if constexpr (radix == 8)
      of8(x);
    else
      ofOdd<radix>(x, stage.radix, stage.roots);
  }

  /// 0 stands for any odd radix.
  template <int known>
  static void run(const LaneStage<R> &stage, const R *in, int64_t inPitch, R *out, int64_t outPitch, R scale) {
    constexpr int64_t width = laneBytes / sizeof(R);
    constexpr int most = known ? known : largestLanePrime;
    const int64_t radix = known ? known : stage.radix, groups = stage.groups, stride = stage.stride;
    for (int64_t p = 0; p < groups; ++p) {
      const R *turns = stage.turns + 2 * p * (radix - 1);
      for (int64_t q = 0; q < stride; ++q)
        for (int64_t c = 0; c < width; c += count) {
          V x[most];
          const R *from = in + (q + stride * p) * inPitch + c;
          for (int64_t j = 0; j < radix; ++j)
            x[j] = load(from + j * stride * groups * inPitch);
          butterfly<known>(x, stage);
          R *to = out + (q + stride * radix * p) * outPitch + c;
          if (p == 0)
            for (int64_t k = 0; k < radix; ++k)
              store(to + k * stride * outPitch, scale != 1 ? x[k] * scale : x[k]);
          else {
            store(to, x[0]);
            for (int64_t k = 1; k < radix; ++k)
              store(to + k * stride * outPitch, Factor(turns + 2 * (k - 1)) * x[k]);
          }
        }
    }
  }
  static void step(const LaneStage<R> &stage, const R *in, int64_t inPitch, R *out, int64_t outPitch, R scale) {
    switch (stage.radix) {
    case 2:
      return run<2>(stage, in, inPitch, out, outPitch, scale);
    case 3:
      return run<3>(stage, in, inPitch, out, outPitch, scale);
    case 4:
      return run<4>(stage, in, inPitch, out, outPitch, scale);
    case 5:
      return run<5>(stage, in, inPitch, out, outPitch, scale);
    case 7:
      return run<7>(stage, in, inPitch, out, outPitch, scale);
    case 8:
      return run<8>(stage, in, inPitch, out, outPitch, scale);
    default:
      return run<0>(stage, in, inPitch, out, outPitch, scale);
    }
  }
  static void transform(const LaneStage<R> *stages, int64_t steps, const LaneRows<R> &rows) {
    constexpr int64_t width = laneBytes / sizeof(R);
    const int64_t points = stages[0].radix * stages[0].groups;
    const R *in = rows.in;
    int64_t pitch = rows.inPitch;
    for (int64_t i = 0; i < steps; ++i) {
      const bool isLast = i + 1 == steps;
      R *to = isLast ? rows.out : rows.work + i % 2 * points * width;
      const int64_t toPitch = isLast ? rows.outPitch : width;
      step(stages[i], in, pitch, to, toPitch, isLast ? rows.scale : R(1));
      in = to;
      pitch = toPitch;
    }
  }
};

template <typename R>
void transform(const LaneStage<R> *stages, int64_t count, const LaneRows<R> &rows, bool isBackward) {
  if (isBackward)
    Lanes<R, true>::transform(stages, count, rows);
  else
    Lanes<R, false>::transform(stages, count, rows);
}

template <typename R> void multiply(const LaneRows<R> &rows, const R *factors, int64_t count) {
  using P = Lanes<R, false>;
  for (int64_t k = 0; k < count; ++k) {
    const typename P::Factor factor(factors + 2 * k);
    for (int64_t c = 0; c < static_cast<int64_t>(laneBytes / sizeof(R)); c += P::count)
      P::store(rows.out + k * rows.outPitch + c, factor * P::load(rows.in + k * rows.inPitch + c) * rows.scale);
  }
}

template <typename R> void turn(R *elements, const R *factors, int64_t count) {
  using P = Lanes<R, false>;
  for (int64_t i = 0; i < count; i += P::count) {
    const typename P::V w = P::load(factors + i), z = P::load(elements + i);
    P::store(elements + i, z * P::template twice<0>(w) + P::swapped(z) * (P::template twice<1>(w) * P::pair(-1, 1)));
  }
}

/// What `fold` of runtime/FourierKernels.h does, of rows side by side.
template <typename R> struct RealLanes {
  using P = Lanes<R, false>;
  using V = typename P::V;
  static constexpr int64_t width = laneBytes / sizeof(R); ///< reals of a dense complex row

  static void pair(const RealLaneRows<R> &x) {
    for (int64_t k = 0; k < x.half; ++k) {
      const R *__restrict even = x.reals + 2 * k * x.pitch, *__restrict odd = even + x.pitch;
      R *__restrict to = x.between + k * width;
      for (int64_t i = 0; i < width / 2; ++i) {
        to[2 * i] = even[i];
        to[2 * i + 1] = odd[i];
      }
    }
  }
  static void split(const RealLaneRows<R> &x) {
    for (int64_t k = 0; k < x.half; ++k) {
      R *__restrict even = x.reals + 2 * k * x.pitch, *__restrict odd = even + x.pitch;
      const R *__restrict from = x.between + k * width;
      for (int64_t i = 0; i < width / 2; ++i) {
        even[i] = from[2 * i];
        odd[i] = from[2 * i + 1];
      }
    }
  }
  static V conjugate(V v) { return v * P::pair(1, -1); }
  /// Elements k and half - k, 0 < k < half / 2.
  static void both(const RealLaneRows<R> &x, int64_t k, R a, const R *in, int64_t inPitch, R *out, int64_t outPitch) {
    const typename P::Factor factor(x.factors + 2 * k);
    for (int64_t c = 0; c < width; c += P::count) {
      V z = P::load(in + k * inPitch + c), w = conjugate(P::load(in + (x.half - k) * inPitch + c));
      V sum = a * (z + w), difference = factor * (z - w);
      P::store(out + k * outPitch + c, x.scale * (sum + difference));
      P::store(out + (x.half - k) * outPitch + c, conjugate(x.scale * (sum - difference)));
    }
  }
  static void unfold(const RealLaneRows<R> &x) {
    for (int64_t i = 0; i < width; i += 2) {
      const R re = x.between[i], im = x.between[i + 1];
      R *first = x.halves + i, *last = x.halves + x.half * x.halfPitch + i;
      first[0] = x.scale * (re + im);
      last[0] = x.scale * (re - im);
      first[1] = last[1] = 0;
    }
    for (int64_t k = 1; 2 * k < x.half; ++k)
      both(x, k, R(0.5), x.between, width, x.halves, x.halfPitch);
    if (x.half % 2 == 0)
      for (int64_t c = 0, k = x.half / 2; c < width; c += P::count)
        P::store(x.halves + k * x.halfPitch + c, x.scale * conjugate(P::load(x.between + k * width + c)));
  }
  static void fold(const RealLaneRows<R> &x) {
    for (int64_t i = 0; i < width; i += 2) {
      const R first = x.halves[i], last = x.halves[x.half * x.halfPitch + i];
      x.between[i] = x.scale * (first + last);
      x.between[i + 1] = x.scale * (first - last);
    }
    for (int64_t k = 1; 2 * k < x.half; ++k)
      both(x, k, R(1), x.halves, x.halfPitch, x.between, width);
    if (x.half % 2 == 0)
      for (int64_t c = 0, k = x.half / 2; c < width; c += P::count)
        P::store(x.between + k * width + c, 2 * x.scale * conjugate(P::load(x.halves + k * x.halfPitch + c)));
  }
};

/// Steps of an odd radix of real rows, in real numbers.
template <typename R> struct OddRealLanes {
  using P = Lanes<R, false>;
  using V = typename P::V;
  static constexpr int64_t width = laneBytes / sizeof(R), reals = width / 2; ///< of a complex and of a real row
  static constexpr int count = P::count;

  static void storePairs(R *to, V re, V im) {
    if constexpr (count == 16) {
      P::store(to, __builtin_shufflevector(re, im, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
      P::store(to + 16, __builtin_shufflevector(re, im, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
    } else if constexpr (count == 8) {
      P::store(to, __builtin_shufflevector(re, im, 0, 8, 1, 9, 2, 10, 3, 11));
      P::store(to + 8, __builtin_shufflevector(re, im, 4, 12, 5, 13, 6, 14, 7, 15));
    } else if constexpr (count == 4) {
      P::store(to, __builtin_shufflevector(re, im, 0, 4, 1, 5));
      P::store(to + 4, __builtin_shufflevector(re, im, 2, 6, 3, 7));
    } else {
      P::store(to, __builtin_shufflevector(re, im, 0, 2));
      P::store(to + 2, __builtin_shufflevector(re, im, 1, 3));
    }
  }
  static void loadPairs(const R *from, V &re, V &im) {
    V a = P::load(from), b = P::load(from + count);
    if constexpr (count == 16) {
      re = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
      im = __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    } else if constexpr (count == 8) {
      re = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
      im = __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
    } else if constexpr (count == 4) {
      re = __builtin_shufflevector(a, b, 0, 2, 4, 6);
      im = __builtin_shufflevector(a, b, 1, 3, 5, 7);
    } else {
      re = __builtin_shufflevector(a, b, 0, 2);
      im = __builtin_shufflevector(a, b, 1, 3);
    }
  }

  /// 0 stands for any odd radix. Forwards elements j and radix - k enter together, backwards they leave together.
  template <int known> static void part(const RealStage<R> &stage, const R *from, R *first, R *others) {
    constexpr int64_t most = (known ? known : largestLanePrime) / 2 + 1;
    const int64_t radix = known ? known : stage.radix, half = radix / 2, groups = stage.groups;
    for (int64_t p = 0; p < groups; ++p)
      for (int64_t c = 0; c < reals; c += count) {
        V sums[most], differences[most];
        const V zeroth = P::load(from + p * reals + c);
        V all = zeroth;
        for (int64_t j = 1; j <= half; ++j) {
          V a = P::load(from + (p + j * groups) * reals + c),
            b = P::load(from + (p + (radix - j) * groups) * reals + c);
          sums[j] = a + b;
          differences[j] = b - a;
          all += sums[j];
        }
        P::store(first + p * reals + c, all);
        for (int64_t k = 1; k <= half; ++k) {
          V re = zeroth, im = V(0);
          for (int64_t j = 1, at = k; j <= half; ++j, at = at + k < radix ? at + k : at + k - radix) {
            re += stage.roots[2 * at] * sums[j];
            im += stage.roots[2 * at + 1] * differences[j];
          }
          const R *turn = stage.turns + 2 * (p * half + k - 1);
          R *to = others + ((k - 1) * groups + p) * width + 2 * c;
          if (p == 0)
            storePairs(to, re, im);
          else
            storePairs(to, turn[0] * re - turn[1] * im, turn[1] * re + turn[0] * im);
        }
      }
  }
  template <int known> static void join(const RealStage<R> &stage, const R *first, const R *others, R *to) {
    constexpr int64_t most = (known ? known : largestLanePrime) / 2 + 1;
    const int64_t radix = known ? known : stage.radix, half = radix / 2, groups = stage.groups;
    for (int64_t p = 0; p < groups; ++p)
      for (int64_t c = 0; c < reals; c += count) {
        V cosines[most], sines[most];
        const V zeroth = P::load(first + p * reals + c);
        V all = zeroth;
        for (int64_t k = 1; k <= half; ++k) {
          V re, im;
          loadPairs(others + ((k - 1) * groups + p) * width + 2 * c, re, im);
          const R *turn = stage.turns + 2 * (p * half + k - 1);
          cosines[k] = R(2) * (turn[0] * re - turn[1] * im);
          sines[k] = R(2) * (turn[1] * re + turn[0] * im);
          all += cosines[k];
        }
        P::store(to + p * reals + c, all);
        for (int64_t j = 1; j <= half; ++j) {
          V middle = zeroth, side = V(0);
          for (int64_t k = 1, at = j; k <= half; ++k, at = at + j < radix ? at + j : at + j - radix) {
            middle += stage.roots[2 * at] * cosines[k];
            side += stage.roots[2 * at + 1] * sines[k];
          }
          P::store(to + (p + j * groups) * reals + c, middle - side);
          P::store(to + (p + (radix - j) * groups) * reals + c, middle + side);
        }
      }
  }
  static void partAny(const RealStage<R> &stage, const R *from, R *first, R *others) {
    auto run = stage.radix == 3 ? part<3> : stage.radix == 5 ? part<5> : stage.radix == 7 ? part<7> : part<0>;
    run(stage, from, first, others);
  }
  static void joinAny(const RealStage<R> &stage, const R *first, const R *others, R *to) {
    auto run = stage.radix == 3 ? join<3> : stage.radix == 5 ? join<5> : stage.radix == 7 ? join<7> : join<0>;
    run(stage, first, others, to);
  }

  static void copy(const R *from, R *to, R re, R im) {
    const V factors = P::pair(re, im);
    for (int64_t c = 0; c < width; c += count)
      P::store(to + c, factors * P::load(from + c));
  }
  template <bool spreads> static void move(const HalfPart<R> &x) {
    R *part = x.part;
    for (int64_t at = x.k; at < x.points; at += x.radix, part += width) {
      const bool isBelow = 2 * at < x.points;
      R *half = x.halves + (isBelow ? at : x.points - at) * x.step * width;
      copy(spreads ? part : half, spreads ? half : part, x.scale, isBelow ? x.scale : -x.scale);
    }
  }
};

template <typename R>
constexpr LaneKernels<R> laneKernels{transform<R>,
                                     multiply<R>,
                                     turn<R>,
                                     RealLanes<R>::pair,
                                     RealLanes<R>::unfold,
                                     RealLanes<R>::fold,
                                     RealLanes<R>::split,
                                     OddRealLanes<R>::partAny,
                                     OddRealLanes<R>::joinAny,
                                     OddRealLanes<R>::template move<true>,
                                     OddRealLanes<R>::template move<false>};

} // namespace

namespace TOY_ISA {
LaneKernels<float> laneKernelsF32() { return laneKernels<float>; }
LaneKernels<double> laneKernelsF64() { return laneKernels<double>; }
} // namespace TOY_ISA

} // namespace toy::rt
