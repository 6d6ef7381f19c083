// SPDX-License-Identifier: Apache-2.0
/// \file
/// Numbers whose distribution has parameters: candidates that are accepted or not. An element's attempts have counters
/// of their own, so that what it gets depends on no other element. Built once for each instruction set with TOY_ISA
/// naming it; nothing of the standard library is used.
#include "runtime/Philox.h"

namespace toy::rt::TOY_ISA {
namespace {

constexpr int block = 256;
constexpr uint64_t attempts = 1 << 14; ///< never reached: of candidates, more than half are accepted

template <int N> Lanes<N> least(Lanes<N> x, Lanes<N> y) { return __builtin_elementwise_min(x, y); }
template <int N> Lanes<N> most(Lanes<N> x, Lanes<N> y) { return __builtin_elementwise_max(x, y); }
template <int N> Lanes<N> floor(Lanes<N> x) { return __builtin_elementwise_floor(x); }
template <int N> Lanes<N> log(Lanes<N> x, int) { return log<N>(x, all<N>(0)); }
template <int N> bool any(Mask<N> mask) { return __builtin_reduce_or(mask) != 0; }
/// W. Kahan's: the error of 1 + x is divided out.
template <int N> Lanes<N> logOfOneAnd(Lanes<N> x) {
  Lanes<N> y = 1 + x;
  Mask<N> isTiny = y == 1;
  return isTiny ? x : log<N>(y, 0) * (x / (isTiny ? all<N>(1) : y - 1));
}

/// log k! less Stirling's formula for it (C. Loader: Fast and accurate computation of binomial probabilities, 2000),
/// k >= 1.
template <int N> Lanes<N> stirlingError(Lanes<N> k) {
  constexpr int known = 16; // log k! - (k + 1/2) log k + k - log(2 pi)/2
  static constexpr double table[known] = {0,
                                          0.08106146679532725822,
                                          0.04134069595540929409,
                                          0.02767792568499833915,
                                          0.02079067210376509311,
                                          0.01664469118982119216,
                                          0.01387612882307074800,
                                          0.01189670994589177010,
                                          0.01041126526197209650,
                                          0.00925546218271273292,
                                          0.00833056343336287126,
                                          0.00757367548795184079,
                                          0.00694284010720952987,
                                          0.00640899418800420707,
                                          0.00595137011275884774,
                                          0.00555473355196280137};
  Lanes<N> s = 1 / (k * k);
  Lanes<N> series = (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680) * s) * s) * s) / k;
  if (any<N>(k < known))
    for (int lane = 0; lane < N; ++lane)
      if (k[lane] < known)
        series[lane] = table[static_cast<int>(k[lane])];
  return series;
}
/// k log(k / mean) + mean - k, k >= 1, without cancellation (Loader's deviance).
template <int N> Lanes<N> deviance(Lanes<N> k, Lanes<N> mean) {
  Lanes<N> difference = k - mean, v = difference / (k + mean), square = v * v;
  Mask<N> isFar = fabs<N>(v) >= 0.1;
  Lanes<N> series = polynomial<N>(square, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17);
  Lanes<N> near = difference * v + 2 * k * v * (square * series);
  return any<N>(isFar) ? (isFar ? k * log<N>(k / mean, 0) - difference : near) : near;
}

/// The least k whose cumulated probability is above u: `first` is that of 0, each next one follows by ratio(k).
template <int N, typename Ratio> Lanes<N> inverted(Lanes<N> u, Lanes<N> first, Ratio ratio) {
  constexpr int enough = 160; // means are below 10: what lies behind has no probability in f64
  Lanes<N> probability = first, cumulated = first, count = all<N>(0);
  for (int k = 1; k < enough; ++k) {
    Mask<N> isBehind = u >= cumulated;
    if (!any<N>(isBehind))
      break;
    count += isBehind ? all<N>(1) : all<N>(0);
    probability *= ratio(k);
    cumulated += probability;
  }
  return count;
}

/// Uniform numbers of a counter: u in [0, 1), v in (0, 1].
template <int W> struct Pair {
  alignas(64) double u[W], v[W];

  void draw(const RandomKey &key, Words<W> index, uint64_t attempt) {
    Words<W> c[4];
    philox<W>(key, index, c, attempt);
    store<W>(u, unit53<W>(c[0], c[1]), W);
    store<W>(v, 1 - unit53<W>(c[2], c[3]), W);
  }
};
template <int N> Lanes<N> lanesAt(const double *from) {
  Lanes<N> x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}

