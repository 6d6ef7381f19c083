static double run(long n) {
  double **m = malloc(n * sizeof *m);
  for (long i = 0; i < n; ++i) {
    m[i] = malloc(n * 8);
    for (long j = 0; j < n; ++j) m[i][j] = (double)((i * 7 + j * 13 + i * i * j) % 101) + 0.5 + 500.0 * (i == j);
  }
  for (long k = 0; k < n; ++k)
    for (long i = k + 1; i < n; ++i) {
      double f = m[i][k] / m[k][k];
      for (long j = k; j < n; ++j) m[i][j] -= f * m[k][j];
    }
  double r = m[n - 1][n - 1];
  for (long i = 0; i < n; ++i) free(m[i]);
  free(m);
  return r;
}
