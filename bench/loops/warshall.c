static double run(long n) {
  long **d = malloc(n * sizeof *d), s = 0;
  for (long i = 0; i < n; ++i) { d[i] = malloc(n * 8); for (long j = 0; j < n; ++j) d[i][j] = 1 + (i * 31 + j * 17 + i * j) % 100; }
  for (long k = 0; k < n; ++k) for (long i = 0; i < n; ++i) for (long j = 0; j < n; ++j)
    if (d[i][k] + d[k][j] < d[i][j]) d[i][j] = d[i][k] + d[k][j];
  for (long i = 0; i < n; ++i) for (long j = 0; j < n; ++j) s += d[i][j] * (i % 3);
  for (long i = 0; i < n; ++i) free(d[i]);
  free(d);
  return s;
}
