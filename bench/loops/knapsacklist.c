static double run(long n) {
  long *w = malloc(n * 8), *v = malloc(n * 8), room = 10 * n;
  for (long i = 0; i < n; ++i) { w[i] = 3 + i * 7 % 11; v[i] = 1 + i * 13 % 29; }
  long **t = malloc((n + 1) * sizeof *t);
  t[0] = calloc(room + 1, 8);
  for (long i = 0; i < n; ++i) {
    long *row = malloc((room + 1) * 8);
    for (long j = 0; j <= room; ++j) {
      long best = t[i][j];
      if (j >= w[i] && t[i][j - w[i]] + v[i] > best) best = t[i][j - w[i]] + v[i];
      row[j] = best;
    }
    t[i + 1] = row;
  }
  long j = room, s = 0;
  for (long i = n - 1; i > -1; --i) if (t[i + 1][j] != t[i][j]) { s += i; j -= w[i]; }
  double r = t[n][room] * 1000 + s;
  for (long i = 0; i <= n; ++i) free(t[i]);
  free(t); free(w); free(v);
  return r;
}
