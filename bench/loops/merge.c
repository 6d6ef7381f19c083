static double run(long n) {
  double *x = malloc(n * 8), *y = malloc(n * 8);
  for (long i = 0; i < n; ++i)
    x[i] = i * 7919 % 10007;
  for (long width = 1; width < n; width *= 2) {
    for (long start = 0; start < n; start += 2 * width) {
      long middle = start + width < n ? start + width : n, end = start + 2 * width < n ? start + 2 * width : n,
           i = start, j = middle;
      for (long k = start; k < end; ++k)
        if (i < middle && (j >= end || x[i] <= x[j]))
          y[k] = x[i++];
        else
          y[k] = x[j++];
    }
    double *t = x;
    x = y;
    y = t;
  }
  double r = x[0] + x[n / 3] + x[n - 1];
  free(x);
  free(y);
  return r;
}
