static double run(long n) {
  double *a = malloc((n + 1) * 8), *x = malloc(n * 8), *y = malloc(n * 8);
  for (long i = 0; i <= n; i++)
    a[i] = 1.0 / (double)(1 + i * i % 7);
  a[n] = 1;
  double p = 1, q = 0;
  for (long i = 0; i < n; i++) {
    x[i] = p;
    y[i] = q;
    double t = p * 0.4 - q * 0.9;
    q = p * 0.9 + q * 0.4;
    p = t;
  }
  for (int t = 0; t < 30; t++)
    for (long i = 0; i < n; i++) {
      double nr = a[n], ni = 0;
      for (long k = n - 1; k >= 0; k--) {
        double u = nr * x[i] - ni * y[i] + a[k];
        ni = nr * y[i] + ni * x[i];
        nr = u;
      }
      double dr = 1, di = 0;
      for (long j = 0; j < n; j++)
        if (j != i) {
          double ur = x[i] - x[j], ui = y[i] - y[j], v = dr * ur - di * ui;
          di = dr * ui + di * ur;
          dr = v;
        }
      double m = dr * dr + di * di;
      x[i] -= (nr * dr + ni * di) / m;
      y[i] -= (ni * dr - nr * di) / m;
    }
  double s = 0;
  for (long i = 0; i < n; i++)
    s += x[i] * x[i] + y[i] * y[i];
  free(a);
  free(x);
  free(y);
  return s;
}
