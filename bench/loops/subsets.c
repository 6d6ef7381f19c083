static long ways(const long *numbers, long n, long at, long left) {
  if (left == 0)
    return 1;
  if (left < 0 || at == n)
    return 0;
  return ways(numbers, n, at + 1, left - numbers[at]) + ways(numbers, n, at + 1, left);
}
static double run(long n) {
  long numbers[64];
  for (long i = 0; i < n; ++i)
    numbers[i] = i * 3 % 11 + 2;
  return (double)ways(numbers, n, 0, 3 * n);
}
