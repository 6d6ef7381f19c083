static double run(long n) {
  double *x = malloc(160 * n), a = 0;
  for (long i = 0; i < 20 * n; ++i)
    x[i] = (double)(i * 7919 % 1009);
  for (long i = 0; i < n; ++i) {
    double s = 0, t = 0;
    for (long j = 0; j < 20; ++j) {
      double v = x[20 * i + j];
      s += v;
      t += v * v;
    }
    a += t - s * s / 20;
  }
  free(x);
  return a;
}
