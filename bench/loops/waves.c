typedef struct { float re, im; } Z;
static double run(long n) {
  Z *u = calloc(n, sizeof *u), *v = calloc(n, sizeof *v);
  for (long step = 0; step < 200; ++step) {
    u[step % n].re += 1.0f;
    u[step % n].im += 0.5f;
    for (long i = 1; i < n - 1; ++i) {
      v[i].re += 0.1f * (u[i - 1].re - 2.0f * u[i].re + u[i + 1].re);
      v[i].im += 0.1f * (u[i - 1].im - 2.0f * u[i].im + u[i + 1].im);
    }
    for (long i = 0; i < n; ++i) {
      u[i].re += v[i].re * 0.5f;
      u[i].im += v[i].im * 0.5f;
    }
  }
  double s = 0;
  for (long i = 0; i < n; ++i)
    s += u[i].re * u[i].re + u[i].im * u[i].im;
  free(u);
  free(v);
  return s;
}
