static double run(long n) {
  double *w = malloc(n * n * 8), *key = malloc(n * 8), s = 0;
  long *parent = calloc(n, 8);
  char *done = calloc(n, 1);
  for (long i = 0; i < n * n; ++i) w[i] = i * 7919 % 10007 + 1.0;
  for (long i = 0; i < n; ++i) key[i] = 1e300;
  key[0] = 0;
  for (long k = 0; k < n; ++k) {
    long u = -1;
    for (long v = 0; v < n; ++v)
      if (!done[v] && (u < 0 || key[v] < key[u])) u = v;
    done[u] = 1;
    for (long v = 0; v < n; ++v)
      if (!done[v] && w[u * n + v] < key[v]) {
        key[v] = w[u * n + v];
        parent[v] = u;
      }
  }
  for (long v = 1; v < n; ++v) s += w[parent[v] * n + v];
  free(w), free(key), free(parent), free(done);
  return s;
}
