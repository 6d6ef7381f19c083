static long col[32], up[64], down[64], count;
static void place(long r, long n) {
  if (r == n) { count += 1; return; }
  for (long c = 0; c < n; ++c)
    if (col[c] == 0 && up[r + c] == 0 && down[r - c + n] == 0) {
      col[c] = up[r + c] = down[r - c + n] = 1;
      place(r + 1, n);
      col[c] = up[r + c] = down[r - c + n] = 0;
    }
}
static double run(long n) { count = 0; place(0, n); return count; }
