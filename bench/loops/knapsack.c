static double run(long n) {
  long *b = calloc(n + 1, 8);
  for (long item = 0; item < 100; ++item) {
    long w = (item * 37) % 91 + 5, v = (item * 53) % 97 + 3;
    for (long c = n; c > w - 1; --c) {
      long t = b[c - w] + v;
      if (t > b[c])
        b[c] = t;
    }
  }
  double r = b[n];
  free(b);
  return r;
}
