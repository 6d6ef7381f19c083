static double run(long n) {
  long size = 1, distinct = 0, seed = 3, most = 0;
  while (size < 2 * n)
    size *= 2;
  long *keys = malloc(size * 8), *counts = calloc(size, 8);
  for (long i = 0; i < size; ++i)
    keys[i] = -1;
  for (long i = 0; i < 2 * n; ++i) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    long key = seed / 16 % n, at = key * 40503 % size;
    while (keys[at] != -1 && keys[at] != key)
      at = (at + 1) % size;
    if (keys[at] == -1) {
      keys[at] = key;
      ++distinct;
    }
    counts[at] += 1;
  }
  for (long i = 0; i < size; ++i)
    if (counts[i] > most)
      most = counts[i];
  free(keys);
  free(counts);
  return distinct * 100 + most;
}
