static long distance(const unsigned char *a, long n, const unsigned char *b, long m) {
  long *row = malloc((m + 1) * 8);
  for (long j = 0; j <= m; ++j)
    row[j] = j;
  for (long i = 0; i < n; ++i) {
    long diagonal = row[0];
    row[0] = i + 1;
    for (long j = 0; j < m; ++j) {
      long above = row[j + 1], cost = diagonal;
      if (a[i] != b[j]) {
        cost = above < row[j] ? above : row[j];
        cost = (cost < diagonal ? cost : diagonal) + 1;
      }
      row[j + 1] = cost;
      diagonal = above;
    }
  }
  long r = row[m];
  free(row);
  return r;
}
static double run(long n) {
  unsigned char *a = malloc(n), *b = malloc(n);
  for (long i = 0; i < n; ++i) {
    a[i] = i * 7 % 26 + 97;
    b[i] = i * 11 % 23 + 97;
  }
  double r = distance(a, n, b, n);
  free(a);
  free(b);
  return r;
}
