static double run(long n) {
  double *d = malloc(n * n * 8), r = 0;
  for (long i = 0; i < n * n; ++i)
    d[i] = (double)(i * 7919 % 1009) + 1.0;
  for (long k = 0; k < n; ++k)
    for (long i = 0; i < n; ++i)
      for (long j = 0; j < n; ++j) {
        double x = d[i * n + j], y = d[i * n + k] + d[k * n + j];
        d[i * n + j] = y < x ? y : x;
      }
  for (long i = 0; i < n * n; ++i)
    r += d[i];
  free(d);
  return r;
}
