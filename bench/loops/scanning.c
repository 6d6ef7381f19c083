static double run(long n) {
  unsigned char *text = malloc(n);
  long seed = 5, sum = 0, count = 0, i = 0;
  for (long k = 0; k < n; ++k) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    long c = seed / 65536 % 16;
    text[k] = c < 10 ? 48 + c : c == 10 ? 45 : 32;
  }
  while (i < n) {
    long c = text[i];
    if (c == 32) {
      ++i;
      continue;
    }
    int negative = 0;
    if (c == 45) {
      negative = 1;
      ++i;
    }
    long value = 0;
    while (i < n && text[i] >= 48 && text[i] <= 57) {
      value = value * 10 + text[i] - 48;
      ++i;
    }
    if (negative)
      value = -value;
    sum += value;
    count += 1;
  }
  free(text);
  return (double)sum + (double)count;
}
