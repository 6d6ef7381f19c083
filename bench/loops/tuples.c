static double run(long n) {
  double x = 1, y = 0, u = 0, v = 0.9, a = -1, b = 0, h = 0.001;
  for (long i = 0; i < n; ++i) {
    x += h * u + 0.5 * h * h * a;
    y += h * v + 0.5 * h * h * b;
    double r2 = x * x + y * y, f = -1.0 / (r2 * sqrt(r2)), c = f * x, d = f * y;
    u = u + 0.5 * h * (a + c);
    v = v + 0.5 * h * (b + d);
    a = c;
    b = d;
  }
  return x + y;
}
