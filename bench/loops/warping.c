static inline double mn(double a, double b) { return a < b ? a : b; }
static double run(long n) {
  double *a = malloc(8 * n), *b = malloc(8 * n), *d = malloc(8 * (n + 1) * (n + 1));
  long m = n + 1;
  for (long i = 0; i < n; ++i) {
    a[i] = (double)(i * 37 % 101);
    b[i] = (double)(i * 53 % 97);
  }
  for (long i = 0; i < m * m; ++i)
    d[i] = 1e300;
  d[0] = 0;
  for (long i = 1; i <= n; ++i)
    for (long j = 1; j <= n; ++j)
      d[i * m + j] = fabs(a[i - 1] - b[j - 1]) + mn(mn(d[(i - 1) * m + j], d[i * m + j - 1]), d[(i - 1) * m + j - 1]);
  double r = d[n * m + n];
  free(a);
  free(b);
  free(d);
  return r;
}
