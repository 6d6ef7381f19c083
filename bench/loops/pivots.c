static double run(long n) {
  double *a = malloc(n * n * 8), sign = 1, s = 0;
  for (long i = 0; i < n * n; ++i) a[i] = i * 7919 % 1009 / 1009.0;
  for (long i = 0; i < n; ++i) a[i * n + (i * 7 + 3) % n] += 5;
  for (long k = 0; k < n - 1; ++k) {
    long p = k;
    for (long i = k + 1; i < n; ++i)
      if (fabs(a[i * n + k]) > fabs(a[p * n + k])) p = i;
    if (p != k) {
      for (long j = 0; j < n; ++j) {
        double t = a[k * n + j];
        a[k * n + j] = a[p * n + j];
        a[p * n + j] = t;
      }
      sign = -sign;
    }
    for (long i = k + 1; i < n; ++i) {
      double f = a[i * n + k] /= a[k * n + k];
      for (long j = k + 1; j < n; ++j) a[i * n + j] -= f * a[k * n + j];
    }
  }
  for (long k = 0; k < n; ++k) s += log(fabs(a[k * n + k]));
  free(a);
  return sign * s;
}
