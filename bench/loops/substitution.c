static __attribute__((noinline)) void solve(const double *a, const double *b, double *x, long n) {
  for (long i = 0; i < n; ++i) {
    double s = 0;
    for (long k = 0; k < i; ++k)
      s += a[i * n + k] * x[k];
    x[i] = (b[i] - s) / a[i * n + i];
  }
}
static double run(long n) {
  double *a = malloc(8 * n * n), *b = malloc(8 * n), *x = calloc(n, 8);
  for (long i = 0; i < n * n; ++i)
    a[i] = (double)(i * 7919 % 1009) / 1009.0;
  for (long i = 0; i < n; ++i) {
    a[i * n + i] += (double)n;
    b[i] = i;
  }
  solve(a, b, x, n);
  double r = x[n - 1] + x[n / 2];
  free(a);
  free(b);
  free(x);
  return r;
}
