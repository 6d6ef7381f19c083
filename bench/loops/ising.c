static double run(long n) {
  long *s = malloc(8 * n * n), seed = 12345, up = 0;
  for (long i = 0; i < n * n; ++i)
    s[i] = 1;
  for (int t = 0; t < 20; ++t)
    for (long i = 0; i < n; ++i)
      for (long j = 0; j < n; ++j) {
        long a = i + 1 == n ? 0 : i + 1, b = i ? i - 1 : n - 1, c = j + 1 == n ? 0 : j + 1, d = j ? j - 1 : n - 1;
        long around = s[a * n + j] + s[b * n + j] + s[i * n + c] + s[i * n + d];
        seed = (seed * 1103515245 + 12345) % 2147483648;
        long e = 2 * s[i * n + j] * around;
        if (e <= 0 || (double)seed / 2147483648.0 < exp(-0.5 * (double)e))
          s[i * n + j] = -s[i * n + j];
      }
  for (long i = 0; i < n * n; ++i)
    up += s[i];
  free(s);
  return (double)up + (double)seed;
}
