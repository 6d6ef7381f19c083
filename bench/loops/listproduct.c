static double **make(long n, long k) {
  double **m = malloc(n * sizeof *m);
  for (long i = 0; i < n; ++i) {
    m[i] = malloc(n * 8);
    for (long j = 0; j < n; ++j) m[i][j] = (double)((i * 7 + j * 13 + i * j * k) % 17) + 0.5;
  }
  return m;
}
static double run(long n) {
  double **a = make(n, 1), **b = make(n, 2), **c = make(n, 3);
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      double s = 0;
      for (long k = 0; k < n; ++k) s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
  double r = c[n - 1][n - 1] + c[1][2];
  for (long i = 0; i < n; ++i) free(a[i]), free(b[i]), free(c[i]);
  free(a); free(b); free(c);
  return r;
}