/// By inversion, and for means of 10 and more W. Hörmann's transformed rejection with squeeze (PTRS: The transformed
/// rejection method for generating Poisson random variables, 1993).
template <int N> struct Poisson {
  using Result = int64_t;
  template <int W> using Numbers = Pair<W>;
  Lanes<N> mean, large, a, b, inverseAlpha, squeeze, none;
  Mask<N> isValid, isSmall;

  Poisson(Lanes<N> given, Lanes<N>) {
    isValid = (given > 0) & (given < 0x1p63);
    isSmall = given < 10;
    mean = (isValid & isSmall) ? given : all<N>(1);
    large = (isValid & ~isSmall) ? given : all<N>(10);
    none = exp<N>(-mean);
    b = 0.931 + 2.53 * sqrt<N>(large);
    a = -0.059 + 0.02483 * b;
    inverseAlpha = 1.1239 + 1.1328 / (b - 3.4);
    squeeze = 0.9277 - 3.6224 / (b - 2);
  }

  template <int W> Mask<N> test(const Pair<W> &numbers, int at, Lanes<N> &value) const {
    Lanes<N> u = lanesAt<N>(numbers.u + at), v = lanesAt<N>(numbers.v + at), small = all<N>(0);
    Mask<N> isDone = ~isValid | isSmall;
    if (any<N>(isValid & isSmall))
      small = inverted<N>(u, none, [&](int k) { return mean * all<N>(1.0 / k); });
    value = isValid ? small : all<N>(0);
    if (!any<N>(~isDone))
      return isDone;
    u -= 0.5;
    Lanes<N> us = 0.5 - fabs<N>(u), k = floor<N>((2 * a / us + b) * u + large + 0.43);
    Mask<N> isQuick = (us >= 0.07) & (v <= squeeze), isPossible = (k >= 0) & ((us >= 0.013) | (v <= us));
    value = isDone ? value : k;
    if (any<N>(~isDone & isPossible & ~isQuick)) {
      Lanes<N> safe = (isPossible & (k > 0)) ? k : all<N>(1), room = isPossible ? us : all<N>(0.5);
      Lanes<N> probability = -stirlingError<N>(safe) - deviance<N>(safe, large) - 0.5 * log<N>(tau * safe, 0);
      probability = k == 0 ? -large : probability;
      isQuick |= log<N>(v * inverseAlpha / (a / (room * room) + b), 0) <= probability;
    }
    return isDone | (isPossible & isQuick);
  }
};

/// By inversion, and for means of 10 and more Hörmann's BTRS (The generation of binomial random variates, 1993). Of p
/// above 1/2 it is the number of those that are not counted.
template <int N> struct Binomial {
  using Result = int64_t;
  template <int W> using Numbers = Pair<W>;
  Lanes<N> n, p, mean, none, odds, a, b, c, alpha, squeeze, ofMode;
  Mask<N> isValid, isSmall, isTurned;

  Binomial(Lanes<N> trials, Lanes<N> given) {
    isValid = (trials > 0) & (trials <= 0x1p53) & (given >= 0) & (given <= 1);
    n = isValid ? trials : all<N>(1);
    isTurned = given > 0.5;
    p = isValid ? (isTurned ? 1 - given : given) : all<N>(0);
    mean = n * p;
    isSmall = mean < 10;
    none = exp<N>(isSmall ? n * logOfOneAnd<N>(-p) : all<N>(0));
    odds = p / (1 - p);
    if (!any<N>(~isSmall))
      return;
    n = isSmall ? all<N>(20) : n; // anything that ends
    p = isSmall ? all<N>(0.5) : p;
    mean = n * p;
    Lanes<N> deviation = sqrt<N>(mean * (1 - p));
    b = 1.15 + 2.53 * deviation;
    a = -0.0873 + 0.0248 * b + 0.01 * p;
    c = mean + 0.5;
    alpha = (2.83 + 5.1 / b) * deviation;
    squeeze = 0.92 - 4.2 / b;
    ofMode = logProbability(floor<N>((n + 1) * p));
    n = (isSmall & isValid) ? trials : n;
  }

  Lanes<N> logProbability(Lanes<N> k) const {
    Mask<N> isFirst = k == 0, isLast = k == n;
    k = (isFirst | isLast) ? all<N>(1) : k;
    Lanes<N> inside = stirlingError<N>(n) - stirlingError<N>(k) - stirlingError<N>(n - k) - deviance<N>(k, mean) -
                      deviance<N>(n - k, n * (1 - p)) + 0.5 * log<N>(n / (tau * k * (n - k)), 0);
    if (!any<N>(isFirst | isLast))
      return inside;
    return isFirst ? n * logOfOneAnd<N>(-p) : isLast ? n * log<N>(p, 0) : inside;
  }

  template <int W> Mask<N> test(const Pair<W> &numbers, int at, Lanes<N> &value) const {
    Lanes<N> u = lanesAt<N>(numbers.u + at), v = lanesAt<N>(numbers.v + at);
    value = all<N>(0);
    if (any<N>(isSmall)) // others are 0 at once
      value = least<N>(inverted<N>(isSmall ? u : all<N>(0), isSmall ? none : all<N>(1),
                                   [&](int k) { return most<N>(n - (k - 1), all<N>(0)) * all<N>(1.0 / k) * odds; }),
                       n);
    Mask<N> isDone = isSmall;
    if (any<N>(~isSmall)) {
      u -= 0.5;
      Lanes<N> us = 0.5 - fabs<N>(u), k = floor<N>((2 * a / us + b) * u + c);
      Mask<N> isQuick = (us >= 0.07) & (v <= squeeze), isPossible = ~isSmall & (k >= 0) & (k <= n);
      if (any<N>(isPossible & ~isQuick)) {
        Lanes<N> safe = isPossible ? k : all<N>(0), room = isPossible ? us : all<N>(0.5);
        isQuick |= log<N>(v * alpha / (a / (room * room) + b), 0) <= logProbability(safe) - ofMode;
      }
      isDone |= isPossible & isQuick;
      value = isSmall ? value : k;
    }
    value = isTurned ? n - value : value;
    value = isValid ? value : all<N>(0);
    return isDone | ~isValid;
  }
};

