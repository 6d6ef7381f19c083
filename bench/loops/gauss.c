static double run(long n) {
  double *a = malloc(n * n * 8), *b = malloc(n * 8);
  for (long i = 0; i < n * n; ++i)
    a[i] = (double)(i * 7919 % 1009) / 1009.0;
  for (long i = 0; i < n; ++i) {
    a[i * n + i] += n;
    b[i] = 1;
  }
  for (long k = 0; k < n; ++k)
    for (long i = k + 1; i < n; ++i) {
      double f = a[i * n + k] / a[k * n + k];
      for (long j = k; j < n; ++j)
        a[i * n + j] -= f * a[k * n + j];
      b[i] -= f * b[k];
    }
  for (long i = n - 1; i >= 0; --i) {
    double s = b[i];
    for (long j = i + 1; j < n; ++j)
      s -= a[i * n + j] * b[j];
    b[i] = s / a[i * n + i];
  }
  double r = b[0] + b[n - 1];
  free(a);
  free(b);
  return r;
}
