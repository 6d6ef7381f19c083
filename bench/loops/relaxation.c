static double run(long n) {
  double *d = malloc(n * n * sizeof *d), s = 0;
  long seed = 12345;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      d[i * n + j] = seed % 1000;
    }
  for (long k = 0; k < n; ++k)
    for (long i = 0; i < n; ++i)
      for (long j = 0; j < n; ++j)
        if (d[i * n + k] + d[k * n + j] < d[i * n + j]) d[i * n + j] = d[i * n + k] + d[k * n + j];
  for (long i = 0; i < n * n; ++i) s += d[i];
  free(d);
  return s;
}
