static double run(long n) {
  long *a = malloc(n * 8), *b = malloc(n * 8), *t = calloc((n + 1) * (n + 1), 8);
  for (long i = 0; i < n; ++i) {
    a[i] = (i * 7 + 3) % 11;
    b[i] = (i * 5 + 1) % 13;
  }
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j)
      if (a[i] == b[j])
        t[(i + 1) * (n + 1) + j + 1] = t[i * (n + 1) + j] + 1;
      else {
        long x = t[i * (n + 1) + j + 1], y = t[(i + 1) * (n + 1) + j];
        t[(i + 1) * (n + 1) + j + 1] = x > y ? x : y;
      }
  double r = t[n * (n + 1) + n];
  free(a);
  free(b);
  free(t);
  return r;
}
