static double run(long n) {
  double *l = calloc(n * n, 8), s = 0;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j <= i; ++j) {
      double v = 1.0 / (double)(i + j + 1), p = 0;
      if (i == j) v += 2;
      for (long k = 0; k < j; ++k) p += l[i * n + k] * l[j * n + k];
      v -= p;
      l[i * n + j] = i == j ? sqrt(v) : v / l[j * n + j];
    }
  for (long i = 0; i < n; ++i) s += log(l[i * n + i]);
  free(l);
  return s;
}
