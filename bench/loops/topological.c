static double run(long n) {
  long k = 8, *to = malloc(n * k * 8), *degree = calloc(n, 8), *queue = malloc(n * 8), *level = calloc(n, 8), seed = 3;
  for (long i = 0; i < n; ++i)
    for (long e = 0; e < k; ++e) {
      seed = (seed * 1103515245 + 12345) & 2147483647;
      to[i * k + e] = -1;
      if (i < n - 1) {
        long j = i + 1 + seed % (n - 1 - i);
        to[i * k + e] = j;
        ++degree[j];
      }
    }
  long first = 0, last = 0;
  for (long i = 0; i < n; ++i)
    if (!degree[i]) queue[last++] = i;
  while (first < last) {
    long i = queue[first++];
    for (long e = 0; e < k; ++e) {
      long j = to[i * k + e];
      if (j < 0) continue;
      if (level[i] + 1 > level[j]) level[j] = level[i] + 1;
      if (--degree[j] == 0) queue[last++] = j;
    }
  }
  long s = last;
  for (long i = 0; i < n; ++i) s += level[i];
  free(to), free(degree), free(queue), free(level);
  return s;
}
