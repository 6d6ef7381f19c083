static double run(long n) {
  double c[12], total = 0;
  for (long i = 0; i < 12; ++i)
    c[i] = (double)(i * 7 % 5) - 2.0;
  for (long i = 0; i < n; ++i) {
    double x = 0.5 + (double)i / (double)n;
    for (int k = 0; k < 4; ++k) {
      double p = 0, d = 0;
      for (int j = 0; j < 12; ++j) {
        d = d * x + p;
        p = p * x + c[j];
      }
      x -= p / (d + 20.0);
    }
    total += x;
  }
  return total;
}
