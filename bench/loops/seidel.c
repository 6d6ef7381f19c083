static double run(long n) {
  double *u = calloc(n * n, 8);
  for (long i = 0; i < n; ++i) {
    u[i] = 1.0;
    u[i * n + n - 1] = 0.5;
  }
  long sweep = 0;
  while (sweep < 40) {
    double change = 0;
    for (long i = 1; i < n - 1; ++i)
      for (long j = 1; j < n - 1; ++j) {
        double v = 0.25 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1]);
        change += fabs(v - u[i * n + j]);
        u[i * n + j] = v;
      }
    ++sweep;
    if (change < 1e-6)
      break;
  }
  double r = u[n / 2 * n + n / 2] + (double)sweep;
  free(u);
  return r;
}
