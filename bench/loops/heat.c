#include <string.h>
static double run(long n) {
  double *u = calloc(n * n, 8), *v = malloc(n * n * 8);
  u[n / 2 * n + n / 2] = 1000;
  memcpy(v, u, n * n * 8);
  for (int s = 0; s < 20; ++s) {
    for (long i = 1; i < n - 1; ++i)
      for (long j = 1; j < n - 1; ++j)
        v[i * n + j] = u[i * n + j] + 0.2 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] +
                                             u[i * n + j + 1] - 4.0 * u[i * n + j]);
    memcpy(u, v, n * n * 8);
  }
  double r = u[n / 2 * n + n / 2] + u[n / 2 * n + n / 2 + 3];
  free(u);
  free(v);
  return r;
}
