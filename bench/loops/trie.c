static double run(long n) {
  long room = 64, size = 1, (*child)[8] = malloc(room * 64), *ends = calloc(room, 8), seed = 17, s = 0;
  for (long k = 0; k < 8; ++k) child[0][k] = -1;
  ends[0] = 0;
  for (long w = 0; w < n; ++w) {
    long at = 0;
    seed = (seed * 1103515245 + 12345) % 2147483648;
    long x = seed;
    for (long k = 0; k < 6; ++k) {
      long c = x % 8; x /= 8;
      if (child[at][c] < 0) {
        child[at][c] = size;
        if (size == room) { room *= 2; child = realloc(child, room * 64); ends = realloc(ends, room * 8); }
        for (long j = 0; j < 8; ++j) child[size][j] = -1;
        ends[size++] = 0;
      }
      at = child[at][c];
    }
    ends[at] += 1;
  }
  for (long i = 0; i < size; ++i) s += ends[i] * (i % 97);
  free(child); free(ends);
  return s + size;
}
