static double run(long n) {
  int *x = malloc(n * n * 4), *s = calloc((n + 1) * (n + 1), 4);
  long m = n + 1, total = 0;
  for (long i = 0; i < n * n; ++i)
    x[i] = (int)(i * 7919 % 201 - 100);
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j)
      s[(i + 1) * m + j + 1] = x[i * n + j] + s[i * m + j + 1] + s[(i + 1) * m + j] - s[i * m + j];
  for (long i = 0; i < n - 8; ++i)
    for (long j = 0; j < n - 8; ++j)
      total += s[(i + 8) * m + j + 8] - s[i * m + j + 8] - s[(i + 8) * m + j] + s[i * m + j];
  for (long i = 0; i < n; ++i) {
    int best = 0, here = 0;
    for (long j = 0; j < n; ++j) {
      here = here + x[i * n + j] > 0 ? here + x[i * n + j] : 0;
      best = best > here ? best : here;
    }
    total += best;
  }
  free(x);
  free(s);
  return total;
}
