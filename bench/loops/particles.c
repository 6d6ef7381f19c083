static double run(long n) {
  double *x = malloc(n * 8), *y = malloc(n * 8), *u = malloc(n * 8), *v = malloc(n * 8), h = 0.002, s = 0;
  for (long i = 0; i < n; ++i) {
    double k = i;
    x[i] = k / n, y[i] = 0.5 * k / n + 0.25, u[i] = sin(k), v[i] = cos(k);
  }
  for (long t = 0; t < 200; ++t)
    for (long i = 0; i < n; ++i) {
      x[i] += h * u[i];
      y[i] += h * v[i];
      v[i] -= 9.81 * h;
      if (x[i] < 0 || x[i] > 1) u[i] = -u[i];
      if (y[i] < 0) v[i] = -v[i], y[i] = 0;
    }
  for (long i = 0; i < n; ++i) s += x[i] + 2 * y[i] + 0.01 * v[i];
  free(x), free(y), free(u), free(v);
  return s;
}
