static double run(long n) {
  long *g = malloc(n * n * 8), *h = calloc(n * n, 8), *k1 = g, *k2 = h;
  for (long i = 0; i < n * n; ++i)
    g[i] = i * 7 % 5 < 2;
  for (int s = 0; s < 20; ++s) {
    for (long i = 0; i < n; ++i)
      for (long j = 0; j < n; ++j) {
        long c = 0;
        for (long di = -1; di < 2; ++di)
          for (long dj = -1; dj < 2; ++dj)
            if (di != 0 || dj != 0)
              c += g[((i + di + n) % n) * n + (j + dj + n) % n];
        h[i * n + j] = c == 3 || (c == 2 && g[i * n + j] == 1);
      }
    long *t = g;
    g = h;
    h = t;
  }
  double r = 0;
  for (long i = 0; i < n * n; ++i)
    r += g[i];
  free(k1);
  free(k2);
  return r;
}
