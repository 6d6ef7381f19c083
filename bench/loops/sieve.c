static double run(long n) {
  unsigned char *a = malloc(n + 1);
  for (long i = 0; i <= n; ++i) a[i] = 1;
  a[0] = a[1] = 0;
  for (long i = 2; i * i <= n; ++i)
    if (a[i])
      for (long j = i * i; j <= n; j += i) a[j] = 0;
  long s = 0;
  for (long i = 0; i <= n; ++i) s += a[i];
  free(a);
  return s;
}
