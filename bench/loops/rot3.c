typedef struct {
  double v[3][3];
} M;
static M product(M a, M b) {
  M c = {0};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k)
        c.v[i][j] += a.v[i][k] * b.v[k][j];
  return c;
}
static double run(long n) {
  double c = cos(0.01), s = sin(0.01);
  M r = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, x = {{{1, 0, 0}, {0, c, -s}, {0, s, c}}},
    z = {{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
  for (long i = 0; i < n; ++i) {
    r = product(r, x);
    if (i % 3 == 0)
      r = product(z, r);
  }
  return r.v[0][0] + r.v[1][2] * 2.0 + r.v[2][1];
}
