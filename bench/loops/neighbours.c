static double run(long n) {
  double *p = malloc(3 * n * 8), total = 0;
  for (long i = 0; i < 3 * n; ++i)
    p[i] = (double)(i * 7919 % 1009) / 1009.0;
  for (long q = 0; q < n; ++q) {
    double best[5] = {1e300, 1e300, 1e300, 1e300, 1e300};
    long where[5] = {0};
    for (long i = 0; i < n; ++i) {
      if (i == q)
        continue;
      double d = 0;
      for (long a = 0; a < 3; ++a) {
        double t = p[i * 3 + a] - p[q * 3 + a];
        d += t * t;
      }
      if (d < best[4]) {
        long k = 4;
        while (k > 0 && best[k - 1] > d) {
          best[k] = best[k - 1];
          where[k] = where[k - 1];
          --k;
        }
        best[k] = d;
        where[k] = i;
      }
    }
    total += best[4] + (double)where[0];
  }
  free(p);
  return total;
}