/// A normal number x, u in (0, 1] and one more, v, of two counters an attempt.
template <int W> struct Triple {
  alignas(64) double x[W], u[W], v[W];

  void draw(const RandomKey &key, Words<W> index, uint64_t attempt) {
    constexpr int N = W < lanes ? W : lanes;
    Words<W> c[4];
    philox<W>(key, index, c, 2 * attempt);
    store<W>(u, 1 - unit53<W>(c[0], c[1]), W);
    store<W>(v, tau * unit53<W>(c[2], c[3]), W);
    for (int k = 0; k < W; k += N) {
      Lanes<N> cosine, sine;
      boxMuller<N>(lanesAt<N>(u + k), lanesAt<N>(v + k), cosine, sine);
      __builtin_memcpy(x + k, &cosine, sizeof cosine);
    }
    philox<W>(key, index, c, 2 * attempt + 1);
    store<W>(u, 1 - unit53<W>(c[0], c[1]), W);
    store<W>(v, 1 - unit53<W>(c[2], c[3]), W);
  }
};

/// G. Marsaglia and W. W. Tsang: A simple method for generating gamma variables, 2000. A shape below 1 is that of one
/// more, times a power of a uniform number.
template <int N> struct Gamma {
  using Result = double;
  template <int W> using Numbers = Triple<W>;
  Lanes<N> shape, d, c;
  Mask<N> isValid, isBelowOne;

  Gamma(Lanes<N> given, Lanes<N>) {
    isValid = (given > 0) & (given < 0x1p1000);
    shape = isValid ? given : all<N>(1);
    isBelowOne = shape < 1;
    d = (isBelowOne ? shape + 1 : shape) - 1.0 / 3;
    c = 1 / sqrt<N>(9 * d);
  }

  template <int W> Mask<N> test(const Triple<W> &numbers, int at, Lanes<N> &value) const {
    Lanes<N> x = lanesAt<N>(numbers.x + at), u = lanesAt<N>(numbers.u + at), square = x * x, v = 1 + c * x;
    v = v * v * v;
    Mask<N> isPossible = v > 0, isDone = isPossible & (u < 1 - 0.0331 * square * square);
    if (any<N>(isPossible & ~isDone)) {
      Lanes<N> safe = isPossible ? v : all<N>(1);
      isDone |= isPossible & (log<N>(u, 0) < 0.5 * square + d * (1 - safe + log<N>(safe, 0)));
    }
    value = isValid ? d * v : all<N>(0);
    if (any<N>(isBelowOne)) {
      Lanes<N> power = log<N>(lanesAt<N>(numbers.v + at), 0) / shape;
      Lanes<N> factor = power < -700 ? all<N>(0) : exp<N>(most<N>(power, all<N>(-700)));
      value = isBelowOne ? value * factor : value;
    }
    return isDone | ~isValid;
  }
};

template <typename T, int N> Lanes<N> parameter(const T *from, const int64_t *index) {
  Lanes<N> x;
  for (int lane = 0; lane < N; ++lane)
    x[lane] = from[index[lane]];
  return x;
}
inline void put(int64_t &to, double value) { to = value < 0x1p63 ? static_cast<int64_t>(value) : INT64_MAX; }
inline void put(double &to, double value) { to = value; }

