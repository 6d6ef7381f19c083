static inline double mx(double a, double b) { return a > b ? a : b; }
static double run(long n) {
  long m = n + 1, *a = malloc(8 * n), *b = malloc(8 * n);
  double *d = calloc(m * m, 8);
  for (long i = 0; i < n; ++i) {
    a[i] = i * 7919 % 4;
    b[i] = i * 104729 % 10007 % 4;
  }
  for (long i = 1; i <= n; ++i)
    d[i * m] = d[i] = -0.7 * (double)i;
  for (long i = 1; i <= n; ++i)
    for (long j = 1; j <= n; ++j) {
      double s = a[i - 1] == b[j - 1] ? 1.0 : -0.4;
      d[i * m + j] = mx(d[(i - 1) * m + j - 1] + s, mx(d[(i - 1) * m + j], d[i * m + j - 1]) - 0.7);
    }
  double r = d[n * m + n];
  free(a);
  free(b);
  free(d);
  return r;
}
