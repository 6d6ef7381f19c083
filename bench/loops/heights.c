static long longest(const long *g, long *memo, long n, long i, long j) {
  static const long di[] = {0, 0, 1, -1}, dj[] = {1, -1, 0, 0};
  if (memo[i * n + j] > 0)
    return memo[i * n + j];
  long best = 1;
  for (int k = 0; k < 4; ++k) {
    long a = i + di[k], b = j + dj[k];
    if (a >= 0 && a < n && b >= 0 && b < n && g[a * n + b] > g[i * n + j]) {
      long v = longest(g, memo, n, a, b) + 1;
      best = v > best ? v : best;
    }
  }
  return memo[i * n + j] = best;
}
static double run(long n) {
  long *g = malloc(8 * n * n), *memo = calloc(n * n, 8), best = 0;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j)
      g[i * n + j] = (i * 37 + j * 53 + i * j * 7) % 101;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      long v = longest(g, memo, n, i, j);
      best = v > best ? v : best;
    }
  double r = (double)best + (double)memo[n / 2 * n + n / 2];
  free(g);
  free(memo);
  return r;
}
