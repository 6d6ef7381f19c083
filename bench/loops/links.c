static __attribute__((noinline)) double mixed(double *p, const long *link, const double *rest, long D, long M,
                                              long turns) {
  double d[8];
  for (long t = 0; t < turns; ++t)
    for (long e = 0; e < M; ++e) {
      long i = link[2 * e], j = link[2 * e + 1];
      double l = 0;
      for (long k = 0; k < D; ++k) {
        d[k] = p[j * D + k] - p[i * D + k];
        l += d[k] * d[k];
      }
      l = sqrt(l);
      double f = 0.5 * (l - rest[e]) / l;
      for (long k = 0; k < D; ++k) {
        double c = f * d[k];
        p[i * D + k] += c;
        p[j * D + k] -= c;
      }
    }
  double s = 0;
  for (long k = 0; k < D; ++k)
    s += p[k];
  return s + p[D + 1];
}
static double run(long n) {
  long D = 2 + n % 2, link[120];
  double p[160], rest[60];
  for (long i = 0; i < 40 * D; ++i)
    p[i] = i * 37 % 101;
  for (long e = 0; e < 60; ++e) {
    link[2 * e] = e % 40;
    link[2 * e + 1] = (e * 7 + 3 + (e * 7 + 3 == e)) % 40;
    if (link[2 * e] == link[2 * e + 1])
      link[2 * e + 1] = (e + 1) % 40;
    rest[e] = 5.0 + (double)(e % 7);
  }
  return mixed(p, link, rest, D, 60, n);
}
