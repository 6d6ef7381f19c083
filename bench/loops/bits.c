static double run(long n) {
  long total = 0;
  for (long i = 0; i < n; ++i) {
    long x = i, count = 0, reversed = 0, gray = 0, place = 1;
    while (x > 0) {
      long bit = x % 2;
      count += bit;
      reversed = reversed * 2 + bit;
      x = x / 2;
      if (bit != x % 2)
        gray += place;
      place *= 2;
    }
    total += count * 3 + reversed + gray;
  }
  return total;
}
