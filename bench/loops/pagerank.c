static double run(long n) {
  long m = 5 * n, *to = calloc(m, 8), *start = calloc(n + 1, 8);
  for (long i = 0; i < n; ++i) {
    start[i + 1] = start[i] + 1 + i % 5;
    for (long e = start[i]; e < start[i + 1]; ++e)
      to[e] = (i * 17 + e * 31) % n;
  }
  double *r = malloc(n * 8), *next = malloc(n * 8), s = 0;
  for (long i = 0; i < n; ++i)
    r[i] = 1.0 / (double)n;
  for (int t = 0; t < 20; ++t) {
    for (long i = 0; i < n; ++i)
      next[i] = 0.15 / (double)n;
    for (long i = 0; i < n; ++i) {
      double share = 0.85 * r[i] / (double)(start[i + 1] - start[i]);
      for (long e = start[i]; e < start[i + 1]; ++e)
        next[to[e]] += share;
    }
    double *w = r;
    r = next;
    next = w;
  }
  for (long i = 0; i < n; ++i)
    s += r[i] * (double)(i % 7);
  free(to);
  free(start);
  free(r);
  free(next);
  return s;
}
