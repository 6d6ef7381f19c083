static __attribute__((noinline)) double steps(double *x, double *v, const double *m, long n, long D, long turns) {
  double a[16], d[16];
  for (long t = 0; t < turns; ++t) {
    for (long i = 0; i < n; ++i) {
      for (long k = 0; k < D; ++k)
        a[k] = 0;
      for (long j = 0; j < n; ++j)
        if (i != j) {
          double r = 0;
          for (long k = 0; k < D; ++k) {
            d[k] = x[j * D + k] - x[i * D + k];
            r += d[k] * d[k];
          }
          r += 0.01;
          double f = m[j] / (r * sqrt(r));
          for (long k = 0; k < D; ++k)
            a[k] += d[k] * f;
        }
      for (long k = 0; k < D; ++k)
        v[i * D + k] += 0.001 * a[k];
    }
    for (long k = 0; k < n * D; ++k)
      x[k] += 0.001 * v[k];
  }
  return x[0] + v[(n - 1) * D + 1];
}
static double run(long n) {
  long D = 2 + n % 3;
  double x[100], v[100], m[20];
  for (long i = 0; i < 20 * D; ++i) {
    x[i] = (double)(i * 37 % 101) / 16.0;
    v[i] = 0;
  }
  for (long i = 0; i < 20; ++i)
    m[i] = i + 1;
  return steps(x, v, m, 20, D, n);
}
