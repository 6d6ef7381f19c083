#define MIN(a, b) ((a) < (b) ? (a) : (b))
static double run(long n) {
  long *a = malloc(n * 8), *b = malloc(n * 8), *p = malloc((n + 1) * 8), *c = calloc(n + 1, 8), *keepp = p, *keepc = c;
  for (long i = 0; i < n; ++i) {
    a[i] = (i * 7 + 3) % 11;
    b[i] = (i * 5 + 1) % 13;
  }
  for (long i = 0; i <= n; ++i)
    p[i] = i;
  for (long i = 0; i < n; ++i) {
    c[0] = i + 1;
    for (long j = 0; j < n; ++j) {
      long x = p[j + 1] + 1, y = c[j] + 1, z = p[j] + (a[i] == b[j] ? 0 : 1), m = MIN(x, y);
      c[j + 1] = MIN(m, z);
    }
    long *t = p;
    p = c;
    c = t;
  }
  double r = p[n];
  free(a);
  free(b);
  free(keepp);
  free(keepc);
  return r;
}
