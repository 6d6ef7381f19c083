/* SPDX-License-Identifier: Apache-2.0 */
/* A library of extern functions. Build: cc -shared -fPIC -I../../runtime -o libmine.so mine.c */
#include "toy_extern.h"

#include <complex.h>
#include <stdio.h>

/* scale(x: c128[N], factor: f64) -> c128[N] */
int32_t mine_scale(const toy_call *call) {
  const toy_tensor *x = &call->arguments[0];
  const double complex *in = x->data;
  double complex *out = call->results[0].data;
  double factor = *(const double *)call->arguments[1].data;
  for (int64_t i = 0; i < x->sizes[0]; ++i)
    out[i] = factor * in[i];
  return 0;
}

/* parts(z: c64[N, M]) -> (f32[M, N], i64): the transposed real parts, and how many imaginary parts are not 0 */
int32_t parts(const toy_call *call) {
  const toy_tensor *z = &call->arguments[0];
  const float complex *in = z->data;
  float *re = call->results[0].data;
  int64_t n = z->sizes[0], m = z->sizes[1], count = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j) {
      re[j * n + i] = crealf(in[i * m + j]);
      count += cimagf(in[i * m + j]) != 0;
    }
  *(int64_t *)call->results[1].data = count;
  return 0;
}

/* positive(x: f64[N]) -> f64[N]: fails for a negative element */
int32_t positive(const toy_call *call) {
  const double *in = call->arguments[0].data;
  double *out = call->results[0].data;
  for (int64_t i = 0; i < call->arguments[0].sizes[0]; ++i) {
    if (in[i] < 0) {
      snprintf(call->message, call->message_size, "element %lld is negative", (long long)i);
      return 1;
    }
    out[i] = in[i];
  }
  return 0;
}

/* Wrong on purpose, for --check-bounds: one element too many, and a write into the argument. */
int32_t too_long(const toy_call *call) {
  double *out = call->results[0].data;
  for (int64_t i = 0; i <= call->results[0].sizes[0]; ++i)
    out[i] = 1;
  return 0;
}
int32_t into_argument(const toy_call *call) {
  *(double *)call->arguments[0].data = 7;
  *(double *)call->results[0].data = 0;
  return 0;
}
