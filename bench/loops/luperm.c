static double run(long n) {
  double **m = malloc(n * sizeof *m), sign = 1;
  for (long i = 0; i < n; ++i) { m[i] = malloc(n * 8); for (long j = 0; j < n; ++j) m[i][j] = (double)((i * 7 + j * 13 + i * i * j) % 101) + 0.5 + 50.0 * ((i + j) % n == 3); }
  for (long k = 0; k < n; ++k) {
    long p = k;
    for (long i = k + 1; i < n; ++i) if (fabs(m[i][k]) > fabs(m[p][k])) p = i;
    if (p != k) { double *t = m[k]; m[k] = m[p]; m[p] = t; sign = -sign; }
    for (long i = k + 1; i < n; ++i) {
      m[i][k] /= m[k][k];
      for (long j = k + 1; j < n; ++j) m[i][j] -= m[i][k] * m[k][j];
    }
  }
  double s = sign;
  for (long k = 0; k < n; ++k) s += log(fabs(m[k][k]));
  for (long i = 0; i < n; ++i) free(m[i]);
  free(m);
  return s;
}
