static double run(long n) {
  long *parent = malloc(n * 8), *size = malloc(n * 8), seed = 1, joined = 0;
  for (long i = 0; i < n; ++i) {
    parent[i] = i;
    size[i] = 1;
  }
  for (long e = 0; e < 2 * n; ++e) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    long a = seed % n;
    seed = (seed * 1103515245 + 12345) % 2147483648;
    long b = seed % n;
    while (parent[a] != a) {
      parent[a] = parent[parent[a]];
      a = parent[a];
    }
    while (parent[b] != b) {
      parent[b] = parent[parent[b]];
      b = parent[b];
    }
    if (a != b) {
      if (size[a] < size[b]) {
        long t = a;
        a = b;
        b = t;
      }
      parent[b] = a;
      size[a] += size[b];
      ++joined;
    }
  }
  double r = joined + parent[n / 2];
  free(parent);
  free(size);
  return r;
}
