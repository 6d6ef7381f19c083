static double run(long n) {
  double *v = malloc(n * sizeof *v);
  long seed = 12345;
  for (long i = 0; i < n; ++i) v[i] = seed = (seed * 1103515245 + 12345) % 2147483648;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n - 1 - i; ++j)
      if (v[j] > v[j + 1]) {
        double t = v[j];
        v[j] = v[j + 1];
        v[j + 1] = t;
      }
  double s = v[0] + v[n / 2] + v[n - 1];
  free(v);
  return s;
}
