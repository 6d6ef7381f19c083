static void sift(double *x, long root, long e) {
  while (2 * root + 1 < e) {
    long c = 2 * root + 1;
    if (c + 1 < e && x[c] < x[c + 1])
      ++c;
    if (x[root] < x[c]) {
      double t = x[root];
      x[root] = x[c];
      x[c] = t;
      root = c;
    } else
      break;
  }
}
static double run(long n) {
  double *x = malloc(n * 8);
  for (long i = 0; i < n; ++i)
    x[i] = (i * 7919) % 10007;
  for (long s = n / 2 - 1; s >= 0; --s)
    sift(x, s, n);
  for (long e = n - 1; e > 0; --e) {
    double u = x[0];
    x[0] = x[e];
    x[e] = u;
    sift(x, 0, e);
  }
  double r = x[0] + x[n / 2];
  free(x);
  return r;
}
