static void product(long n, const double *a, const double *b, double *restrict c) {
  for (long i = 0; i < n * n; ++i) c[i] = 0;
  for (long i = 0; i < n; ++i)
    for (long k = 0; k < n; ++k)
      for (long j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
}
static double run(long n) {
  double *a = malloc(n * n * 8), *b = malloc(n * n * 8), *c = malloc(n * n * 8), s = 0;
  for (long i = 0; i < n * n; ++i) a[i] = i * 0.001;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) b[i * n + j] = a[j * n + i];
  product(n, a, b, c);
  for (long i = 0; i < n * n; ++i) s += c[i];
  free(a), free(b), free(c);
  return s;
}
