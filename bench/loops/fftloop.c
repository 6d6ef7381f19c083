typedef struct {
  double re, im;
} Z;
static double run(long n) {
  Z *x = malloc(n * 16);
  for (long i = 0; i < n; ++i)
    x[i] = (Z){i * 7 % 5, 0};
  long j = 0;
  for (long i = 1; i < n; ++i) {
    long bit = n / 2;
    while (j >= bit && bit > 0) {
      j -= bit;
      bit /= 2;
    }
    j += bit;
    if (i < j) {
      Z t = x[i];
      x[i] = x[j];
      x[j] = t;
    }
  }
  for (long len = 2; len <= n; len *= 2) {
    double ang = -2.0 * 3.141592653589793 / (double)len;
    Z wl = {cos(ang), sin(ang)};
    long half = len / 2;
    for (long i = 0; i < n; i += len) {
      Z w = {1, 0};
      for (long k = 0; k < half; ++k) {
        Z u = x[i + k], b = x[i + k + half], v = {b.re * w.re - b.im * w.im, b.re * w.im + b.im * w.re};
        x[i + k] = (Z){u.re + v.re, u.im + v.im};
        x[i + k + half] = (Z){u.re - v.re, u.im - v.im};
        w = (Z){w.re * wl.re - w.im * wl.im, w.re * wl.im + w.im * wl.re};
      }
    }
  }
  double r = hypot(x[1].re, x[1].im) + hypot(x[n / 3].re, x[n / 3].im);
  free(x);
  return r;
}
