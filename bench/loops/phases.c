typedef struct { double re, im; } Complex;
static double run(long n) {
  long m = 64;
  Complex *history = calloc(n * m, 16), turn[64];
  for (long j = 0; j < m; ++j) {
    history[j] = (Complex){1, 0};
    turn[j] = (Complex){cos(0.01 * j), sin(0.01 * j)};
  }
  for (long t = 1; t < n; ++t) {
    Complex *to = history + t * m, *from = to - m;
    for (long j = 0; j < m; ++j)
      to[j] = (Complex){from[j].re * turn[j].re - from[j].im * turn[j].im,
                        from[j].re * turn[j].im + from[j].im * turn[j].re};
    to[0] = (Complex){0.5 * to[m - 1].re, 0.5 * to[m - 1].im};
  }
  double s = 0;
  for (long t = 0; t < n; ++t) s += history[t * m + 5].re + history[t * m + m - 1].im + history[t * m].re;
  free(history);
  return s;
}
