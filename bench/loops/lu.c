typedef struct { double re, im; } C;
static double norm(C z) { return z.re * z.re + z.im * z.im; }
static C mul(C a, C b) {
  C r = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  return r;
}
static C over(C a, C b) {
  double d = norm(b);
  C r = {(a.re * b.re + a.im * b.im) / d, (a.im * b.re - a.re * b.im) / d};
  return r;
}
static double run(long n) {
  C *a = malloc(n * n * sizeof *a);
  long seed = 5;
  for (long i = 0; i < n * n; ++i) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    a[i].re = (double)(seed % 1009) / 1009.0;
    a[i].im = (double)(seed % 887) / 887.0;
  }
  double sign = 1;
  for (long k = 0; k < n; ++k) {
    long pivot = k;
    double most = norm(a[k * n + k]);
    for (long i = k + 1; i < n; ++i)
      if (norm(a[i * n + k]) > most) {
        most = norm(a[i * n + k]);
        pivot = i;
      }
    if (pivot != k) {
      for (long j = 0; j < n; ++j) {
        C t = a[k * n + j];
        a[k * n + j] = a[pivot * n + j];
        a[pivot * n + j] = t;
      }
      sign = -sign;
    }
    for (long i = k + 1; i < n; ++i) {
      C f = over(a[i * n + k], a[k * n + k]);
      a[i * n + k] = f;
      for (long j = k + 1; j < n; ++j) {
        C p = mul(f, a[k * n + j]);
        a[i * n + j].re -= p.re;
        a[i * n + j].im -= p.im;
      }
    }
  }
  double s = 0;
  for (long k = 0; k < n; ++k)
    s += log(norm(a[k * n + k]));
  free(a);
  return sign * s;
}
