#include <string.h>
static double run(long n) {
  float *a = malloc(n * n * n * 4), *b = malloc(n * n * n * 4);
  for (long i = 0; i < n * n * n; ++i)
    a[i] = (float)(i * 31 % 97);
  memcpy(b, a, n * n * n * 4);
#define AT(x, i, j, k) x[((i) * n + (j)) * n + (k)]
  for (int step = 0; step < 4; ++step) {
    for (long i = 1; i < n - 1; ++i)
      for (long j = 1; j < n - 1; ++j)
        for (long k = 1; k < n - 1; ++k)
          AT(b, i, j, k) = AT(a, i, j, k) * 0.4f +
                           0.1f * (AT(a, i - 1, j, k) + AT(a, i + 1, j, k) + AT(a, i, j - 1, k) + AT(a, i, j + 1, k) +
                                   AT(a, i, j, k - 1) + AT(a, i, j, k + 1));
    float *t = a;
    a = b;
    b = t;
  }
  double r = AT(a, 1, 1, 1) + AT(a, n / 2, n / 2, n / 2);
  free(a);
  free(b);
  return r;
}
