static void pull(double *restrict a, const double *x, const double *k, long n) {
  double s = 0;
  for (long i = 0; i < n; ++i)
    s += x[i];
  for (long i = 0; i < n; ++i)
    a[i] = -k[i] * x[i] - 0.1 * x[i] * (x[i] * x[i]) + 0.01 * s;
}
static __attribute__((noinline)) double swing(double *x, double *v, const double *k, long n, long turns) {
  double a[16], b[16], c[16], d[16], v2[16], v3[16], v4[16], y[16], h = 0.01, most = 0, s = 0;
  for (long t = 0; t < turns; ++t) {
    pull(a, x, k, n);
    for (long i = 0; i < n; ++i) {
      v2[i] = v[i] + 0.5 * h * a[i];
      y[i] = x[i] + 0.5 * h * v[i];
    }
    pull(b, y, k, n);
    for (long i = 0; i < n; ++i) {
      v3[i] = v[i] + 0.5 * h * b[i];
      y[i] = x[i] + 0.5 * h * v2[i];
    }
    pull(c, y, k, n);
    for (long i = 0; i < n; ++i) {
      v4[i] = v[i] + h * c[i];
      y[i] = x[i] + h * v3[i];
    }
    pull(d, y, k, n);
    for (long i = 0; i < n; ++i)
      x[i] = x[i] + h / 6.0 * (v[i] + 2.0 * v2[i] + 2.0 * v3[i] + v4[i]);
    double e = 0;
    for (long i = 0; i < n; ++i) {
      v[i] = v[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
      e += v[i] * v[i];
    }
    if (e > most)
      most = e;
  }
  for (long i = 0; i < n; ++i)
    s += x[i];
  return most + s;
}
static double run(long n) {
  long m = 5 + n % 3;
  double x[16], v[16], k[16];
  for (long i = 0; i < m; ++i) {
    x[i] = (double)(i + 1) / (double)m;
    v[i] = 0;
    k[i] = 1.0 + (double)i;
  }
  return swing(x, v, k, m, n);
}
