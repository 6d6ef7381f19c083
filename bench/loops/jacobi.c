static double run(long n) {
  double *a = malloc(n * n * 8), r = 0;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j)
      a[i * n + j] = 1.0 / (double)(i + j + 1);
  for (int sweep = 0; sweep < 4; ++sweep)
    for (long p = 0; p < n - 1; ++p)
      for (long q = p + 1; q < n; ++q)
        if (fabs(a[p * n + q]) > 1e-12) {
          double theta = (a[q * n + q] - a[p * n + p]) / (2.0 * a[p * n + q]);
          double t = 1.0 / (fabs(theta) + sqrt(theta * theta + 1.0));
          if (theta < 0)
            t = -t;
          double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
          for (long k = 0; k < n; ++k) {
            double x = a[k * n + p], y = a[k * n + q];
            a[k * n + p] = c * x - s * y;
            a[k * n + q] = s * x + c * y;
          }
          for (long k = 0; k < n; ++k) {
            double x = a[p * n + k], y = a[q * n + k];
            a[p * n + k] = c * x - s * y;
            a[q * n + k] = s * x + c * y;
          }
        }
  for (long i = 0; i < n; ++i)
    r += a[i * n + i] * a[i * n + i];
  free(a);
  return r;
}
