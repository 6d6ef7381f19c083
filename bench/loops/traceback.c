static double run(long n) {
  long *a = malloc(n * 8), *b = malloc(n * 8), w = n + 1;
  int *cost = calloc(w * w, 4);
  for (long i = 0; i < n; ++i) {
    a[i] = i * 7 % 26;
    b[i] = i * 11 % 23;
  }
  for (long i = 0; i <= n; ++i)
    cost[i * w] = cost[i] = i;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      int best = cost[i * w + j];
      if (a[i] != b[j])
        best += 1;
      if (cost[i * w + j + 1] + 1 < best)
        best = cost[i * w + j + 1] + 1;
      if (cost[(i + 1) * w + j] + 1 < best)
        best = cost[(i + 1) * w + j] + 1;
      cost[(i + 1) * w + j + 1] = best;
    }
  long way = 0, i = n, j = n;
  while (i > 0 && j > 0) {
    if (cost[i * w + j] == cost[(i - 1) * w + j] + 1) {
      --i;
      way = (way * 3 + 1) % 1000003;
    } else if (cost[i * w + j] == cost[i * w + j - 1] + 1) {
      --j;
      way = (way * 3 + 2) % 1000003;
    } else {
      --i;
      --j;
      way = way * 3 % 1000003;
    }
  }
  double r = (double)way + cost[n * w + n];
  free(a);
  free(b);
  free(cost);
  return r;
}
