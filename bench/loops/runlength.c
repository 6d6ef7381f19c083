static double run(long n) {
  long *x = malloc(n * 8), *values = malloc(n * 8), *lengths = malloc(n * 8), *y = malloc(n * 8), runs = 0;
  for (long i = 0; i < n; ++i) x[i] = i * 7919 % 1009 / 337;
  for (long i = 0, j; i < n; i = j) {
    j = i + 1;
    while (j < n && x[j] == x[i]) ++j;
    values[runs] = x[i];
    lengths[runs] = j - i;
    ++runs;
  }
  long at = 0;
  for (long r = 0; r < runs; ++r)
    for (long k = 0; k < lengths[r]; ++k) y[at++] = values[r];
  long s = runs;
  for (long k = 0; k < n; ++k) s += y[k] * (k % 7);
  free(x), free(values), free(lengths), free(y);
  return s;
}
