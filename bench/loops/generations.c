#include <string.h>
static double run(long n) {
  long rule[] = {0, 1, 1, 1, 0, 1, 1, 0}, *row = calloc(n, 8), *next = malloc(n * 8), total = 0;
  row[n / 2] = 1;
  for (long t = 0; t < n; ++t) {
    memset(next, 0, n * 8);
    for (long i = 1; i < n - 1; ++i) next[i] = rule[4 * row[i - 1] + 2 * row[i] + row[i + 1]];
    long *other = row;
    row = next, next = other;
    total += row[n / 3];
  }
  for (long i = 0; i < n; ++i) total += row[i] * i;
  free(row), free(next);
  return total;
}
