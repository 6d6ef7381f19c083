static long **step(long **g, long n) {
  long **out = malloc(n * sizeof *out);
  for (long y = 0; y < n; ++y) {
    out[y] = malloc(n * 8);
    for (long x = 0; x < n; ++x) {
      long c = 0;
      for (long dy = -1; dy < 2; ++dy) for (long dx = -1; dx < 2; ++dx)
        if (dy != 0 || dx != 0) c += g[(y + dy + n) % n][(x + dx + n) % n];
      out[y][x] = c == 3 || (c == 2 && g[y][x] == 1);
    }
  }
  for (long y = 0; y < n; ++y) free(g[y]);
  free(g);
  return out;
}
static double run(long n) {
  long **g = malloc(n * sizeof *g);
  for (long y = 0; y < n; ++y) { g[y] = malloc(n * 8); for (long x = 0; x < n; ++x) g[y][x] = (x * 7 + y * 13 + x * y) % 3 == 0; }
  for (long t = 0; t < 10; ++t) g = step(g, n);
  long s = 0;
  for (long y = 0; y < n; ++y) for (long x = 0; x < n; ++x) s += g[y][x] * (x + y);
  for (long y = 0; y < n; ++y) free(g[y]);
  free(g);
  return s;
}
