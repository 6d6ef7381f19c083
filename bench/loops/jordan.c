static double run(long n) {
  double *a = malloc(n * n * 8), *b = calloc(n * n, 8);
  for (long i = 0; i < n * n; ++i) a[i] = i * 7919 % 1009 / 1009.0;
  for (long i = 0; i < n; ++i) a[i * n + i] += n, b[i * n + i] = 1;
  for (long k = 0; k < n; ++k) {
    double p = a[k * n + k];
    for (long j = 0; j < n; ++j) a[k * n + j] /= p;
    for (long j = 0; j < n; ++j) b[k * n + j] /= p;
    for (long i = 0; i < n; ++i)
      if (i != k) {
        double f = a[i * n + k];
        for (long j = 0; j < n; ++j) a[i * n + j] -= f * a[k * n + j];
        for (long j = 0; j < n; ++j) b[i * n + j] -= f * b[k * n + j];
      }
  }
  double r = b[0] + b[n / 2 * n + n / 3] + b[n * n - 1];
  free(a), free(b);
  return r;
}
