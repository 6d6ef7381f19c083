static double run(long n) {
  long (*edges)[3] = malloc(4 * n * 24), *dist = malloc(n * 8), m = 0, rounds = 0;
  for (long i = 0; i < n; ++i) for (long k = 1; k < 5; ++k) { edges[m][0] = i; edges[m][1] = (i * (k + 1) + 7 * k) % n; edges[m++][2] = 1 + (i * k * 13) % 17; }
  for (long i = 0; i < n; ++i) dist[i] = 1000000000;
  dist[0] = 0;
  for (long t = 0; t < n; ++t) {
    int changed = 0;
    for (long e = 0; e < m; ++e)
      if (dist[edges[e][0]] + edges[e][2] < dist[edges[e][1]]) { dist[edges[e][1]] = dist[edges[e][0]] + edges[e][2]; changed = 1; }
    rounds += 1;
    if (!changed) break;
  }
  long s = rounds;
  for (long i = 0; i < n; ++i) s += dist[i] % 1000000000;
  free(edges); free(dist);
  return s;
}
