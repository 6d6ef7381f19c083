typedef struct { long child[4], ends; } Node;
static double run(long n) {
  long room = 64, size = 1, seed = 17, s = 0;
  Node fresh = {{-1, -1, -1, -1}, 0}, *t = malloc(room * sizeof(Node));
  t[0] = fresh;
  for (long w = 0; w < n; ++w) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    long x = seed, at = 0;
    for (long k = 0; k < 8; ++k) {
      long c = x % 4; x /= 4;
      if (t[at].child[c] < 0) {
        t[at].child[c] = size;
        if (size == room) t = realloc(t, (room *= 2) * sizeof(Node));
        t[size++] = fresh;
      }
      at = t[at].child[c];
    }
    t[at].ends += 1;
  }
  for (long i = 0; i < size; ++i) s += t[i].ends * (i % 97);
  free(t);
  return s + size;
}
