// SPDX-License-Identifier: Apache-2.0
/// \file
/// Fourier transforms along one axis by FFTW, which is opened when the first one runs. Plans are kept; c64 and f32 stay
/// in single precision.
#include "runtime/Library.h"

#include "runtime/Error.h"
#include "runtime/Guard.h"
#include "runtime/Parallel.h"
#include "runtime/SharedLibrary.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <fftw3.h>
#include <map>
#include <mutex>
#include <tuple>

namespace toy::rt {
namespace {

enum class Kind : uint8_t { Forward, Backward, RealForward, RealBackward };

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
      return t;
    }();
    return table;
  }
};

/// `outer` x points x `inner` elements; real transforms have points/2 + 1 complex elements.
struct Shape {
  int64_t outer, points, inner;
};

template <typename R> void transform(Kind kind, Shape s, void *in, void *out) {
  using F = Fftw<R>;
  using C = typename F::Complex;
  const F &f = F::get();
  int64_t half = s.points / 2 + 1, from = kind == Kind::RealBackward ? half : s.points,
          to = kind == Kind::RealForward ? half : s.points;
  static std::mutex mutex; // FFTW plans one at a time
  static std::map<std::tuple<Kind, int64_t, int64_t, int64_t>, typename F::Plan> plans;
  typename F::Plan plan;
  {
    std::lock_guard lock(mutex);
    typename F::Plan &known = plans[{kind, s.outer, s.points, s.inner}];
    if (!known) { // ESTIMATE writes nothing; UNALIGNED because tensors share memory at any element
      fftw_iodim64 axis{s.points, s.inner, s.inner},
          batch[] = {{s.outer, from * s.inner, to * s.inner}, {s.inner, 1, 1}};
      unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED;
      std::optional<Error> fault = guarded([&] { // a fault would leave the lock behind
        if (kind == Kind::RealForward)
          known = f.planReal(1, &axis, 2, batch, static_cast<R *>(in), static_cast<C *>(out), flags);
        else if (kind == Kind::RealBackward)
          known = f.planInverse(1, &axis, 2, batch, static_cast<C *>(in), static_cast<R *>(out), flags);
        else
          known = f.planComplex(1, &axis, 2, batch, static_cast<C *>(in), static_cast<C *>(out),
                                kind == Kind::Forward ? FFTW_FORWARD : FFTW_BACKWARD, flags);
      });
      if (fault)
        throw *fault;
      if (!known)
        fail(DiagId::Internal, {"FFTW has no plan"});
    }
    plan = known;
  }
  if (kind == Kind::RealForward)
    f.executeReal(plan, static_cast<R *>(in), static_cast<C *>(out));
  else if (kind == Kind::RealBackward)
    f.executeInverse(plan, static_cast<C *>(in), static_cast<R *>(out));
  else
    f.executeComplex(plan, static_cast<C *>(in), static_cast<C *>(out));
}

/// The first `points` elements of an axis, zeros after its end; a copy in any case, because real inverse transforms
/// overwrite what they read.
TensorRef resized(const Tensor &x, int64_t axis, int64_t points) {
  std::vector<int64_t> sizes(x.sizes, x.sizes + x.rank);
  int64_t own = sizes[axis], outer = 1, inner = sizeOf(x.dtype);
  sizes[axis] = points;
  for (int64_t i = 0; i < axis; ++i)
    outer *= sizes[i];
  for (int64_t i = axis + 1; i < x.rank; ++i)
    inner *= sizes[i];
  TensorRef out(newTensor(x.dtype, sizes));
  for (int64_t i = 0; i < outer; ++i) {
    char *to = out->as<char>() + i * points * inner;
    int64_t kept = std::min(own, points) * inner;
    std::memcpy(to, x.as<char>() + i * own * inner, kept);
    std::memset(to + kept, 0, points * inner - kept);
  }
  return out;
}

template <Kind kind> std::vector<TensorRef> run(LibraryArguments arguments, LibraryParameters parameters) {
  constexpr const char *names[] = {"fft", "ifft", "rfft", "irfft"};
  int64_t axis = parameters[0], norm = parameters[1], points = *arguments[1]->as<int64_t>();
  if (points < 1)
    fail(DiagId::TransformPointsRun, {names[static_cast<int>(kind)], std::to_string(points)});
  const Tensor *x = arguments[0];
  int64_t wanted = kind == Kind::RealBackward ? points / 2 + 1 : points;
  TensorRef copy;
  if (kind == Kind::RealBackward || x->sizes[axis] != wanted)
    x = &*(copy = resized(*x, axis, wanted));
  std::vector<int64_t> sizes(x->sizes, x->sizes + x->rank);
  sizes[axis] = kind == Kind::RealForward ? points / 2 + 1 : points;
  Shape s{1, points, 1};
  for (int64_t i = 0; i < axis; ++i)
    s.outer *= sizes[i];
  for (int64_t i = axis + 1; i < x->rank; ++i)
    s.inner *= sizes[i];
  DType dtype = kind == Kind::RealForward    ? complexOf(x->dtype)
                : kind == Kind::RealBackward ? realOf(x->dtype)
                                             : x->dtype;
  TensorRef out(newTensor(dtype, sizes));
  if (out->count() == 0)
    return {out};
  bool single = realOf(dtype) == DType::F32;
  (single ? transform<float> : transform<double>)(kind, s, x->data, out->data);
  bool forward = kind == Kind::Forward || kind == Kind::RealForward;
  double scale = norm == 1                ? 1 / std::sqrt(static_cast<double>(points))
                 : (norm == 2) == forward ? 1.0 / static_cast<double>(points)
                                          : 1;
  if (scale != 1) {
    int64_t parts = out->count() * (isComplex(dtype) ? 2 : 1);
    if (single)
      std::for_each_n(out->as<float>(), parts, [factor = static_cast<float>(scale)](float &v) { v *= factor; });
    else
      std::for_each_n(out->as<double>(), parts, [scale](double &v) { v *= scale; });
  }
  poll();
  return {out};
}

double transformWork(LibraryArguments arguments) {
  constexpr double ofAnElement = 64;
  return static_cast<double>(arguments[0]->count()) * ofAnElement;
}

constexpr LibraryRow rows[] = {{"fft", run<Kind::Forward>, transformWork},
                               {"ifft", run<Kind::Backward>, transformWork},
                               {"rfft", run<Kind::RealForward>, transformWork},
                               {"irfft", run<Kind::RealBackward>, transformWork}};

} // namespace

std::span<const LibraryRow> fourierFunctions() { return rows; }

} // namespace toy::rt
