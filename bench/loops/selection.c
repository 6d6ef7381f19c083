static double run(long n) {
  long *a = malloc(n * 8);
  for (long i = 0; i < n; ++i) a[i] = i * 7919 % 10007;
  for (long i = 0; i < n - 1; ++i) {
    long best = i;
    for (long j = i + 1; j < n; ++j)
      if (a[j] < a[best]) best = j;
    long t = a[i];
    a[i] = a[best];
    a[best] = t;
  }
  double s = a[0] + a[n / 2] * 3 + a[n - 1];
  free(a);
  return s;
}
