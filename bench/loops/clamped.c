static long inside(long i, long n) {
  i = i < 0 ? 0 : i;
  return i > n - 1 ? n - 1 : i;
}
static double run(long n) {
  double *x = malloc(n * n * 8), *y = malloc(n * n * 8);
  for (long i = 0; i < n * n; ++i) x[i] = i * 31 % 255;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      double s = 0;
      for (long d = -2; d < 3; ++d)
        for (long e = -2; e < 3; ++e) s += x[inside(i + d, n) * n + inside(j + e, n)];
      y[i * n + j] = s / 25.0;
    }
  double r = y[0] + y[n / 2 * n + n / 3] + y[n * n - 1];
  free(x), free(y);
  return r;
}
