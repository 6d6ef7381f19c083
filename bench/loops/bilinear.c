static long clip(long i, long lo, long hi) {
  i = i < lo ? lo : i;
  return i > hi ? hi : i;
}
static double run(long n) {
  double *x = malloc(n * n * 8), *y = malloc(n * n * 8), c = cos(0.3), s = sin(0.3), m = 0.5 * n;
  for (long i = 0; i < n * n; ++i) x[i] = i * 31 % 255;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      double u = c * (i - m) - s * (j - m) + m, v = s * (i - m) + c * (j - m) + m;
      long a = clip((long)floor(u), 0, n - 2), b = clip((long)floor(v), 0, n - 2);
      double p = u - a, q = v - b, *z = x + a * n + b;
      y[i * n + j] = (1 - p) * ((1 - q) * z[0] + q * z[1]) + p * ((1 - q) * z[n] + q * z[n + 1]);
    }
  double r = y[n / 2 * n + n / 2] + y[n / 3 * n + n / 2] + y[n / 2 * n + n / 4];
  free(x), free(y);
  return r;
}
