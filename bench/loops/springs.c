typedef struct { double x, v, a, m; } Bead;
static double run(long n) {
  Bead *p = malloc(40 * sizeof(Bead));
  for (long i = 0; i < 40; ++i) p[i] = (Bead){(double)i + 0.1 * (double)(i * 7 % 5), 0, 0, 1.0 + 0.1 * (double)(i % 3)};
  double h = 0.01;
  for (long t = 0; t < n; ++t) {
    for (long i = 0; i < 40; ++i) p[i].x = p[i].x + h * p[i].v + 0.5 * h * h * p[i].a;
    for (long i = 0; i < 40; ++i) {
      double f = 0;
      if (i > 0) f -= p[i].x - p[i-1].x - 1.0;
      if (i < 39) f += p[i+1].x - p[i].x - 1.0;
      double a = f / p[i].m;
      p[i].v = p[i].v + 0.5 * h * (p[i].a + a);
      p[i].a = a;
    }
  }
  double s = 0;
  for (long i = 0; i < 40; ++i) s += p[i].x + p[i].v;
  free(p);
  return s;
}
