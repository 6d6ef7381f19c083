typedef struct { double c, s; } Pair;
static Pair rotation(double a, double b) {
  if (b == 0.0) return (Pair){1.0, 0.0};
  double r = sqrt(a * a + b * b);
  return (Pair){a / r, b / r};
}
static double run(long n) {
  long m = 2 * n;
  double *a = malloc(m * n * 8), *y = malloc(m * 8), *x = malloc(n * 8);
  for (long i = 0; i < m; ++i) { for (long j = 0; j < n; ++j) a[i * n + j] = (double)((i * 37 + j * 101 + i * j) % 23) / 23.0; y[i] = i % 11; }
  for (long j = 0; j < n; ++j)
    for (long i = m - 1; i > j; --i) {
      Pair p = rotation(a[(i - 1) * n + j], a[i * n + j]);
      for (long k = j; k < n; ++k) {
        double t = a[(i - 1) * n + k];
        a[(i - 1) * n + k] = p.c * t + p.s * a[i * n + k];
        a[i * n + k] = p.c * a[i * n + k] - p.s * t;
      }
      double t = y[i - 1];
      y[i - 1] = p.c * t + p.s * y[i];
      y[i] = p.c * y[i] - p.s * t;
    }
  for (long i = n - 1; i >= 0; --i) {
    double t = y[i];
    for (long j = i + 1; j < n; ++j) t -= a[i * n + j] * x[j];
    x[i] = t / (a[i * n + i] + 1e-9);
  }
  double s = 0;
  for (long i = 0; i < n; ++i) s += a[i * n + i] * a[i * n + i] + 0.001 * fmin(fmax(x[i], -1.0), 1.0);
  free(a); free(y); free(x);
  return s;
}
