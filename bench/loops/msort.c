static double *msort(const double *x, long n) {
  double *y = malloc(8 * (n ? n : 1));
  if (n < 2) {
    if (n)
      y[0] = x[0];
    return y;
  }
  long h = n / 2;
  double *a = msort(x, h), *b = msort(x + h, n - h);
  long i = 0, j = 0;
  for (long k = 0; k < n; ++k)
    if (j >= n - h || (i < h && a[i] <= b[j]))
      y[k] = a[i++];
    else
      y[k] = b[j++];
  free(a);
  free(b);
  return y;
}
static double run(long n) {
  double *x = malloc(8 * n);
  for (long i = 0; i < n; ++i)
    x[i] = i * 7919 % 10007;
  double *y = msort(x, n), r = y[0] + y[n / 2] * 3.0 + y[n - 1];
  free(x);
  free(y);
  return r;
}
