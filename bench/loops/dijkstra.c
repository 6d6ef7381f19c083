static double run(long n) {
  double *w = malloc(n * n * 8), *d = malloc(n * 8);
  char *done = calloc(n, 1);
  for (long i = 0; i < n * n; ++i)
    w[i] = (double)(i * 7919 % 1009) + 1.0;
  for (long i = 0; i < n; ++i)
    d[i] = 1e300;
  d[0] = 0;
  for (long s = 0; s < n; ++s) {
    long best = -1;
    double least = 1e301;
    for (long i = 0; i < n; ++i)
      if (!done[i] && d[i] < least) {
        least = d[i];
        best = i;
      }
    done[best] = 1;
    for (long j = 0; j < n; ++j) {
      double x = least + w[best * n + j];
      if (x < d[j])
        d[j] = x;
    }
  }
  double r = 0;
  for (long i = 0; i < n; ++i)
    r += d[i];
  free(w);
  free(d);
  free(done);
  return r;
}
