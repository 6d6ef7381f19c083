typedef struct {
  double re, im;
} Z;
static double run(long n) {
  Z *x = malloc(n * 16), *y = malloc(n * 16);
  for (long i = 0; i < n; ++i)
    x[i] = (Z){i % 7, i % 3};
  for (long k = 0; k < n; ++k) {
    double t = -2.0 * 3.141592653589793 * (double)k / (double)n;
    Z s = {0, 0}, w = {cos(t), sin(t)}, z = {1, 0};
    for (long j = 0; j < n; ++j) {
      s = (Z){s.re + (x[j].re * z.re - x[j].im * z.im), s.im + (x[j].re * z.im + x[j].im * z.re)};
      z = (Z){z.re * w.re - z.im * w.im, z.re * w.im + z.im * w.re};
    }
    y[k] = s;
  }
  double r = y[1].re + y[n / 2].im;
  free(x);
  free(y);
  return r;
}
