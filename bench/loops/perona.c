static double g(double d) { return 1.0 / (1.0 + d * d / 25.0); }
static double run(long n) {
  double *u = malloc(8 * n * n), *v = malloc(8 * n * n);
  for (long i = 0; i < n * n; ++i)
    u[i] = i * 7919 % 256;
  for (int step = 0; step < 5; ++step) {
    for (long i = 0; i < n; ++i)
      for (long j = 0; j < n; ++j) {
        double c = u[i * n + j];
        double no = u[(i > 0 ? i - 1 : 0) * n + j] - c, so = u[(i < n - 1 ? i + 1 : n - 1) * n + j] - c;
        double we = u[i * n + (j > 0 ? j - 1 : 0)] - c, ea = u[i * n + (j < n - 1 ? j + 1 : n - 1)] - c;
        v[i * n + j] = c + 0.2 * (g(no) * no + g(so) * so + g(we) * we + g(ea) * ea);
      }
    double *t = u;
    u = v;
    v = t;
  }
  double r = u[n / 2 * n + n / 3] + u[0] + u[n * n - 1];
  free(u);
  free(v);
  return r;
}
