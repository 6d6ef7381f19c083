static __attribute__((noinline)) double filter(const double *f, const double *q, const double *h, const double *z,
                                               long n, long T) {
  double p[64], x[8], y[8], w[64], ph[8], s = 0;
  for (long i = 0; i < n; ++i) {
    x[i] = 0;
    for (long j = 0; j < n; ++j)
      p[i * n + j] = i == j;
  }
  for (long t = 0; t < T; ++t) {
    for (long i = 0; i < n; ++i) {
      double d = 0;
      for (long k = 0; k < n; ++k)
        d += f[i * n + k] * x[k];
      y[i] = d;
    }
    for (long i = 0; i < n; ++i)
      x[i] = y[i];
    for (long i = 0; i < n; ++i)
      for (long j = 0; j < n; ++j) {
        double d = 0;
        for (long k = 0; k < n; ++k)
          d += f[i * n + k] * p[k * n + j];
        w[i * n + j] = d;
      }
    for (long i = 0; i < n; ++i)
      for (long j = 0; j < n; ++j) {
        double d = 0;
        for (long k = 0; k < n; ++k)
          d += w[i * n + k] * f[j * n + k];
        p[i * n + j] = d + q[i * n + j];
      }
    double r = 0.5, e = z[t];
    for (long i = 0; i < n; ++i) {
      double d = 0;
      for (long k = 0; k < n; ++k)
        d += p[i * n + k] * h[k];
      ph[i] = d;
    }
    for (long i = 0; i < n; ++i) {
      r += h[i] * ph[i];
      e -= h[i] * x[i];
    }
    for (long i = 0; i < n; ++i)
      x[i] += ph[i] / r * e;
    for (long i = 0; i < n; ++i)
      for (long j = 0; j < n; ++j)
        p[i * n + j] -= ph[i] / r * ph[j];
    s += x[0];
  }
  return s + p[0];
}
static double run(long n) {
  long m = 3 + n % 4;
  double f[64], q[64], h[8], *z = malloc(8 * n);
  for (long i = 0; i < m * m; ++i) {
    long d = i / m == i % m;
    f[i] = d * 0.9 + (double)(i * 7 % 5) / 50.0;
    q[i] = 0.01 * d;
  }
  for (long i = 0; i < m; ++i)
    h[i] = i % 2 + 1;
  for (long i = 0; i < n; ++i)
    z[i] = sin((double)i);
  double r = filter(f, q, h, z, m, n);
  free(z);
  return r;
}
