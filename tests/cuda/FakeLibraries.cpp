// SPDX-License-Identifier: Apache-2.0
/// \file
/// cuBLAS and cuFFT of the fake driver, by definition.
#include "Fake.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

namespace fakecuda {

/// As the units for TF32 read it: 11 digits.
static float tf32(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  if ((bits & 0x7f800000) != 0x7f800000)
    bits = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
  std::memcpy(&x, &bits, 4);
  return x;
}

struct BFloat16 {
  uint16_t bits;
  BFloat16() = default;
  BFloat16(float x) { // to the nearest, of two to the even one
    auto wide = std::bit_cast<uint32_t>(x);
    bits = static_cast<uint16_t>(x != x ? 0x7fff : (wide + 0x7fff + (wide >> 16 & 1)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};

/// Parts by the definition: the library does not look for infinities among NaN.
template <typename T> static T times(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Sums are of type T, whatever the factors and the result are.
template <typename T, typename In = T, typename Out = T>
static void product(Fake &f, const Product &p, T alpha, T beta) {
  auto get = [&](const In *data, int ld, int op, int row, int column) {
    T x = op == blasPlain ? data[int64_t(column) * ld + row] : data[int64_t(row) * ld + column];
    if (p.compute == computeF32FastTf32) {
      if constexpr (std::is_same_v<T, float>)
        x = tf32(x);
      else if constexpr (std::is_same_v<T, std::complex<float>>)
        x = {tf32(x.real()), tf32(x.imag())};
    }
    if constexpr (!std::is_floating_point_v<T>)
      return op == blasConjugated ? std::conj(x) : x;
    return x;
  };
  auto countOf = [&](int rows, int columns, int ld, long long stride) {
    return (uint64_t(columns - 1) * ld + rows + stride * (p.batch - 1));
  };
  bool plainA = p.opA == blasPlain, plainB = p.opB == blasPlain;
  auto *a = reinterpret_cast<const In *>(
      f.range(p.a, countOf(plainA ? p.m : p.k, plainA ? p.k : p.m, p.ldA, p.strideA) * sizeof(In), false));
  auto *b = reinterpret_cast<const In *>(
      f.range(p.b, countOf(plainB ? p.k : p.n, plainB ? p.n : p.k, p.ldB, p.strideB) * sizeof(In), false));
  auto *c = reinterpret_cast<Out *>(f.range(p.c, countOf(p.m, p.n, p.ldC, p.strideC) * sizeof(Out), true));
  if (p.workspace)
    f.range(p.workspace, 256, true); // two products at once would share it
  for (int batch = 0; batch < p.batch; ++batch)
    for (int j = 0; j < p.n; ++j)
      for (int i = 0; i < p.m; ++i) {
        T sum = 0;
        for (int k = p.k; k-- > 0;) // a library has an order of its own, too
          sum += times(get(a + batch * p.strideA, p.ldA, p.opA, i, k), get(b + batch * p.strideB, p.ldB, p.opB, k, j));
        Out &out = c[batch * p.strideC + int64_t(j) * p.ldC + i];
        out = static_cast<Out>(beta == T(0) ? times(alpha, sum) : times(alpha, sum) + times(beta, static_cast<T>(out)));
      }
}

/// A sum of elements times powers of a root of 1, in more digits than results have. What is below the rounding of the
/// elements' sizes is none of it: sums that cancel are 0, as those of the host's library are.
static std::complex<double> sumOf(const std::vector<std::complex<double>> &x,
                                  const std::vector<std::complex<long double>> &powers, int64_t step) {
  long double re = 0, im = 0, size = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const std::complex<long double> &w = powers[i * step % x.size()];
    re += x[i].real() * w.real() - x[i].imag() * w.imag();
    im += x[i].real() * w.imag() + x[i].imag() * w.real();
    size += std::abs(x[i].real()) + std::abs(x[i].imag());
  }
  const long double least = size * 0x1p-58L;
  auto rounded = [&](long double part) {
    return static_cast<double>(std::isnormal(least) ? std::nearbyint(part / least) * least + 0.0L : part);
  };
  return {rounded(re), rounded(im)};
}

/// Every sum of the definition.
void Fake::transform(const FftPlan &p) {
  if (idle)
    return;
  auto isComplex = [](int type) { return type == blasC64 || type == blasC128; };
  auto isSingle = [](int type) { return type == blasF32 || type == blasC64; };
  int64_t inBytes = (isSingle(p.inType) ? 4 : 8) * (isComplex(p.inType) ? 2 : 1),
          outBytes = (isSingle(p.outType) ? 4 : 8) * (isComplex(p.outType) ? 2 : 1);
  bool inverseReal = !isComplex(p.outType);
  if (!fftPlans.at(p.plan).first.isLive)
    complain("cuFFT: a plan is destroyed before it has run");
  if (!p.area)
    complain("cuFFT: no work area");
  else if (p.areaBytes)
    std::memset(range(p.area, p.areaBytes, true), 0xa5, p.areaBytes); // two transforms at once would share it
  char *in = range(p.in, ((p.from - 1) * p.inStride + (p.batch - 1) * p.inDistance + 1) * inBytes,
                   inverseReal); // which destroys its input
  char *out = range(p.out, ((p.to - 1) * p.outStride + (p.batch - 1) * p.outDistance + 1) * outBytes, true);
  auto read = [&](int64_t at) -> std::complex<double> {
    auto real = [&](int64_t i) {
      return isSingle(p.inType) ? reinterpret_cast<float *>(in)[i] : reinterpret_cast<double *>(in)[i];
    };
    return isComplex(p.inType) ? std::complex<double>(real(2 * at), real(2 * at + 1)) : std::complex<double>(real(at));
  };
  auto write = [&](int64_t at, std::complex<double> z) {
    auto real = [&](int64_t i, double v) {
      isSingle(p.outType) ? void(reinterpret_cast<float *>(out)[i] = float(v))
                          : void(reinterpret_cast<double *>(out)[i] = v);
    };
    if (isComplex(p.outType)) {
      real(2 * at, z.real());
      real(2 * at + 1, z.imag());
    } else
      real(at, z.real());
  };
  for (int64_t b = 0; b < p.batch; ++b) {
    std::vector<std::complex<double>> x(p.n), y;
    std::vector<std::complex<long double>> powers(p.n);
    for (int64_t i = 0; i < p.n; ++i) {
      powers[i] = std::polar(1.0L, p.direction * 2 * std::numbers::pi_v<long double> * i / p.n);
      x[i] = i < p.from ? read(b * p.inDistance + i * p.inStride)
                        : std::conj(read(b * p.inDistance + (p.n - i) * p.inStride));
    }
    if (inverseReal) {
      x[0] = x[0].real();
      if (p.n % 2 == 0)
        x[p.n / 2] = x[p.n / 2].real();
    }
    for (int64_t k = 0; k < p.to; ++k)
      y.push_back(sumOf(x, powers, k));
    for (int64_t k = 0; k < p.to; ++k)
      write(b * p.outDistance + k * p.outStride, y[k]);
    if (inverseReal)
      for (int64_t i = 0; i < p.from; ++i)
        std::memset(in + (b * p.inDistance + i * p.inStride) * inBytes, 0xff, inBytes);
  }
}

void Fake::multiply(const Product &p) {
  if (idle)
    return;
  if (p.transform.n)
    return transform(p.transform);
  auto alpha = static_cast<float>(p.alpha.real()), beta = static_cast<float>(p.beta.real());
  switch (p.type) {
  case blasBF16:
    return p.typeC == blasBF16 ? product<float, BFloat16, BFloat16>(*this, p, alpha, beta)
                               : product<float, BFloat16>(*this, p, alpha, beta);
  case blasF16:
    return p.typeC == blasF16 ? product<float, _Float16, _Float16>(*this, p, alpha, beta)
                              : product<float, _Float16>(*this, p, alpha, beta);
  case blasF32:
    return product<float>(*this, p, alpha, beta);
  case blasF64:
    return product<double>(*this, p, p.alpha.real(), p.beta.real());
  case blasC64:
    return product<std::complex<float>>(*this, p, std::complex<float>(p.alpha), std::complex<float>(p.beta));
  default:
    return product<std::complex<double>>(*this, p, p.alpha, p.beta);
  }
}

} // namespace fakecuda

using namespace fakecuda;

extern "C" {

int cublasCreate_v2(BlasHandle *handle) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  if (f.enter("cublasCreate") != success)
    return 3;
  *handle = reinterpret_cast<BlasHandle>(new FakeBlas);
  return 0;
}
int cublasDestroy_v2(BlasHandle handle) {
  delete reinterpret_cast<FakeBlas *>(handle);
  return 0;
}
int cublasSetStream_v2(BlasHandle handle, Stream stream) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  if (f.enter("cublasSetStream") != success)
    return 7;
  auto *h = reinterpret_cast<FakeBlas *>(handle);
  h->stream = streamOf(stream);
  h->workspace = 0; // as the real one: the workspace belongs to the stream
  return 0;
}
int cublasSetWorkspace_v2(BlasHandle handle, void *workspace, size_t) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  if (f.enter("cublasSetWorkspace") != success)
    return 7;
  reinterpret_cast<FakeBlas *>(handle)->workspace = reinterpret_cast<uint64_t>(workspace);
  return 0;
}
int cublasGemmStridedBatchedEx(BlasHandle handle, int opA, int opB, int m, int n, int k, const void *alpha,
                               const void *a, int type, int ldA, long long strideA, const void *b, int typeB, int ldB,
                               long long strideB, const void *beta, void *c, int typeC, int ldC, long long strideC,
                               int batch, int compute, int) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  if (f.enter("cublasGemmStridedBatchedEx") != success)
    return 13;
  auto *h = reinterpret_cast<FakeBlas *>(handle);
  auto scalar = [&](const void *p) -> std::complex<double> {
    switch (typeC) { // of halves the sums are f32
    case blasF16:
    case blasBF16:
    case blasF32:
      return *static_cast<const float *>(p);
    case blasF64:
      return *static_cast<const double *>(p);
    case blasC64:
      return *static_cast<const std::complex<float> *>(p);
    default:
      return *static_cast<const std::complex<double> *>(p);
    }
  };
  int rowsA = opA == blasPlain ? m : k, rowsB = opB == blasPlain ? k : n;
  if (m <= 0 || n <= 0 || k <= 0 || ldA < rowsA || ldB < rowsB || ldC < m || batch < 1 ||
      (opA == blasConjugated && type != blasC64 && type != blasC128) || opA > 2 || opB > 2 || typeB != type ||
      (typeC != type && !(typeC == blasF32 && (type == blasF16 || type == blasBF16))) ||
      ((type == blasF16 || type == blasBF16) && compute != computeF32)) {
    f.complain("cuBLAS: a bad argument");
    return 7;
  }
  if (!h->workspace)
    f.complain("cuBLAS: no workspace of its own");
  Product p{{},
            compute,
            opA,
            opB,
            m,
            n,
            k,
            type,
            typeC,
            ldA,
            ldB,
            ldC,
            batch,
            strideA,
            strideB,
            strideC,
            reinterpret_cast<uint64_t>(a),
            reinterpret_cast<uint64_t>(b),
            reinterpret_cast<uint64_t>(c),
            h->workspace,
            scalar(alpha),
            scalar(beta)};
  ++f.counts["products"];
  if (h->stream->capturing) {
    auto node = std::make_unique<FakeNode>();
    node->products.push_back(p);
    h->stream->capturing->nodes.push_back(std::move(node));
    return 0;
  }
  f.add(*h->stream, "a product", [&f, p](Operation &operation) {
    operation.cost = 2;
    f.multiply(p);
  });
  return 0;
}

