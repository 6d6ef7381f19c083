static long g(long x, long y) {
  while (y != 0) {
    long t = x % y;
    x = y;
    y = t;
  }
  return x;
}
static double run(long n) {
  long c = 0;
  for (long a = 1; a < n; ++a)
    for (long b = 1; b < n; ++b)
      if (g(a, b) == 1)
        ++c;
  return c;
}
