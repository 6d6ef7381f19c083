static void sift(double *h, long start, long end) {
  long root = start;
  while (2 * root + 1 < end) {
    long child = 2 * root + 1;
    if (child + 1 < end && h[child] < h[child + 1]) child += 1;
    if (h[root] >= h[child]) return;
    double t = h[root];
    h[root] = h[child];
    h[child] = t;
    root = child;
  }
}
static double run(long n) {
  double *v = malloc(n * sizeof *v);
  long seed = 12345;
  for (long i = 0; i < n; ++i) v[i] = seed = (seed * 1103515245 + 12345) % 2147483648;
  for (long i = n / 2 - 1; i >= 0; --i) sift(v, i, n);
  for (long end = n - 1; end > 0; --end) {
    double t = v[0];
    v[0] = v[end];
    v[end] = t;
    sift(v, 0, end);
  }
  double s = v[0] + v[n / 2] + v[n - 1];
  free(v);
  return s;
}
