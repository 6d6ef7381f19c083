static double run(long n) {
  long **t = malloc(n * sizeof *t), s = 0;
  for (long i = 0; i < n; ++i) {
    t[i] = malloc((i + 1) * 8);
    t[i][0] = 1;
    for (long j = 1; j < i; ++j) t[i][j] = (t[i - 1][j - 1] + t[i - 1][j]) % 10007;
    if (i > 0) t[i][i] = 1;
  }
  for (long i = 0; i < n; ++i) for (long j = 0; j <= i; ++j) if (t[i][j] % 2 == 1) s += t[i][j];
  for (long i = 0; i < n; ++i) free(t[i]);
  free(t);
  return s;
}
