// SPDX-License-Identifier: Apache-2.0
/// \file
/// Fourier transforms along one axis by FFTW, which is opened when the first one runs; c64 and f32 stay in single
/// precision. There is one plan for a row, made for aligned rows (others pass through an aligned buffer): every row is
/// transformed the same way, on whatever thread. Real rows of even length become complex ones of half the length; rows
/// along other axes than the last are transposed some at a time. Complex rows of 2, 4, 8 or 16 points, and real ones of
/// twice as many, are transformed without FFTW, some at a time (runtime/FourierKernels.h); so are rows along other
/// axes, many rows of other lengths than powers of 2, and those with a prime factor that FFTW has no short code for
/// (runtime/FourierLanes.h), and long rows (runtime/FourierLong.cpp).
#include "runtime/Library.h"

#include "runtime/ArrayLoops.h"
#include "runtime/Error.h"
#include "runtime/FourierColumns.h"
#include "runtime/FourierKernels.h"
#include "runtime/Guard.h"
#include "runtime/Parallel.h"
#include "runtime/Scratch.h"
#include "runtime/SharedLibrary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <fftw3.h>
#include <map>
#include <mutex>
#include <numbers>
#include <optional>

namespace toy::rt {
namespace {

/// FFTW's functions in one precision.
template <typename R> struct Fftw {
  static constexpr bool single = std::is_same_v<R, float>;
  using Plan = std::conditional_t<single, fftwf_plan, fftw_plan>;
  using Complex = std::conditional_t<single, fftwf_complex, fftw_complex>;
  using Dimension = fftw_iodim64;
  Plan (*planComplex)(int, const Dimension *, int, const Dimension *, Complex *, Complex *, int, unsigned);
  Plan (*planReal)(int, const Dimension *, int, const Dimension *, R *, Complex *, unsigned);
  Plan (*planInverse)(int, const Dimension *, int, const Dimension *, Complex *, R *, unsigned);
  void (*executeComplex)(Plan, Complex *, Complex *);
  void (*executeReal)(Plan, R *, Complex *);
  void (*executeInverse)(Plan, Complex *, R *);
  int (*alignmentOf)(R *);

  static const Fftw &get() {
    static const Fftw table = [] {
      SharedLibrary library(single ? "libfftw3f.so.3" : "libfftw3.so.3");
      std::string prefix = single ? "fftwf_" : "fftw_";
      Fftw t;
      library.load(t.planComplex, prefix + "plan_guru64_dft");
      library.load(t.planReal, prefix + "plan_guru64_dft_r2c");
      library.load(t.planInverse, prefix + "plan_guru64_dft_c2r");
      library.load(t.executeComplex, prefix + "execute_dft");
      library.load(t.executeReal, prefix + "execute_dft_r2c");
      library.load(t.executeInverse, prefix + "execute_dft_c2r");
      library.load(t.alignmentOf, prefix + "alignment_of");
      return t;
    }();
    return table;
  }
};

template <typename R> const FourierKernels<R> &fourierKernels();
template <> const FourierKernels<float> &fourierKernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(fourierKernelsF32);
  return chosen;
}
template <> const FourierKernels<double> &fourierKernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(fourierKernelsF64);
  return chosen;
}

/// How rows of one length are transformed.
template <typename R> struct RowPlan {
  typename Fftw<R>::Plan plan = nullptr;
  std::vector<C<R>> factors; ///< of real rows of even length
};

/// Whether what is complex of a row is transformed in lanes by itself.
template <typename R> bool isLong(Kind kind, int64_t points) {
  return isLongRow<R>(kind <= Kind::Backward ? points : points % 2 ? 0 : points / 2);
}

bool isHalved(Kind kind, int64_t points) { return kind >= Kind::RealForward && points % 2 == 0; }

