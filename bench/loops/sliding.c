static __attribute__((noinline)) void conv(const double *x, long h, long w, const double *k, long p, long q,
                                           double *y) {
  for (long i = 0; i < h - p + 1; ++i)
    for (long j = 0; j < w - q + 1; ++j) {
      double s = 0;
      for (long a = 0; a < p; ++a)
        for (long b = 0; b < q; ++b)
          s += x[(i + a) * w + j + b] * k[a * q + b];
      y[i * (w - q + 1) + j] = s;
    }
}
static double run(long n) {
  double *x = malloc(8 * n * n), k[9], *y = malloc(8 * n * n);
  for (long i = 0; i < n * n; ++i)
    x[i] = i * 31 % 255;
  for (long i = 0; i < 9; ++i)
    k[i] = (double)(i * 7 % 5) / 9.0;
  conv(x, n, n, k, 3, 3, y);
  double r = y[0] + y[n / 2 * (n - 2) + n / 2];
  free(x);
  free(y);
  return r;
}
