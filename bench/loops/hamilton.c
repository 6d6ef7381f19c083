static long ways(const char *adj, char *used, long n, long at, long left) {
  if (left == 0) return 1;
  long count = 0;
  for (long j = 0; j < n; ++j)
    if (adj[at * n + j] && !used[j]) {
      used[j] = 1;
      count += ways(adj, used, n, j, left - 1);
      used[j] = 0;
    }
  return count;
}
static double run(long n) {
  char *adj = malloc(n * n), *used = calloc(n, 1);
  for (long i = 0; i < n; ++i) for (long j = 0; j < n; ++j) adj[i * n + j] = i != j && (i * 7 + j * 3) % 5 != 1;
  long total = 0;
  for (long s = 0; s < n; ++s) { used[s] = 1; total += ways(adj, used, n, s, n - 1); used[s] = 0; }
  free(adj); free(used);
  return total;
}
