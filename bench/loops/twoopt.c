static double far(const double *x, const double *y, long a, long b) { return sqrt((x[a] - x[b]) * (x[a] - x[b]) + (y[a] - y[b]) * (y[a] - y[b])); }
static double run(long n) {
  double *x = malloc(n * 8), *y = malloc(n * 8), s = 0; long *tour = malloc(n * 8);
  for (long i = 0; i < n; ++i) { x[i] = i * 7919 % 1009; y[i] = i * 6113 % 997; tour[i] = i; }
  int better = 1; long turns = 0;
  while (better && turns < 20) {
    better = 0; turns += 1;
    for (long i = 0; i < n - 2; ++i)
      for (long j = i + 2; j < n - (i == 0); ++j) {
        long a = tour[i], b = tour[i + 1], c = tour[j], d = tour[(j + 1) % n];
        if (far(x, y, a, c) + far(x, y, b, d) < far(x, y, a, b) + far(x, y, c, d) - 1e-9) {
          long l = i + 1, r = j;
          while (l < r) { long t = tour[l]; tour[l] = tour[r]; tour[r] = t; l += 1; r -= 1; }
          better = 1;
        }
      }
  }
  for (long i = 0; i < n; ++i) s += far(x, y, tour[i], tour[(i + 1) % n]);
  free(x); free(y); free(tour);
  return s + turns;
}
