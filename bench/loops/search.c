static double run(long n) {
  unsigned char word[] = {97, 98, 97, 97, 98, 97, 98}, *text = malloc(n);
  long m = 7, back[7] = {0}, k = 0, found = 0;
  for (long i = 0; i < n; ++i)
    text[i] = i * i / 3 % 2 + 97;
  for (long i = 1; i < m; ++i) {
    while (k > 0 && word[k] != word[i])
      k = back[k - 1];
    if (word[k] == word[i])
      ++k;
    back[i] = k;
  }
  k = 0;
  for (long i = 0; i < n; ++i) {
    while (k > 0 && (k == m || word[k] != text[i]))
      k = back[k - 1];
    if (word[k] == text[i])
      ++k;
    if (k == m)
      found += i % 7 + 1;
  }
  free(text);
  return found;
}
