static double run(long n) {
  long m = n - 4;
  float *x = malloc(n * n * 4), *y = malloc(m * m * 4), k[25];
  for (long i = 0; i < n * n; ++i)
    x[i] = (float)(i * 31 % 255);
  for (long i = 0; i < 25; ++i)
    k[i] = (float)(i * 7 % 5) / 50.0f;
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < m; ++j) {
      float s = 0;
      for (long a = 0; a < 5; ++a)
        for (long b = 0; b < 5; ++b)
          s += x[(i + a) * n + j + b] * k[a * 5 + b];
      y[i * m + j] = s;
    }
  double r = y[0] + y[n / 2 * m + n / 2] + y[m * m - 1];
  free(x);
  free(y);
  return r;
}
