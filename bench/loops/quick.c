static void part(double *y, long lo, long hi) {
  if (lo >= hi)
    return;
  double p = y[(lo + hi) / 2];
  long i = lo, j = hi;
  while (i <= j) {
    while (y[i] < p)
      ++i;
    while (y[j] > p)
      --j;
    if (i <= j) {
      double t = y[i];
      y[i] = y[j];
      y[j] = t;
      ++i;
      --j;
    }
  }
  part(y, lo, j);
  part(y, i, hi);
}
static double run(long n) {
  double *x = malloc(n * 8);
  for (long i = 0; i < n; ++i)
    x[i] = (i * 7919) % 10007;
  part(x, 0, n - 1);
  double r = x[n / 2] + x[1];
  free(x);
  return r;
}
