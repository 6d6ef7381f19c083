static double run(long n) {
  long *x = malloc(n * 8), *y = calloc(n, 8), seed = 7, divisor = 1;
  for (long i = 0; i < n; ++i) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    x[i] = seed;
  }
  for (int pass = 0; pass < 4; ++pass) {
    long count[257] = {0};
    for (long i = 0; i < n; ++i)
      count[x[i] / divisor % 256 + 1] += 1;
    for (long b = 0; b < 256; ++b)
      count[b + 1] += count[b];
    for (long i = 0; i < n; ++i) {
      long b = x[i] / divisor % 256;
      y[count[b]++] = x[i];
    }
    long *t = x;
    x = y;
    y = t;
    divisor *= 256;
  }
  double r = x[0] + x[n / 2] + x[n - 1];
  free(x);
  free(y);
  return r;
}
