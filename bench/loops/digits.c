static double run(long n) {
  long s = 0;
  for (long i = 0; i < n; ++i) {
    long x = i, back = 0, sum = 0;
    while (x > 0) {
      long d = x % 10;
      sum += d * d * d;
      back = back * 10 + d;
      x = x / 10;
    }
    if (back == i)
      s += sum;
    if (sum == i)
      s += 1;
  }
  return (double)s;
}
