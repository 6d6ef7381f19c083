#include <complex.h>
static double run(long n) {
  long total = 0;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      double complex z = (double)i / (double)n * 4.0 - 2.0 + ((double)j / (double)n * 4.0 - 1.99) * I;
      long k = 0;
      while (k < 30) {
        double complex w = z * z, d = (w * z - 1.0) / (3.0 * w);
        z = z - d;
        ++k;
        if (creal(d) * creal(d) + cimag(d) * cimag(d) < 1e-12)
          break;
      }
      total += k;
    }
  return total;
}
