static double scene(double x, double y, double z) {
  double a = sqrt(x * x + y * y + z * z) - 1.0, b = y + 1.0;
  return a < b ? a : b;
}
static double march(const double *o, const double *d) {
  double t = 0;
  for (int k = 0; k < 64; ++k) {
    double h = scene(o[0] + t * d[0], o[1] + t * d[1], o[2] + t * d[2]);
    if (h < 1e-3)
      return t;
    t += h;
    if (t > 20)
      break;
  }
  return -1;
}
static double run(long n) {
  double total = 0, o[3] = {0, 0.2, -3};
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      double d[3] = {2.0 * (double)j / (double)n - 1.0, 1.0 - 2.0 * (double)i / (double)n, 1.5};
      double l = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      d[0] /= l;
      d[1] /= l;
      d[2] /= l;
      double t = march(o, d);
      if (t > 0)
        total += 1.0 / (1.0 + t);
    }
  return total;
}
