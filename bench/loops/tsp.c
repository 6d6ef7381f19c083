static double run(long n) {
  long full = 1L << n;
  double *d = malloc(8 * n * n), *best = malloc(8 * full * n), r = 1e9;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j)
      d[i * n + j] = (double)((i * 37 + j * 53) % 97 + 1);
  for (long i = 0; i < full * n; ++i)
    best[i] = 1e9;
  best[n] = 0;
  for (long mask = 1; mask < full; ++mask)
    for (long i = 0; i < n; ++i)
      if (mask >> i & 1) {
        double b = best[mask * n + i];
        if (b < 1e9)
          for (long j = 0; j < n; ++j)
            if (!(mask >> j & 1)) {
              long next = mask + (1L << j);
              double v = b + d[i * n + j];
              if (v < best[next * n + j])
                best[next * n + j] = v;
            }
      }
  for (long i = 1; i < n; ++i) {
    double v = best[(full - 1) * n + i] + d[i * n];
    r = v < r ? v : r;
  }
  free(d);
  free(best);
  return r;
}
