static void solve(double *x, double *c, long n, double r) {
  c[0] = -r / (1.0 + 2.0 * r);
  x[0] = x[0] / (1.0 + 2.0 * r);
  for (long i = 1; i < n; ++i) {
    double m = 1.0 / (1.0 + 2.0 * r + r * c[i - 1]);
    c[i] = -r * m;
    x[i] = (x[i] + r * x[i - 1]) * m;
  }
  for (long i = n - 2; i >= 0; --i)
    x[i] -= c[i] * x[i + 1];
}
static double run(long n) {
  double *u = calloc(n, 8), *c = malloc(n * 8);
  u[n / 2] = 1.0;
  for (int step = 0; step < 20; ++step)
    solve(u, c, n, 0.4);
  double s = u[n / 2] + u[n / 3];
  free(u);
  free(c);
  return s;
}
