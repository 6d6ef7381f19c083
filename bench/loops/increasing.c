static double run(long n) {
  long *x = malloc(n * 8), *tails = calloc(n, 8), length = 0;
  for (long i = 0; i < n; ++i)
    x[i] = i * 7919 % 100003;
  for (long i = 0; i < n; ++i) {
    long lo = 0, hi = length;
    while (lo < hi) {
      long middle = (lo + hi) / 2;
      if (tails[middle] < x[i])
        lo = middle + 1;
      else
        hi = middle;
    }
    tails[lo] = x[i];
    if (lo == length)
      ++length;
  }
  free(x);
  free(tails);
  return length;
}
