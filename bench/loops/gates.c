typedef struct {
  double re, im;
} Complex;
static Complex sum(Complex a, Complex b) { return (Complex){a.re + b.re, a.im + b.im}; }
static Complex product(Complex a, Complex b) {
  return (Complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
static double run(long n) {
  Complex u[2][2] = {{{1, 0}, {0, 0}}, {{0, 0}, {1, 0}}};
  for (long i = 0; i < n; ++i) {
    double t = (double)(i % 7) * 0.01;
    Complex g[2][2] = {{{1 - t * t, 0}, {0, t}}, {{0, t}, {1 - t * t, 0}}}, p[2][2];
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b) {
        p[a][b] = (Complex){0, 0};
        for (int k = 0; k < 2; ++k)
          p[a][b] = sum(p[a][b], product(g[a][k], u[k][b]));
      }
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b)
        u[a][b] = (Complex){p[a][b].re * 0.9999, p[a][b].im * 0.9999};
  }
  return u[0][0].re + u[0][1].im;
}
