static double run(long n) {
  long *p = malloc((n + 1) * 8), *m = calloc(n * n, 8);
  for (long i = 0; i <= n; ++i)
    p[i] = i * 7 % 31 + 2;
  for (long len = 2; len <= n; ++len)
    for (long i = 0; i < n - len + 1; ++i) {
      long j = i + len - 1, best = 9000000000000000;
      for (long k = i; k < j; ++k) {
        long c = m[i * n + k] + m[(k + 1) * n + j] + p[i] * p[k + 1] * p[j + 1];
        if (c < best)
          best = c;
      }
      m[i * n + j] = best;
    }
  double r = m[n - 1];
  free(p);
  free(m);
  return r;
}
