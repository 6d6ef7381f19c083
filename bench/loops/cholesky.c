static double run(long n) {
  double *a = malloc(n * n * 8), t = 0;
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < n; ++j)
      a[i * n + j] = 1.0 / (double)(i + j + 1);
    a[i * n + i] += 2.0;
  }
  for (long j = 0; j < n; ++j)
    for (long i = j; i < n; ++i) {
      double s = a[i * n + j];
      for (long k = 0; k < j; ++k)
        s -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? sqrt(s) : s / a[j * n + j];
    }
  for (long i = 0; i < n; ++i)
    t += a[i * n + i];
  free(a);
  return t;
}
