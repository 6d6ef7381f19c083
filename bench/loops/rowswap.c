#include <string.h>
static double run(long n) {
  double *a = malloc(n * n * 8), *t = malloc(n * 8);
  for (long i = 0; i < n * n; ++i) a[i] = i * 31 % 1009;
  long seed = 7;
  for (long k = 0; k < 20 * n; ++k) {
    seed = (seed * 1103515245 + 12345) & 2147483647;
    long i = seed % n, j = seed / 65536 % n;
    memcpy(t, a + i * n, n * 8);
    memmove(a + i * n, a + j * n, n * 8);
    memcpy(a + j * n, t, n * 8);
  }
  double s = 0;
  for (long i = 0; i < n; ++i) s += a[i * n + i] * i;
  free(a), free(t);
  return s;
}
