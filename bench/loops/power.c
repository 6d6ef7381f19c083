static double run(long n) {
  long m = 6 + n % 5;
  double a[100], v[10], w[10], s = 0;
  for (long i = 0; i < m * m; ++i)
    a[i] = (double)(i * 37 % 101) / 101.0;
  for (long i = 0; i < m; ++i)
    v[i] = 1;
  for (long t = 0; t < n; ++t) {
    for (long i = 0; i < m; ++i) {
      double d = 0;
      for (long k = 0; k < m; ++k)
        d += a[i * m + k] * v[k];
      w[i] = d;
    }
    s = 0;
    for (long i = 0; i < m; ++i)
      s += w[i] * w[i];
    s = sqrt(s);
    for (long i = 0; i < m; ++i)
      v[i] = w[i] / s;
  }
  return s + v[0];
}
