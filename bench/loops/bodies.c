struct body {
  double x, y, vx, vy, m;
};
static double run(long n) {
  struct body *all = malloc(8 * sizeof *all);
  for (long i = 0; i < 8; ++i)
    all[i] = (struct body){i, i * i % 7, 0.0, 0.1, i + 1};
  for (long t = 0; t < n; ++t)
    for (long i = 0; i < 8; ++i) {
      struct body b = all[i];
      double ax = 0, ay = 0;
      for (long j = 0; j < 8; ++j)
        if (i != j) {
          double dx = all[j].x - b.x, dy = all[j].y - b.y, r = dx * dx + dy * dy + 0.1, f = all[j].m / (r * sqrt(r));
          ax += dx * f;
          ay += dy * f;
        }
      b.vx += 0.001 * ax;
      b.vy += 0.001 * ay;
      b.x += 0.001 * b.vx;
      b.y += 0.001 * b.vy;
      all[i] = b;
    }
  double r = all[0].x + all[7].vy;
  free(all);
  return r;
}
