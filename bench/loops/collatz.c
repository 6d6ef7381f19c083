static double run(long n) {
  long best = 0;
  for (long i = 1; i < n; ++i) {
    long x = i, steps = 0;
    while (x != 1) {
      if (x % 2 == 0)
        x = x / 2;
      else
        x = 3 * x + 1;
      ++steps;
    }
    if (steps > best) best = steps;
  }
  return best;
}
