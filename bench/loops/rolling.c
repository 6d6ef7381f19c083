static double run(long n) {
  long *a = malloc(8 * n), *b = malloc(8 * n), *prev = malloc(8 * (n + 1)), *cur = malloc(8 * (n + 1));
  for (long i = 0; i < n; ++i) {
    a[i] = i * 7919 % 13;
    b[i] = i * 104729 % 11;
  }
  for (long i = 0; i <= n; ++i)
    prev[i] = i;
  for (long i = 0; i < n; ++i) {
    cur[0] = i + 1;
    for (long j = 0; j < n; ++j) {
      long c = prev[j] + (a[i] != b[j]), d = (prev[j + 1] < cur[j] ? prev[j + 1] : cur[j]) + 1;
      cur[j + 1] = c < d ? c : d;
    }
    long *t = prev;
    prev = cur;
    cur = t;
  }
  double r = (double)prev[n];
  free(a);
  free(b);
  free(prev);
  free(cur);
  return r;
}
