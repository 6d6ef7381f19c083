static __attribute__((noinline)) double nearest(const double *x, const double *q, long n, long d, long *at) {
  double best = INFINITY;
  for (long i = 0; i < n; ++i) {
    double s = 0;
    for (long k = 0; k < d; ++k) {
      double e = x[i * d + k] - q[k];
      s += e * e;
    }
    if (s < best) {
      best = s;
      *at = i;
    }
  }
  return best;
}
static double run(long n) {
  long d = 5 + n % 6;
  double *x = malloc(8 * n * d), s = 0, q[16];
  for (long i = 0; i < n * d; ++i)
    x[i] = (double)(i * 7919 % 1009) / 1009.0;
  for (long j = 0; j < 20; ++j) {
    long at = 0;
    for (long k = 0; k < d; ++k)
      q[k] = x[j * 7 * d + k] + 0.01 * (double)k;
    double b = nearest(x, q, n, d, &at);
    s += b + (double)at;
  }
  free(x);
  return s;
}
