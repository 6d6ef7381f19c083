static __attribute__((noinline)) double best(const double *x, long n, long d) {
  double s = 0;
  for (long i = 0; i < n; ++i) {
    double c = x[i * d], first = c, m = c;
    for (long k = 1; k < d; ++k) {
      c += x[i * d + k];
      if (c > m)
        m = c;
    }
    s += m - first;
  }
  return s;
}
static double run(long n) {
  long d = 9 + n % 5;
  double *x = malloc(8 * n * d);
  for (long i = 0; i < n * d; ++i)
    x[i] = (double)(i * 7919 % 1009) - 500.0;
  double r = best(x, n, d);
  free(x);
  return r;
}