int cufftCreate(int *plan) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  if (f.enter("cufftCreate") != success)
    return 2;
  f.fftPlans.push_back({});
  *plan = static_cast<int>(f.fftPlans.size()) - 1;
  return 0;
}
int cufftDestroy(int plan) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  if (!std::exchange(f.fftPlans.at(plan).first.isLive, false))
    f.complain("cuFFT: a plan is destroyed twice");
  ++f.counts["plans destroyed"];
  return 0;
}
int cufftSetAutoAllocation(int plan, int isOn) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  if (f.enter("cufftSetAutoAllocation") != success)
    return 5;
  f.fftPlans.at(plan).first.allocates = isOn != 0;
  return 0;
}
int cufftSetWorkArea(int plan, void *area) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  if (f.enter("cufftSetWorkArea") != success)
    return 5;
  f.fftPlans.at(plan).first.area = reinterpret_cast<uint64_t>(area);
  return 0;
}
int cufftSetStream(int plan, Stream stream) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  if (f.enter("cufftSetStream") != success)
    return 5;
  f.fftPlans.at(plan).second = streamOf(stream);
  return 0;
}
int cufftXtMakePlanMany(int plan, int rank, long long *n, long long *inEmbed, long long inStride, long long inDistance,
                        int inType, long long *outEmbed, long long outStride, long long outDistance, int outType,
                        long long batch, size_t *workBytes, int computeType) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  if (f.enter("cufftXtMakePlanMany") != success)
    return 2;
  for (auto &[id, stream] : f.streams)
    if (stream->capturing)
      f.complain("cuFFT: a plan is made while a stream is captured");
  if (inStride != 1 || outStride != 1)
    f.complain("cuFFT: elements that are apart, which have other last bits than neighbours");
  if (rank != 1 || *n < 1 || *inEmbed < 1 || *outEmbed < 1 || batch < 1 ||
      (computeType != blasC64 && computeType != blasC128))
    return 4;
  FftPlan &made = f.fftPlans.at(plan).first;
  if (made.n || made.allocates)
    f.complain(made.n ? "cuFFT: a plan is made twice" : "cuFFT: a plan allocates a work area");
  made = {*n, *inEmbed, *outEmbed, inStride, inDistance, outStride, outDistance, batch, inType, outType};
  made.plan = plan;
  made.areaBytes = *workBytes = static_cast<size_t>(*n) * batch * (computeType == blasC64 ? 8 : 16);
  return 0;
}
int cufftXtExec(int plan, void *in, void *out, int direction) {
  Fake &f = fake();
  std::lock_guard lock(f.mutex);
  if (f.enter("cufftXtExec") != success)
    return 6;
  auto &[description, stream] = f.fftPlans.at(plan);
  Product p{};
  p.transform = description;
  p.transform.direction = direction;
  p.transform.in = reinterpret_cast<uint64_t>(in);
  p.transform.out = reinterpret_cast<uint64_t>(out);
  bool single = description.inType == blasF32 || description.inType == blasC64;
  if ((p.transform.in | p.transform.out) % (single ? 8 : 16) != 0) { // real elements, too
    f.complain("cuFFT: elements that are not aligned");
    return 4;
  }
  ++f.counts["transforms"];
  if (stream->capturing) {
    auto node = std::make_unique<FakeNode>();
    node->products.push_back(p);
    stream->capturing->nodes.push_back(std::move(node));
    return 0;
  }
  f.add(*stream, "a transform", [&f, p](Operation &operation) {
    operation.cost = 2;
    f.multiply(p);
  });
  return 0;
}
}
