static long place(long *cols, long row, long n) {
  if (row == n)
    return 1;
  long count = 0;
  for (long c = 0; c < n; ++c) {
    int ok = 1;
    for (long r = 0; r < row; ++r)
      if (cols[r] == c || labs(cols[r] - c) == row - r) {
        ok = 0;
        break;
      }
    if (ok) {
      cols[row] = c;
      count += place(cols, row + 1, n);
    }
  }
  return count;
}
static double run(long n) {
  long c[32];
  return place(c, 0, n);
}
