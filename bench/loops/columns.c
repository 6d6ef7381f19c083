static double run(long n) {
  double *a = malloc(n * n * 8);
  for (long i = 0; i < n * n; ++i) a[i] = i * 7919 % 1009 / 1009.0;
  for (long i = 0; i < n; ++i) a[i * n + i] += 2;
  for (long j = 0; j < n; ++j) {
    for (long k = 0; k < j; ++k) {
      double r = 0;
      for (long i = 0; i < n; ++i) r += a[i * n + k] * a[i * n + j];
      for (long i = 0; i < n; ++i) a[i * n + j] -= r * a[i * n + k];
    }
    double s = 0;
    for (long i = 0; i < n; ++i) s += a[i * n + j] * a[i * n + j];
    s = sqrt(s);
    for (long i = 0; i < n; ++i) a[i * n + j] /= s;
  }
  double r = a[0] + a[n / 2 * n + n / 3] + a[n * n - 1];
  free(a);
  return r;
}
