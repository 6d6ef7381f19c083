static long visit(long *a, long k, long n) {
  if (k == n) {
    long ok = 1;
    for (long i = 0; i < n - 1; ++i) {
      if (i % 2 == 0 && a[i] > a[i + 1]) ok = 0;
      if (i % 2 == 1 && a[i] < a[i + 1]) ok = 0;
    }
    return ok;
  }
  long count = 0;
  for (long i = k; i < n; ++i) {
    long t = a[k]; a[k] = a[i]; a[i] = t;
    count += visit(a, k + 1, n);
    t = a[k]; a[k] = a[i]; a[i] = t;
  }
  return count;
}
static double run(long n) {
  long *a = malloc(n * 8);
  for (long i = 0; i < n; ++i) a[i] = i;
  double v = visit(a, 0, n);
  free(a);
  return v;
}
