static double run(long n) {
  long count = 0;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      double cr = -2.0 + 3.0 * (double)j / (double)n, ci = -1.5 + 3.0 * (double)i / (double)n, zr = 0, zi = 0;
      long k = 0;
      while (k < 200 && zr * zr + zi * zi <= 4.0) {
        double t = zr * zr - zi * zi + cr;
        zi = zr * zi + zi * zr + ci;
        zr = t;
        ++k;
      }
      count += k;
    }
  return count;
}