/// Elements that are not accepted are tried again together.
template <template <int> class Distribution, int W> void accepted(const RandomJob &job, int64_t begin, int64_t end) {
  constexpr int N = W < lanes ? W : lanes;
  using D = Distribution<N>;
  auto *as = static_cast<const double *>(job.a), *bs = static_cast<const double *>(job.b);
  auto *to = static_cast<typename D::Result *>(job.data);
  D distribution(all<N>(job.aVaries ? 1 : as[0]), all<N>(job.bVaries ? 1 : bs[0]));
  int64_t open[block + W], chosen[W];
  for (int64_t first = begin; first < end; first += block) {
    int64_t count = end - first < block ? end - first : block;
    for (int64_t i = 0; i < count; ++i)
      open[i] = first + i;
    for (uint64_t attempt = 0; count > 0 && attempt < attempts; ++attempt) {
      int64_t left = 0;
      for (int64_t j = 0; j < count; j += W) {
        for (int64_t lane = 0; lane < W; ++lane)
          chosen[lane] = open[j + lane < count ? j + lane : j];
        Words<W> index;
        __builtin_memcpy(&index, chosen, sizeof index);
        typename D::template Numbers<W> numbers;
        numbers.draw(job.key, index, attempt);
        for (int64_t k = 0; k < W && j + k < count; k += N) {
          if (job.aVaries || job.bVaries)
            distribution = D(job.aVaries ? parameter<double, N>(as, chosen + k) : all<N>(as[0]),
                             job.bVaries ? parameter<double, N>(bs, chosen + k) : all<N>(bs[0]));
          Lanes<N> value;
          Mask<N> isDone = distribution.test(numbers, static_cast<int>(k), value);
          for (int64_t lane = 0; lane < N && j + k + lane < count; ++lane)
            if (isDone[lane])
              put(to[chosen[k + lane]], value[lane]);
            else
              open[left++] = chosen[k + lane];
        }
      }
      count = left;
    }
  }
}

/// k below a range, without a bias: the high word of a product, unless the low one is among the few that one k has more
/// often (D. Lemire: Fast random integer generation in an interval, 2019).
struct Range {
  int64_t low;
  uint64_t size;

  Range(int64_t low, int64_t high)
      : low(low), size(low < high ? static_cast<uint64_t>(high) - static_cast<uint64_t>(low) : 1) {}

  int64_t operator()(const RandomKey &key, int64_t i, uint64_t bits) const {
    using Wide = unsigned __int128;
    Wide product = Wide(bits) * size;
    if (static_cast<uint64_t>(product) < size)
      for (uint64_t attempt = 1, excess = -size % size; static_cast<uint64_t>(product) < excess && attempt < attempts;
           ++attempt) {
        Words<2> c[4];
        philox<2>(key, from<2>(i), c, attempt);
        product = Wide(c[0][0] << 32 | c[1][0]) * size;
      }
    return static_cast<int64_t>(static_cast<uint64_t>(low) + static_cast<uint64_t>(product >> 64));
  }
};

template <int W> void integers(const RandomJob &job, int64_t begin, int64_t end) {
  auto *low = static_cast<const int64_t *>(job.a), *high = static_cast<const int64_t *>(job.b);
  auto *to = static_cast<int64_t *>(job.data);
  const bool isOne = !job.aVaries && !job.bVaries;
  const Range all = isOne ? Range(low[0], high[0]) : Range(0, 1);
  for (int64_t i = begin; i < end; i += W) {
    Words<W> c[4];
    philox<W>(job.key, from<W>(i), c);
    if (isOne && all.size <= low32) { // as Range, in words of 32 bits
      Words<W> lower = c[1] * all.size, upper = c[0] * all.size + (lower >> 32);
      Words<W> rest = upper << 32 | (lower & low32);
      if (__builtin_reduce_min(rest) >= all.size) {
        store<W>(to + i, (upper >> 32) + static_cast<uint64_t>(all.low), end - i);
        continue;
      }
    }
    uint64_t bits[W];
    store<W>(bits, c[0] << 32 | c[1], W);
    for (int64_t k = i; k < i + W && k < end; ++k)
      to[k] = Range(low[job.aVaries ? k : 0], high[job.bVaries ? k : 0])(job.key, k, bits[k - i]);
  }
}

} // namespace

SampleKernels sampleKernels() {
  return {fill<integers<counters>, integers<few>>, fill<accepted<Gamma, counters>, accepted<Gamma, few>>,
          fill<accepted<Poisson, counters>, accepted<Poisson, few>>,
          fill<accepted<Binomial, counters>, accepted<Binomial, few>>};
}

} // namespace toy::rt::TOY_ISA
