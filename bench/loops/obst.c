static double run(long n) {
  long W = n + 2;
  double *p = malloc(8 * (n + 1)), *e = calloc(W * W, 8), *w = calloc(W * W, 8);
  long *root = calloc(W * W, 8);
  for (long i = 0; i <= n; ++i)
    p[i] = (double)(i * 7919 % 101 + 1) / 1000.0;
  for (long len = 1; len <= n; ++len)
    for (long i = 1; i <= n - len + 1; ++i) {
      long j = i + len - 1;
      e[i * W + j] = 1e300;
      w[i * W + j] = w[i * W + j - 1] + p[j];
      for (long r = i; r <= j; ++r) {
        double t = e[i * W + r - 1] + e[(r + 1) * W + j] + w[i * W + j];
        if (t < e[i * W + j]) {
          e[i * W + j] = t;
          root[i * W + j] = r;
        }
      }
    }
  double r = e[W + n] + root[W + n];
  free(p);
  free(e);
  free(w);
  free(root);
  return r;
}
