static long colorings(const long *adj, long *color, long at, long k, long n) {
  if (at == n) return 1;
  long count = 0;
  for (long c = 1; c <= k; ++c) {
    int ok = 1;
    for (long j = 0; j < at; ++j)
      if (adj[at * n + j] == 1 && color[j] == c) { ok = 0; break; }
    if (ok) {
      color[at] = c;
      count += colorings(adj, color, at + 1, k, n);
    }
  }
  return count;
}
static double run(long n) {
  long *adj = calloc(n * n, 8), *color = calloc(n, 8);
  for (long i = 0; i < n; ++i) {
    adj[i * n + (i + 1) % n] = 1; adj[(i + 1) % n * n + i] = 1;
    adj[i * n + (i + 3) % n] = 1; adj[(i + 3) % n * n + i] = 1;
  }
  double v = colorings(adj, color, 0, 3, n);
  free(adj); free(color);
  return v;
}
