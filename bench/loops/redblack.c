static double sweep(double *u, const long *hole, long n, long color, double w) {
  double moved = 0;
  for (long i = 1; i < n - 1; ++i)
    for (long j = 1 + (i + color) % 2; j < n - 1; j += 2) {
      if (hole[i * n + j] == 1) continue;
      double d = 0.25 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1]) - u[i * n + j];
      u[i * n + j] += w * d;
      moved = fabs(d) > moved ? fabs(d) : moved;
    }
  return moved;
}
static double run(long n) {
  double *u = calloc(n * n, 8); long *hole = calloc(n * n, 8), turns = 0;
  for (long j = 0; j < n; ++j) { u[j] = 1.0; u[(n - 1) * n + j] = (double)j / n; }
  for (long i = n / 3; i < n / 2; ++i) for (long j = n / 3; j < n / 2; ++j) { hole[i * n + j] = 1; u[i * n + j] = 0.5; }
  for (long t = 0; t < 200; ++t) {
    double a = sweep(u, hole, n, 0, 1.7), b = sweep(u, hole, n, 1, 1.7);
    turns += 1;
    if ((a > b ? a : b) < 1e-4) break;
  }
  double s = turns;
  for (long i = 0; i < n * n; ++i) s += u[i];
  free(u); free(hole);
  return s;
}
