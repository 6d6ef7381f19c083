static double run(long n) {
  unsigned char *text = malloc(n);
  long a = 1, b = 0, h = 5381;
  for (long i = 0; i < n; ++i)
    text[i] = i * 31 % 251;
  for (long i = 0; i < n; ++i) {
    a = (a + text[i]) % 65521;
    b = (b + a) % 65521;
    h = h * 33 + text[i];
  }
  free(text);
  return (double)(b * 65536 + a) + (double)((h % 1000 + 1000) % 1000);
}
