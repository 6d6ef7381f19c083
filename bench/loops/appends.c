static double run(long n) {
  long room = 4, *y = malloc(8 * room), k = 0, s = 0;
  for (long i = 0; i < n; ++i) {
    long v = i * 7919 % 10007;
    if (v % 3 != 0) {
      if (k == room)
        y = realloc(y, 8 * (room *= 2));
      y[k++] = v;
    }
  }
  for (long i = 0; i < k; ++i)
    s += y[i] * (i % 3);
  free(y);
  return (double)s + (double)k;
}
