static void smoothed(const float *image, long h, long w, const float *mask, long k, float *out) {
  for (long i = 0; i < h - k + 1; ++i)
    for (long j = 0; j < w - k + 1; ++j) {
      float s = 0;
      for (long a = 0; a < k; ++a)
        for (long b = 0; b < k; ++b)
          s += image[(i + a) * w + j + b] * mask[a * k + b];
      out[(i + k / 2) * w + j + k / 2] = s;
    }
}
static void (*volatile smooth)(const float *, long, long, const float *, long, float *) = smoothed; /* of any size */
static double run(long n) {
  float *image = malloc(n * n * 4), *out = calloc(n * n, 4), mask[49];
  for (long i = 0; i < n * n; ++i)
    image[i] = i % 17;
  for (int i = 0; i < 49; ++i)
    mask[i] = 0.02f;
  smooth(image, n, n, mask, 7, out);
  double s = 0;
  for (long i = 0; i < n * n; ++i)
    s += out[i];
  free(image);
  free(out);
  return s;
}
