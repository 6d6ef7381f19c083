static long walk(long *grid, const long *word, long r, long c, long k, long n) {
  if (k == 7) return 1;
  if (r < 0 || r >= n || c < 0 || c >= n) return 0;
  if (grid[r * n + c] != word[k]) return 0;
  long letter = grid[r * n + c];
  grid[r * n + c] = -1;
  long found = walk(grid, word, r + 1, c, k + 1, n) + walk(grid, word, r - 1, c, k + 1, n) +
               walk(grid, word, r, c + 1, k + 1, n) + walk(grid, word, r, c - 1, k + 1, n);
  grid[r * n + c] = letter;
  return found;
}
static double run(long n) {
  long *grid = malloc(n * n * 8), word[] = {0, 1, 2, 0, 1, 1, 2}, s = 0;
  for (long i = 0; i < n; ++i) for (long j = 0; j < n; ++j) grid[i * n + j] = (i * 7 + j * 5 + i * j) % 3;
  for (long i = 0; i < n; ++i) for (long j = 0; j < n; ++j) s += walk(grid, word, i, j, 0, n);
  free(grid);
  return s;
}
