static double run(long n) {
  unsigned char *text = malloc(n), pattern[24];
  long m = 24, fail[24] = {0}, k = 0, found = 0;
  for (long i = 0; i < n; ++i)
    text[i] = i * i % 7 % 3;
  for (long i = 0; i < m; ++i)
    pattern[i] = text[i + 35];
  for (long i = 1; i < m; ++i) {
    while (k > 0 && pattern[i] != pattern[k])
      k = fail[k - 1];
    if (pattern[i] == pattern[k])
      ++k;
    fail[i] = k;
  }
  k = 0;
  for (long i = 0; i < n; ++i) {
    while (k > 0 && text[i] != pattern[k])
      k = fail[k - 1];
    if (text[i] == pattern[k])
      ++k;
    if (k == m) {
      ++found;
      k = fail[k - 1];
    }
  }
  free(text);
  return (double)found;
}
