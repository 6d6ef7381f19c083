static double run(long n) {
  double *a = malloc(n * n * 8), *b = malloc(n * n * 8), s = 0;
  long w = 12;
  for (long i = 0; i < n * n; ++i) a[i] = i * 7919 % 1009 / 1009.0;
  for (long i = 0; i < n * n; ++i) b[i] = i * 104729 % 1013 / 1013.0;
  for (long i = 0; i < n; ++i)
    for (long l = i - 2 * w > 0 ? i - 2 * w : 0; l < (n < i + 2 * w + 1 ? n : i + 2 * w + 1); ++l) {
      long j = i - w > l - w ? i - w : l - w, k = (i + w < l + w ? i + w : l + w) + 1;
      if (j < 0) j = 0;
      if (k > n) k = n;
      double p = 0;
      for (long m = j; m < k; ++m) p += a[i * n + m] * b[m * n + l];
      s += p / (double)(1 + i + l);
    }
  free(a); free(b);
  return s;
}
