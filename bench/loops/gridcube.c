static double ***cube(long n) {
  double ***a = malloc(n * sizeof *a);
  for (long i = 0; i < n; ++i) { a[i] = malloc(n * sizeof *a[i]); for (long j = 0; j < n; ++j) { a[i][j] = malloc(n * 8); for (long k = 0; k < n; ++k) a[i][j][k] = (i * 3 + j * 5 + k * 7) % 11; } }
  return a;
}
static double run(long n) {
  double ***a = cube(n), ***b = cube(n);
  for (long t = 0; t < 6; ++t) {
    for (long i = 1; i < n - 1; ++i) for (long j = 1; j < n - 1; ++j) for (long k = 1; k < n - 1; ++k)
      b[i][j][k] = (a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j + 1][k] + a[i][j][k - 1] + a[i][j][k + 1]) / 6.0;
    double ***c = a; a = b; b = c;
  }
  double r = a[n / 2][n / 2][n / 2] + b[1][2][3];
  for (long i = 0; i < n; ++i) { for (long j = 0; j < n; ++j) free(a[i][j]), free(b[i][j]); free(a[i]); free(b[i]); }
  free(a); free(b);
  return r;
}
