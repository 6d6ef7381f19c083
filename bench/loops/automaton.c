static double run(long n) {
  unsigned char *rows = calloc(n * n, 1);
  unsigned char rule[] = {0, 1, 1, 1, 0, 1, 1, 0};
  rows[n - 1] = 1;
  for (long t = 1; t < n; ++t)
    for (long i = 0; i < n; ++i) {
      long l = rows[(t - 1) * n + (i + n - 1) % n], c = rows[(t - 1) * n + i], r = rows[(t - 1) * n + (i + 1) % n];
      rows[t * n + i] = rule[4 * l + 2 * c + r];
    }
  long s = 0;
  for (long i = 0; i < n; ++i) s += rows[(n - 1) * n + i] * i;
  free(rows);
  return s;
}
