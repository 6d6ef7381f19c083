static double run(long n) {
  double *a = malloc(n * n * 8), s = 0;
  for (long i = 0; i < n * n; ++i) a[i] = i * 7919 % 1009 / 1009.0;
  for (long i = 0; i < n; ++i) a[i * n + i] += 3;
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < i; ++j) {
      double f = 0;
      for (long k = 0; k < n; ++k) f += a[i * n + k] * a[j * n + k];
      for (long k = 0; k < n; ++k) a[i * n + k] -= f * a[j * n + k];
    }
    double l = 0;
    for (long k = 0; k < n; ++k) l += a[i * n + k] * a[i * n + k];
    l = sqrt(l);
    s += l;
    for (long k = 0; k < n; ++k) a[i * n + k] /= l;
  }
  free(a);
  return s;
}
