static double run(long n) {
  long *st = calloc(n + 1, 8), *col = calloc(3 * n, 8), k = 0;
  double *val = calloc(3 * n, 8);
  for (long i = 0; i < n; i++) {
    if (i > 0) {
      col[k] = i - 1;
      val[k++] = -1;
    }
    col[k] = i;
    val[k++] = 2.5;
    if (i < n - 1) {
      col[k] = i + 1;
      val[k++] = -1;
    }
    st[i + 1] = k;
  }
  double *x = calloc(n, 8), *r = malloc(n * 8), *p = malloc(n * 8), *q = calloc(n, 8), rr = n;
  for (long i = 0; i < n; i++)
    r[i] = p[i] = 1;
  for (int t = 0; t < 30; t++) {
    double pq = 0;
    for (long i = 0; i < n; i++) {
      double s = 0;
      for (long e = st[i]; e < st[i + 1]; e++)
        s += val[e] * p[col[e]];
      q[i] = s;
      pq += p[i] * s;
    }
    double al = rr / pq, nx = 0;
    for (long i = 0; i < n; i++) {
      x[i] += al * p[i];
      r[i] -= al * q[i];
      nx += r[i] * r[i];
    }
    double be = nx / rr;
    for (long i = 0; i < n; i++)
      p[i] = r[i] + be * p[i];
    rr = nx;
  }
  double o = x[n / 2] + sqrt(rr);
  free(st);
  free(col);
  free(val);
  free(x);
  free(r);
  free(p);
  free(q);
  return o;
}
