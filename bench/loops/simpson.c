static double f(double x) { return 1.0 / (1.0 + 25.0 * x * x); }
static double part(double a, double b, double fa, double fm, double fb, double whole, double eps, long depth) {
  double m = (a + b) / 2, fl = f((a + m) / 2), fr = f((m + b) / 2);
  double left = (m - a) / 6 * (fa + 4 * fl + fm), right = (b - m) / 6 * (fm + 4 * fr + fb);
  if (depth == 0 || fabs(left + right - whole) < 15 * eps)
    return left + right + (left + right - whole) / 15;
  return part(a, m, fa, fl, fm, left, eps / 2, depth - 1) + part(m, b, fm, fr, fb, right, eps / 2, depth - 1);
}
static double run(long n) {
  double total = 0;
  for (long i = 0; i < n; ++i) {
    double b = 1.0 + (double)i / (double)n, fa = f(-b), fm = f(0.0);
    total += part(-b, b, fa, fm, fa, b / 3 * (fa + 4 * fm + fa), 1e-9, 20);
  }
  return total;
}
