static __attribute__((noinline)) double train(const double *x, const double *t, double *w, double *v, long N, long D,
                                              long H, long turns) {
  double loss = 0, h[16], g[16];
  for (long e = 0; e < turns; ++e) {
    loss = 0;
    for (long i = 0; i < N; ++i) {
      double y = 0;
      for (long a = 0; a < H; ++a) {
        double s = 0;
        for (long b = 0; b < D; ++b)
          s += w[a * D + b] * x[i * D + b];
        h[a] = s > 0 ? s : 0;
        y += v[a] * h[a];
      }
      y -= t[i];
      loss += y * y;
      for (long a = 0; a < H; ++a) {
        g[a] = v[a] * y * (h[a] > 0);
        v[a] = v[a] - 0.01 * y * h[a];
      }
      for (long a = 0; a < H; ++a)
        for (long b = 0; b < D; ++b)
          w[a * D + b] -= 0.01 * g[a] * x[i * D + b];
    }
  }
  return loss + w[0] + v[0];
}
static double run(long n) {
  long d = 3 + n % 3, h = 5 + n % 4;
  double *x = malloc(8 * n * d), *t = malloc(8 * n), w[64], v[16];
  for (long i = 0; i < n * d; ++i)
    x[i] = (double)(i * 7919 % 1009) / 1009.0;
  for (long i = 0; i < n; ++i)
    t[i] = sin((double)i);
  for (long i = 0; i < h * d; ++i)
    w[i] = (double)(i * 37 % 101) / 101.0 - 0.5;
  for (long i = 0; i < h; ++i)
    v[i] = 0.1;
  double r = train(x, t, w, v, n, d, h, 5);
  free(x);
  free(t);
  return r;
}
