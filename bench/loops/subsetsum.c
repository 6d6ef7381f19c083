static long search(const long *w, long N, long at, long left, const long *chosen, long m) {
  if (left == 0) { long s = 1; for (long i = 0; i < m; ++i) s += chosen[i]; return s % 1000; }
  if (at == N || left < 0) return 0;
  long *next = malloc((m + 1) * 8);
  memcpy(next, chosen, m * 8);
  next[m] = at;
  long a = search(w, N, at + 1, left - w[at], next, m + 1);
  free(next);
  return a + search(w, N, at + 1, left, chosen, m);
}
static double run(long n) {
  long *w = malloc(n * 8), none[1];
  for (long i = 0; i < n; ++i) w[i] = 3 + i * 7 % 11;
  double r = search(w, n, 0, 31, none, 0);
  free(w);
  return r;
}
