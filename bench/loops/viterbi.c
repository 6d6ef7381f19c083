static double run(long n) {
  long S = 12;
  double *tr = malloc(8 * S * S), *em = malloc(8 * S * 8), *sc = calloc(n * S, 8);
  long *ob = malloc(8 * n), *bk = calloc(n * S, 8), *pa = calloc(n, 8);
  for (long i = 0; i < S; ++i) {
    for (long j = 0; j < S; ++j)
      tr[i * S + j] = -1.0 - (double)((i * 7 + j * 3) % 11) / 7.0;
    for (long k = 0; k < 8; ++k)
      em[i * 8 + k] = -0.5 - (double)((i * 5 + k * 11) % 13) / 5.0;
  }
  for (long i = 0; i < n; ++i)
    ob[i] = i * 7919 % 10007 % 8;
  for (long s = 0; s < S; ++s)
    sc[s] = em[s * 8 + ob[0]];
  for (long t = 1; t < n; ++t)
    for (long s = 0; s < S; ++s) {
      double best = -INFINITY;
      long from = 0;
      for (long r = 0; r < S; ++r) {
        double v = sc[(t - 1) * S + r] + tr[r * S + s];
        if (v > best) {
          best = v;
          from = r;
        }
      }
      sc[t * S + s] = best + em[s * 8 + ob[t]];
      bk[t * S + s] = from;
    }
  long last = 0;
  for (long s = 1; s < S; ++s)
    if (sc[(n - 1) * S + s] > sc[(n - 1) * S + last])
      last = s;
  pa[n - 1] = last;
  for (long u = 1; u < n; ++u) {
    long t = n - u;
    pa[t - 1] = bk[t * S + pa[t]];
  }
  long total = 0;
  for (long t = 0; t < n; ++t)
    total += pa[t] * (t % 5 + 1);
  double r = total + sc[(n - 1) * S + last];
  free(tr);
  free(em);
  free(sc);
  free(ob);
  free(bk);
  free(pa);
  return r;
}