/// ESTIMATE: measured plans, and with them the bits, would differ from run to run. It looks at no elements, only at
/// whether rows are aligned and apart.
template <typename R> typename Fftw<R>::Plan makePlan(Kind kind, int64_t points) {
  alignas(64) static C<R> in[8], out[8];
  const auto &f = Fftw<R>::get();
  using Complex = typename Fftw<R>::Complex;
  auto *x = reinterpret_cast<Complex *>(in), *y = reinterpret_cast<Complex *>(out);
  fftw_iodim64 axis{isHalved(kind, points) ? points / 2 : points, 1, 1};
  bool forward = kind == Kind::Forward || kind == Kind::RealForward;
  if (kind <= Kind::Backward || isHalved(kind, points))
    return f.planComplex(1, &axis, 0, nullptr, x, y, forward ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
  if (kind == Kind::RealForward)
    return f.planReal(1, &axis, 0, nullptr, reinterpret_cast<R *>(in), y, FFTW_ESTIMATE);
  return f.planInverse(1, &axis, 0, nullptr, x, reinterpret_cast<R *>(out), FFTW_ESTIMATE);
}

/// Plans are kept.
template <typename R> const RowPlan<R> &planFor(Kind kind, int64_t points) {
  static std::mutex mutex; // FFTW plans one at a time
  static std::map<std::pair<Kind, int64_t>, RowPlan<R>> plans;
  std::lock_guard lock(mutex);
  RowPlan<R> &known = plans[{kind, points}];
  if (known.plan)
    return known;
  if (isHalved(kind, points) && known.factors.empty())
    known.factors = factorsOf<R>(kind, points);
  if (isLong<R>(kind, points)) // FFTW transforms nothing of them
    return known;
  std::optional<Error> fault = guarded([&] { known.plan = makePlan<R>(kind, points); }); // not past the lock
  if (fault)
    throw *fault;
  if (!known.plan)
    fail(DiagId::Internal, {"FFTW has no plan"});
  return known;
}

/// Dense rows one after the other, in buffers of one thread.
template <typename R> class RowTransform {
public:
  /// Rows of `points` of which the first `own` are there, zeros behind them; for RealBackward of points/2 + 1.
  RowTransform(Kind kind, int64_t points, int64_t own, R scale)
      : kind(kind), points(points), half(points / 2), own(own), scale(scale), plan(planFor<R>(kind, points)) {}

  void run(const void *from, void *to) {
    switch (kind) {
    case Kind::RealForward:
      return realForward(static_cast<const R *>(from), static_cast<C<R> *>(to));
    case Kind::RealBackward:
      return realBackward(static_cast<const C<R> *>(from), static_cast<R *>(to));
    default: {
      if (goesInLanes) // to any place: FFTW asks for an aligned one
        return transformLongRow<R>(kind == Kind::Backward, points, readable(static_cast<const C<R> *>(from), points),
                                   static_cast<C<R> *>(to), scale);
      C<R> *target = aligned(static_cast<C<R> *>(to)) ? static_cast<C<R> *>(to) : out();
      execute(readable(static_cast<const C<R> *>(from), points), target);
      finish(target, static_cast<C<R> *>(to), points);
    }
    }
  }

private:
  /// Aligned buffers for a row, made when the first one needs them.
  C<R> *in() { return buffer(inBuffer); }
  C<R> *out() { return buffer(outBuffer); }
  C<R> *buffer(std::optional<Scratch<C<R>>> &kept) { return (kept ? *kept : kept.emplace(points + 2)).data(); }
  template <typename T> bool aligned(T *p) const { return f.alignmentOf(reinterpret_cast<R *>(p)) == 0; }
  /// `wanted` elements with zeros at the end, aligned; FFTW does not write to them.
  template <typename T> T *readable(const T *from, int64_t wanted) {
    auto *found = const_cast<T *>(from);
    return own >= wanted && aligned(found) ? found : copied(from, wanted);
  }
  template <typename T> T *copied(const T *from, int64_t wanted) {
    T *to = reinterpret_cast<T *>(in());
    fill(from, wanted, to);
    return to;
  }
  template <typename T> void fill(const T *from, int64_t wanted, T *to) const {
    std::fill(std::copy_n(from, std::min(own, wanted), to), to + wanted, T(0));
  }
  void execute(C<R> *from, C<R> *to) const {
    if (goesInLanes)
      return transformLongRow<R>(kind == Kind::RealBackward, half, from, to, R(1));
    using Complex = typename Fftw<R>::Complex;
    f.executeComplex(plan.plan, reinterpret_cast<Complex *>(from), reinterpret_cast<Complex *>(to));
  }
  /// The result where it belongs, scaled.
  template <typename T> void finish(T *at, T *to, int64_t count) const {
    if (at != to)
      std::copy_n(at, count, to);
    if (scale != 1)
      kernels.scale(reinterpret_cast<R *>(to), count * static_cast<int64_t>(sizeof(T) / sizeof(R)), scale);
  }

  void realForward(const R *from, C<R> *to) {
    if (points % 2) {
      C<R> *target = aligned(to) ? to : out();
      f.executeReal(plan.plan, readable(from, points), reinterpret_cast<typename Fftw<R>::Complex *>(target));
      return finish(target, to, half + 1);
    }
    C<R> *z = out(); // even elements are real parts, odd ones imaginary parts
    execute(reinterpret_cast<C<R> *>(readable(from, points)), z);
    unfold(z, to);
  }
  void unfold(C<R> *z, C<R> *to) const {
    kernels.fold(reinterpret_cast<R *>(z), reinterpret_cast<const R *>(plan.factors.data()), reinterpret_cast<R *>(to),
                 half, R(0.5), scale);
    to[0] = scale * (z[0].real() + z[0].imag());
    if (half % 2 == 0)
      to[half / 2] = scale * std::conj(z[half / 2]);
    to[half] = scale * (z[0].real() - z[0].imag());
  }
  void realBackward(const C<R> *from, R *to) {
    if (points % 2) {
      R *target = aligned(to) ? to : reinterpret_cast<R *>(out());
      f.executeInverse(plan.plan, reinterpret_cast<typename Fftw<R>::Complex *>(copied(from, half + 1)), target);
      return finish(target, to, points);
    }
    C<R> *z = own > half ? in() : out();
    foldInto(from, z);
    bool direct = aligned(to);
    C<R> *target = direct ? reinterpret_cast<C<R> *>(to) : z == in() ? out() : in();
    execute(z, target);
    if (!direct)
      std::copy_n(reinterpret_cast<R *>(target), points, to);
  }
  void foldInto(const C<R> *x, C<R> *z) {
    if (own <= half)
      x = copied(x, half + 1);
    kernels.fold(reinterpret_cast<const R *>(x), reinterpret_cast<const R *>(plan.factors.data()),
                 reinterpret_cast<R *>(z), half, R(1), scale);
    z[0] = {scale * (x[0].real() + x[half].real()), scale * (x[0].real() - x[half].real())};
    if (half % 2 == 0)
      z[half / 2] = R(2) * scale * std::conj(x[half / 2]);
  }

  const Fftw<R> &f = Fftw<R>::get();
  const FourierKernels<R> &kernels = fourierKernels<R>();
  Kind kind;
  int64_t points, half, own;
  R scale;
  std::optional<Scratch<C<R>>> inBuffer, outBuffer;
  const bool goesInLanes = isLong<R>(kind, points);
  const RowPlan<R> &plan;
};

template <typename R> void transformSome(void *opaque, int64_t begin, int64_t end) {
  const Job &job = *static_cast<Job *>(opaque);
  // The rows that are transposed have no more than is wanted.
  int64_t own = job.inner == 1 ? job.own : std::min(job.own, job.wanted()), width = job.together();
  RowTransform<R> rows(job.kind, job.points, own, static_cast<R>(job.scale));
  if (job.inner == 1) {
    for (int64_t i = begin; i < end; ++i)
      rows.run(job.in + i * job.own * job.inWidth, job.out + i * job.to * job.outWidth);
    return;
  }
  // Rows in buffers begin at cache lines, not at a power of 2 from one another.
  auto padded = [](int64_t n, int width) { return (n * width / 64 + 2) * 64 / width; };
  int64_t inStride = padded(own, job.inWidth), outStride = padded(job.to, job.outWidth);
  Scratch<char> in(width * inStride * job.inWidth), out(width * outStride * job.outWidth);
  for (int64_t step = begin; step < end; ++step) {
    int64_t o = step / job.steps(), first = step % job.steps() * width, some = std::min(width, job.inner - first);
    transpose(job.inWidth, job.in + (o * job.own * job.inner + first) * job.inWidth, job.inner, in.data(), inStride,
              own, some);
    for (int64_t i = 0; i < some; ++i)
      rows.run(in.data() + i * inStride * job.inWidth, out.data() + i * outStride * job.outWidth);
    transpose(job.outWidth, out.data(), outStride, job.out + (o * job.to * job.inner + first) * job.outWidth, job.inner,
              some, job.to);
  }
}

/// Those of short rows, by how often their length can be halved.
template <typename R> const R *shortFactors(Kind kind, int64_t points) {
  static const auto all = [] {
    std::array<std::array<std::vector<C<R>>, 2>, 6> known;
    for (int bits = 2; bits < 6; ++bits)
      known[bits] = {factorsOf<R>(Kind::RealForward, int64_t(1) << bits),
                     factorsOf<R>(Kind::RealBackward, int64_t(1) << bits)};
    return known;
  }();
  return reinterpret_cast<const R *>(all[std::countr_zero(uint64_t(points))][kind == Kind::RealBackward].data());
}

/// Some of the rows of a job whose rows are short.
template <typename R> void transformShort(void *opaque, int64_t begin, int64_t end) {
  const Job &job = *static_cast<Job *>(opaque);
  const FourierKernels<R> &kernels = fourierKernels<R>();
  auto some = [&](int64_t from, int64_t to, const ShortRows &rows) {
    auto *in = reinterpret_cast<const R *>(job.in + from * job.inWidth);
    auto *out = reinterpret_cast<R *>(job.out + to * job.outWidth);
    if (job.isReal())
      kernels.shortRealRows(in, out, rows, shortFactors<R>(job.kind, job.points), static_cast<R>(job.scale));
    else
      kernels.shortRows(in, out, rows, static_cast<R>(job.scale));
  };
  const int64_t own = std::min(job.own, job.wanted());
  if (job.inner == 1)
    return some(begin * job.own, begin * job.to,
                {job.points, own, end - begin, job.own, 1, job.to, 1, job.isBackward()});
  for (int64_t row = begin, count; row < end; row += count) {
    const int64_t block = row / job.inner, first = row % job.inner;
    count = std::min(end - row, job.inner - first);
    some(block * job.own * job.inner + first, block * job.to * job.inner + first,
         {job.points, own, count, 1, job.inner, 1, job.inner, job.isBackward()});
  }
}

double scaleOf(int64_t norm, Kind kind, int64_t points) {
  bool forward = kind == Kind::Forward || kind == Kind::RealForward;
  return norm == 1                ? 1 / std::sqrt(static_cast<double>(points))
         : (norm == 2) == forward ? 1.0 / static_cast<double>(points)
                                  : 1;
}

/// Of `x` along an axis into `out`, which has as many elements along the others.
Job jobOf(Kind kind, int64_t points, int64_t axis, int64_t norm, const Tensor &x, Tensor &out) {
  AxisView view(out, axis);
  return {kind,
          points,
          view.outer,
          view.inner,
          x.sizes[axis],
          out.sizes[axis],
          scaleOf(norm, kind, points),
          x.as<char>(),
          out.as<char>(),
          static_cast<int>(sizeOf(x.dtype)),
          static_cast<int>(sizeOf(out.dtype))};
}

bool isShort(const Job &job) { return job.isReal() ? isShortRealRow(job.points) : isShortRow(job.points); }

template <typename R> void perform(Job job) {
  constexpr int64_t grain = 1 << 15;
  if (isShort(job))
    parallelFor(job.outer * job.inner, grain / job.points, transformShort<R>, &job);
  else if (goesInLanes<R>(job))
    parallelFor(job.groups<R>(), std::max<int64_t>(1, grain / job.points / laneRows<float>), transformInLanes<R>, &job);
  else
    parallelFor(job.outer * job.steps(), std::max<int64_t>(1, grain / job.points / job.together()), transformSome<R>,
                &job);
  poll();
}
void perform(const Job &job, DType dtype) { realOf(dtype) == DType::F32 ? perform<float>(job) : perform<double>(job); }

template <Kind kind> std::vector<TensorRef> run(LibraryArguments arguments, LibraryParameters parameters) {
  constexpr const char *names[] = {"fft", "ifft", "rfft", "irfft"};
  int64_t axis = parameters[0], norm = parameters[1], points = *arguments[1]->as<int64_t>();
  if (points < 1)
    fail(DiagId::TransformPointsRun, {names[static_cast<int>(kind)], std::to_string(points)});
  const Tensor *x = arguments[0];
  std::vector<int64_t> sizes(x->sizes, x->sizes + x->rank);
  sizes[axis] = kind == Kind::RealForward ? points / 2 + 1 : points;
  DType dtype = kind == Kind::RealForward    ? complexOf(x->dtype)
                : kind == Kind::RealBackward ? realOf(x->dtype)
                                             : x->dtype;
  TensorRef out(newTensor(dtype, sizes));
  if (out->count() == 0)
    return {out};
  perform(jobOf(kind, points, axis, norm, *x, *out), dtype);
  return {out};
}

/// Rows along other axes than the last one are in a buffer, or in registers, before one of their elements is written.
/// Short ones are not: they pass vector by vector.
template <Kind kind> bool runOverFirst(LibraryArguments arguments, LibraryParameters parameters) {
  auto &x = const_cast<Tensor &>(*arguments[0]);
  const int64_t axis = parameters[0], points = *arguments[1]->as<int64_t>();
  if (points != x.sizes[axis] || x.count() == 0)
    return false;
  const Job job = jobOf(kind, points, axis, parameters[1], x, x);
  if (job.inner == 1 || isShort(job))
    return false;
  perform(job, x.dtype);
  return true;
}

double transformWork(LibraryArguments arguments) {
  constexpr double ofAnElement = 64;
  return static_cast<double>(arguments[0]->count()) * ofAnElement;
}

constexpr LibraryRow rows[] = {{"fft", run<Kind::Forward>, transformWork, nullptr, runOverFirst<Kind::Forward>},
                               {"ifft", run<Kind::Backward>, transformWork, nullptr, runOverFirst<Kind::Backward>},
                               {"rfft", run<Kind::RealForward>, transformWork},
                               {"irfft", run<Kind::RealBackward>, transformWork}};

} // namespace

std::span<const LibraryRow> fourierFunctions() { return rows; }

} // namespace toy::rt
