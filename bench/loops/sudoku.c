static int fr(const long *b, long at, long v) {
  long r = at / 9, c = at % 9;
  for (long k = 0; k < 9; ++k) {
    if (b[r * 9 + k] == v || b[k * 9 + c] == v)
      return 0;
    if (b[(r / 3 * 3 + k / 3) * 9 + c / 3 * 3 + k % 3] == v)
      return 0;
  }
  return 1;
}
static int solve(long *b, long at, long *tries) {
  while (at < 81 && b[at] != 0)
    ++at;
  if (at == 81)
    return 1;
  for (long v = 1; v < 10; ++v)
    if (fr(b, at, v)) {
      b[at] = v;
      ++*tries;
      if (solve(b, at + 1, tries))
        return 1;
      b[at] = 0;
    }
  return 0;
}
static double run(long n) {
  long text[81] = {5, 3, 0, 0, 7, 0, 0, 0, 0, 6, 0, 0, 1, 9, 5, 0, 0, 0, 0, 9, 8, 0, 0, 0, 0, 6, 0,
                   8, 0, 0, 0, 6, 0, 0, 0, 3, 4, 0, 0, 8, 0, 3, 0, 0, 1, 7, 0, 0, 0, 2, 0, 0, 0, 6,
                   0, 6, 0, 0, 0, 0, 2, 8, 0, 0, 0, 0, 4, 1, 9, 0, 0, 5, 0, 0, 0, 0, 8, 0, 0, 7, 9},
       b[81], total = 0;
  for (long k = 0; k < n; ++k) {
    memcpy(b, text, sizeof b);
    long t = 0;
    solve(b, 0, &t);
    total += t + b[k % 81];
  }
  return total;
}
