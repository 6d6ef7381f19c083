static double run(long n) {
  double *x = malloc(n * 8), *y = malloc(n * 8), w[16];
  for (long i = 0; i < n; ++i)
    x[i] = i * 7919 % 1009;
  for (long i = 0; i < 16; ++i)
    w[i] = i / 16.0;
  for (long i = 0; i < n - 15; ++i) {
    double s[8];
    for (int k = 0; k < 8; ++k)
      s[k] = x[i + k] * w[k] + x[i + k + 8] * w[k + 8];
    y[i] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
  }
  double r = y[0] + y[n / 2] + y[n - 16];
  free(x), free(y);
  return r;
}
