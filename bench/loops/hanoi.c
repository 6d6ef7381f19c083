static long moves;
static void move(long *p, long m, long *top, long k, long s, long t) {
  if (!k)
    return;
  long u = 3 - s - t;
  move(p, m, top, k - 1, s, u);
  --top[s];
  p[t * m + top[t]] = p[s * m + top[s]];
  ++top[t];
  ++moves;
  move(p, m, top, k - 1, u, t);
}
static double run(long n) {
  long *p = calloc(3 * n, 8), top[3] = {n, 0, 0};
  for (long i = 0; i < n; ++i)
    p[i] = n - i;
  moves = 0;
  move(p, n, top, n, 0, 2);
  double r = (double)(moves + p[2 * n + n - 1]);
  free(p);
  return r;
}
