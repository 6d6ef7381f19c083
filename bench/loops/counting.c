static double run(long n) {
  long *keys = malloc(n * 8), seed = 3;
  double *values = malloc(n * 8), *sorted = malloc(n * 8), s = 0;
  for (long i = 0; i < n; ++i) {
    seed = (seed * 48271) % 2147483647;
    keys[i] = seed % 1000;
    values[i] = i * 0.5;
  }
  for (int round = 0; round < 10; ++round) {
    long start[1001] = {0};
    for (long i = 0; i < n; ++i)
      start[keys[i] + 1] += 1;
    for (long k = 0; k < 1000; ++k)
      start[k + 1] += start[k];
    for (long i = 0; i < n; ++i) {
      long k = keys[i];
      sorted[start[k]] = values[i];
      start[k] += 1;
    }
    for (long i = 0; i < n; ++i) {
      values[i] = sorted[i] * 0.999 + 1.0;
      keys[i] = (keys[i] * 7 + 3) % 1000;
    }
    s += sorted[n / 3];
  }
  free(keys);
  free(values);
  free(sorted);
  return s;
}
