static __attribute__((noinline)) void classes(const double *x, long *y, long n, long c) {
  for (long i = 0; i < n; ++i) {
    long b = 0;
    for (long k = 1; k < c; ++k)
      if (x[i * c + k] > x[i * c + b])
        b = k;
    y[i] = b;
  }
}
static double run(long n) {
  long c = 7 + n % 5, *y = malloc(8 * n), t = 0;
  double *x = malloc(8 * n * c);
  for (long i = 0; i < n * c; ++i)
    x[i] = i * 7919 % 1009;
  classes(x, y, n, c);
  for (long i = 0; i < n; ++i)
    t += y[i];
  double r = (double)t + (double)y[n / 2];
  free(x);
  free(y);
  return r;
}
