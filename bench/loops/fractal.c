static double run(long n) {
  long s = 0;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      double x = i * 4.0 / n - 2.0, y = j * 4.0 / n - 2.0;
      long k = 0;
      while (k < 30) {
        double a = x * x - y * y, b = x * y + y * x, d = a * a + b * b;
        if (d < 1e-12)
          break;
        double p = a * x - b * y - 1.0, q = a * y + b * x, t = 3.0 * d;
        double u = (p * a + q * b) / t, v = (q * a - p * b) / t;
        x -= u;
        y -= v;
        ++k;
        if (u * u + v * v < 1e-16)
          break;
      }
      s += k;
      if (x > 0)
        ++s;
    }
  return (double)s;
}
