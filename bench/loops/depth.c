static double run(long n) {
  long *starts = calloc(n + 1, 8);
  for (long v = 0; v < n; ++v)
    starts[v + 1] = starts[v] + v % 5 + 1;
  long *ends = malloc(starts[n] * 8), *next = calloc(n, 8), *stack = calloc(n, 8), order = 0, total = 0;
  char *seen = calloc(n, 1);
  for (long v = 0; v < n; ++v)
    for (long e = starts[v]; e < starts[v + 1]; ++e)
      ends[e] = (v * 31 + e * 17 + 1) % n;
  for (long root = 0; root < n; ++root) {
    if (seen[root])
      continue;
    seen[root] = 1;
    stack[0] = root;
    next[root] = starts[root];
    long top = 1;
    while (top > 0) {
      long v = stack[top - 1];
      if (next[v] < starts[v + 1]) {
        long w = ends[next[v]];
        next[v] += 1;
        if (!seen[w]) {
          seen[w] = 1;
          next[w] = starts[w];
          stack[top++] = w;
        }
      } else {
        --top;
        ++order;
        total += order * v % 1000;
      }
    }
  }
  free(starts);
  free(ends);
  free(next);
  free(stack);
  free(seen);
  return total;
}
