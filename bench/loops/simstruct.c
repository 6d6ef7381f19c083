static double around(const double *a, long n, long i, long j) {
  return a[(i + 1) % n * n + j] + a[(i - 1 + n) % n * n + j] + a[i * n + (j + 1) % n] + a[i * n + (j - 1 + n) % n] - 4.0 * a[i * n + j];
}
typedef struct { double *u, *v, t; } Sim;
static Sim step(Sim s, long n, double h) {
  double *u = malloc(n * n * 8), *v = malloc(n * n * 8);
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      double a = s.u[i * n + j], b = s.v[i * n + j], r = a * b * b;
      u[i * n + j] = a + h * (0.2 * around(s.u, n, i, j) - r + 0.04 * (1.0 - a));
      v[i * n + j] = b + h * (0.1 * around(s.v, n, i, j) + r - 0.1 * b);
    }
  free(s.u); free(s.v);
  return (Sim){u, v, s.t + h};
}
static double run(long n) {
  Sim s = {malloc(n * n * 8), calloc(n * n, 8), 0};
  for (long i = 0; i < n * n; ++i) s.u[i] = 1;
  for (long i = n / 3; i < n / 2; ++i) for (long j = n / 3; j < n / 2; ++j) s.v[i * n + j] = 0.5;
  for (long t = 0; t < 40; ++t) s = step(s, n, 0.5);
  double r = s.t;
  for (long i = 0; i < n * n; ++i) r += s.v[i];
  free(s.u); free(s.v);
  return r;
}
