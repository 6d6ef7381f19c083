static double run(long n) {
  double *x = malloc(n * 8);
  for (long i = 0; i < n; ++i)
    x[i] = (double)(i * 7919 % 10007);
  for (long i = 1; i < n; ++i) {
    double v = x[i];
    long low = 0, high = i;
    while (low < high) {
      long middle = (low + high) / 2;
      if (x[middle] <= v)
        low = middle + 1;
      else
        high = middle;
    }
    for (long k = i; k > low; --k)
      x[k] = x[k - 1];
    x[low] = v;
  }
  double r = x[0] + x[n / 2] * 2.0 + x[n - 1];
  free(x);
  return r;
}
