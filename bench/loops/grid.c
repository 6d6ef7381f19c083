static double run(long n) {
  double *cost = malloc(n * n * 8), *dist = malloc(n * n * 8), *keys = calloc(4 * n * n + 4, 8);
  long *places = calloc(4 * n * n + 4, 8), count = 1, dx[] = {1, -1, 0, 0}, dy[] = {0, 0, 1, -1};
  for (long i = 0; i < n * n; ++i) {
    cost[i] = (double)(i * 7919 % 97) + 1.0;
    dist[i] = 1e300;
  }
  dist[0] = 0;
  while (count > 0) {
    double d = keys[0];
    long p = places[0];
    --count;
    double k = keys[count];
    long q = places[count], i = 0;
    while (2 * i + 1 < count) {
      long c = 2 * i + 1;
      if (c + 1 < count && keys[c + 1] < keys[c])
        ++c;
      if (keys[c] >= k)
        break;
      keys[i] = keys[c];
      places[i] = places[c];
      i = c;
    }
    keys[i] = k;
    places[i] = q;
    long x = p / n, y = p % n;
    if (d > dist[x * n + y])
      continue;
    for (long s = 0; s < 4; ++s) {
      long u = x + dx[s], v = y + dy[s];
      if (u >= 0 && u < n && v >= 0 && v < n) {
        double e = d + cost[u * n + v];
        if (e < dist[u * n + v]) {
          dist[u * n + v] = e;
          long j = count++;
          while (j > 0 && keys[(j - 1) / 2] > e) {
            keys[j] = keys[(j - 1) / 2];
            places[j] = places[(j - 1) / 2];
            j = (j - 1) / 2;
          }
          keys[j] = e;
          places[j] = u * n + v;
        }
      }
    }
  }
  double r = dist[n * n - 1];
  free(cost);
  free(dist);
  free(keys);
  free(places);
  return r;
}
