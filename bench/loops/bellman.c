static double run(long n) {
  long m = n * 6, seed = 17, turns = 0;
  long *from = malloc(m * 8), *to = malloc(m * 8);
  double *length = malloc(m * 8), *distance = malloc(n * 8);
  for (long e = 0; e < m; ++e) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    from[e] = seed / 7 % n;
    seed = (seed * 1103515245 + 12345) % 2147483648;
    to[e] = seed / 7 % n;
    length[e] = 1.0 + seed % 100;
  }
  for (long i = 0; i < n; ++i)
    distance[i] = INFINITY;
  distance[0] = 0;
  int changed = 1;
  while (changed && turns < n) {
    changed = 0;
    for (long e = 0; e < m; ++e) {
      double d = distance[from[e]] + length[e];
      if (d < distance[to[e]]) {
        distance[to[e]] = d;
        changed = 1;
      }
    }
    turns += 1;
  }
  double s = turns;
  for (long i = 0; i < n; ++i)
    if (distance[i] < INFINITY)
      s += distance[i];
  free(from);
  free(to);
  free(length);
  free(distance);
  return s;
}
