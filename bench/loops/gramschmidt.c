static __attribute__((noinline)) void ortho(double *a, long m, long n) {
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < i; ++j) {
      double s = 0;
      for (long k = 0; k < n; ++k)
        s += a[i * n + k] * a[j * n + k];
      for (long k = 0; k < n; ++k)
        a[i * n + k] -= s * a[j * n + k];
    }
    double s = 0;
    for (long k = 0; k < n; ++k)
      s += a[i * n + k] * a[i * n + k];
    s = sqrt(s);
    for (long k = 0; k < n; ++k)
      a[i * n + k] /= s;
  }
}
static double run(long n) {
  double *a = malloc(8 * n * n);
  for (long i = 0; i < n * n; ++i)
    a[i] = (double)(i * 7919 % 1009) / 1009.0;
  for (long i = 0; i < n; ++i)
    a[i * n + i] += 3.0;
  ortho(a, n, n);
  double r = a[(n - 1) * n] + a[n / 2 * n + 1];
  free(a);
  return r;
}
