static double run(long n) {
  double *x = malloc(n * 8);
  for (long i = 0; i < n; i++)
    x[i] = i * 7919 % 10007;
  long lo = 0, hi = n - 1;
  while (lo < hi) {
    long last = lo;
    for (long i = lo; i < hi; i++)
      if (x[i] > x[i + 1]) {
        double t = x[i];
        x[i] = x[i + 1];
        x[i + 1] = t;
        last = i;
      }
    hi = last;
    long first = hi;
    for (long i = hi; i > lo; i--)
      if (x[i - 1] > x[i]) {
        double t = x[i];
        x[i] = x[i - 1];
        x[i - 1] = t;
        first = i;
      }
    lo = first;
  }
  double r = x[0] + x[n / 2] * 3.0 + x[n - 1];
  free(x);
  return r;
}
