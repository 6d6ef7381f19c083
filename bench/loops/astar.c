static double run(long n) {
  long *cost = malloc(n * n * 8), *dist = malloc(n * n * 8), *key = calloc(4 * n * n, 8), *node = calloc(4 * n * n, 8);
  for (long i = 0; i < n * n; i++) {
    cost[i] = i * 7919 % 101 % 9 + 1;
    dist[i] = 1000000000;
  }
  long size = 1;
  dist[0] = 0;
  long di[4] = {0, 1, 0, -1}, dj[4] = {1, 0, -1, 0};
  while (size > 0) {
    long top = node[0], d = key[0];
    size--;
    if (size > 0) {
      long k = key[size], v = node[size], p = 0;
      while (2 * p + 1 < size) {
        long c = 2 * p + 1;
        if (c + 1 < size && key[c + 1] < key[c])
          c++;
        if (key[c] >= k)
          break;
        key[p] = key[c];
        node[p] = node[c];
        p = c;
      }
      key[p] = k;
      node[p] = v;
    }
    long i = top / n, j = top % n;
    if (d > dist[i * n + j] + 2 * n - 2 - i - j)
      continue;
    if (i == n - 1 && j == n - 1)
      break;
    for (int q = 0; q < 4; q++) {
      long a = i + di[q], b = j + dj[q];
      if (a < 0 || a >= n || b < 0 || b >= n)
        continue;
      long e = dist[i * n + j] + cost[a * n + b];
      if (e < dist[a * n + b]) {
        dist[a * n + b] = e;
        long k = e + 2 * n - 2 - a - b, p = size++;
        while (p > 0 && key[(p - 1) / 2] > k) {
          key[p] = key[(p - 1) / 2];
          node[p] = node[(p - 1) / 2];
          p = (p - 1) / 2;
        }
        key[p] = k;
        node[p] = a * n + b;
      }
    }
  }
  double r = dist[n * n - 1];
  free(cost);
  free(dist);
  free(key);
  free(node);
  return r;
}
