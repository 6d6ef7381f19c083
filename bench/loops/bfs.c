static double run(long n) {
  char *w = malloc(n * n);
  long *d = malloc(n * n * 8), *qi = calloc(n * n, 8), *qj = calloc(n * n, 8);
  long mi[] = {1, -1, 0, 0}, mj[] = {0, 0, 1, -1};
  for (long i = 0; i < n * n; ++i) {
    w[i] = i * 31 % 7 == 0;
    d[i] = -1;
  }
  long head = 0, tail = 1;
  d[0] = 0;
  while (head < tail) {
    long i = qi[head], j = qj[head];
    ++head;
    for (int k = 0; k < 4; ++k) {
      long a = i + mi[k], b = j + mj[k];
      if (a >= 0 && a < n && b >= 0 && b < n && !w[a * n + b] && d[a * n + b] < 0) {
        d[a * n + b] = d[i * n + j] + 1;
        qi[tail] = a;
        qj[tail] = b;
        ++tail;
      }
    }
  }
  double r = 0;
  for (long i = 0; i < n * n; ++i)
    r += d[i];
  free(w);
  free(d);
  free(qi);
  free(qj);
  return r;
}
