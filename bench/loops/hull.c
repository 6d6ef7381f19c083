static double run(long n) {
  double *x = malloc(8 * n), *y = malloc(8 * n), area = 0;
  long *h = malloc(16 * n), k = 0;
  for (long i = 0; i < n; ++i) {
    x[i] = (double)i;
    y[i] = (double)(i * 7919 % 10007);
  }
  for (long i = 0; i < n; ++i) {
    while (k >= 2) {
      long a = h[k - 2], b = h[k - 1];
      if ((x[b] - x[a]) * (y[i] - y[a]) - (y[b] - y[a]) * (x[i] - x[a]) > 0)
        break;
      --k;
    }
    h[k++] = i;
  }
  for (long i = 1; i < k; ++i)
    area += x[h[i - 1]] * y[h[i]] - x[h[i]] * y[h[i - 1]];
  area += (double)k;
  free(x);
  free(y);
  free(h);
  return area;
}
