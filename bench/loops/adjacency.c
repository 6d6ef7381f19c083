static double run(long n) {
  long **next = malloc(n * sizeof(long *)), *dist = malloc(n * 8), *q = malloc(n * 8), h = 0, t = 1, s = 0;
  for (long v = 0; v < n; ++v) { next[v] = malloc(24); next[v][0] = (v * 2 + 1) % n; next[v][1] = (v * 3 + 2) % n; next[v][2] = (v + 7) % n; dist[v] = -1; }
  dist[0] = 0; q[0] = 0;
  while (h < t) { long v = q[h++]; for (int k = 0; k < 3; ++k) { long w = next[v][k]; if (dist[w] < 0) { dist[w] = dist[v] + 1; q[t++] = w; } } }
  for (long v = 0; v < n; ++v) { s += dist[v]; free(next[v]); }
  free(next); free(dist); free(q);
  return s;
}
