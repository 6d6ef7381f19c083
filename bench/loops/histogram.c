static double run(long n) {
  long h[64] = {0}, *x = malloc(n * sizeof *x);
  for (long i = 0; i < n; ++i) x[i] = i % 64;
  for (int r = 0; r < 20; ++r)
    for (long i = 0; i < n; ++i) h[x[i]] += 1;
  free(x);
  return h[0] + 2 * h[63];
}
