static long find(long *p, long x) {
  long r = x;
  while (p[r] != r) r = p[r];
  while (p[x] != r) { long next = p[x]; p[x] = r; x = next; }
  return r;
}
static void join(long *p, long a, long b) { long x = find(p, a), y = find(p, b); if (x != y) p[x] = y; }
static double run(long n) {
  long total = 0, seed = 5;
  for (long turn = 0; turn < 5; ++turn) {
    long *p = malloc((n * n + 2) * 8), *open = calloc(n * n, 8), opened = 0;
    for (long i = 0; i < n * n + 2; ++i) p[i] = i;
    while (1) {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      long c = seed / 64 % (n * n);
      if (open[c]) continue;
      open[c] = 1; opened += 1;
      if (c < n) join(p, c, n * n);
      if (c >= n * n - n) join(p, c, n * n + 1);
      if (c >= n && open[c - n]) join(p, c, c - n);
      if (c < n * n - n && open[c + n]) join(p, c, c + n);
      if (c % n > 0 && open[c - 1]) join(p, c, c - 1);
      if (c % n < n - 1 && open[c + 1]) join(p, c, c + 1);
      if (find(p, n * n) == find(p, n * n + 1)) break;
    }
    total += opened;
    free(p); free(open);
  }
  return total;
}
