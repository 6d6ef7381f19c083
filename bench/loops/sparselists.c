static double run(long n) {
  long **c = malloc(n * 8), *m = malloc(n * 8), *last = malloc(n * 8), *hit = malloc(n * 8);
  double **v = malloc(n * 8), *sums = calloc(n, 8), s = 0;
  long filled = 0;
  for (long i = 0; i < n; ++i) {
    m[i] = 1 + i % 4; c[i] = malloc(m[i] * 8); v[i] = malloc(m[i] * 8); last[i] = -1;
    for (long k = 0; k < m[i]; ++k) { c[i][k] = (i * 31 + k * 17) % n; v[i][k] = (double)(k + 1) * 0.5 + (double)(i % 3); }
  }
  for (long i = 0; i < n; ++i) {
    long h = 0;
    for (long a = 0; a < m[i]; ++a) {
      long r = c[i][a];
      for (long b = 0; b < m[r]; ++b) {
        long j = c[r][b];
        if (last[j] != i) { last[j] = i; sums[j] = 0; hit[h++] = j; }
        sums[j] += v[i][a] * v[r][b];
      }
    }
    filled += h;
    for (long k = 0; k < h; ++k) s += sums[hit[k]] * (double)(hit[k] % 5);
  }
  for (long i = 0; i < n; ++i) free(c[i]), free(v[i]);
  free(c); free(v); free(m); free(last); free(sums); free(hit);
  return s + filled;
}
