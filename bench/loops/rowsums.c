static double run(long n) {
  double *a = malloc(n * n * 8), *x = malloc(n * 8), *y = malloc(n * 8), r = 0;
  for (long i = 0; i < n * n; ++i) a[i] = i * 7919 % 1009 / 1009.0;
  for (long i = 0; i < n; ++i) x[i] = 1;
  for (int t = 0; t < 40; ++t) {
    for (long i = 0; i < n; ++i) {
      double s = 0;
      for (long j = 0; j < n; ++j) s += a[i * n + j] * x[j];
      y[i] = s;
    }
    r = 0;
    for (long i = 0; i < n; ++i) r = fabs(y[i]) > r ? fabs(y[i]) : r;
    for (long i = 0; i < n; ++i) x[i] = y[i] / r;
  }
  free(a); free(x); free(y);
  return r;
}
