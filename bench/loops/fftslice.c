#include <complex.h>
typedef double complex cx;
static void fft(const cx *x, long n, long s, cx *y) {
  if (n < 2) {
    y[0] = x[0];
    return;
  }
  long h = n / 2;
  cx *a = malloc(16 * h), *b = malloc(16 * h);
  fft(x, h, 2 * s, a);
  fft(x + s, h, 2 * s, b);
  for (long k = 0; k < h; ++k) {
    double w = -2.0 * M_PI * (double)k / (double)n, c = cos(w), z = sin(w);
    double br = creal(b[k]), bi = cimag(b[k]);
    double tr = c * br - z * bi, ti = c * bi + z * br;
    double *p = (double *)(y + k), *q = (double *)(y + k + h);
    p[0] = creal(a[k]) + tr;
    p[1] = cimag(a[k]) + ti;
    q[0] = creal(a[k]) - tr;
    q[1] = cimag(a[k]) - ti;
  }
  free(a);
  free(b);
}
static double run(long n) {
  cx *x = malloc(16 * n), *y = malloc(16 * n);
  for (long i = 0; i < n; ++i)
    x[i] = i * 7919 % 10007;
  fft(x, n, 1, y);
  double r = creal(y[1]) + cimag(y[n / 2 - 3]);
  free(x);
  free(y);
  return r;
}
