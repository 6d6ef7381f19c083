static double run(long n) {
  long a[32], c[32] = {0}, count = 0, i = 1;
  for (long k = 0; k < n; ++k)
    a[k] = k;
  while (i < n) {
    if (c[i] < i) {
      long j = i % 2 == 1 ? c[i] : 0, t = a[j];
      a[j] = a[i];
      a[i] = t;
      if (a[0] < a[1] && a[1] < a[2])
        count += a[n - 1];
      c[i] += 1;
      i = 1;
    } else {
      c[i] = 0;
      ++i;
    }
  }
  return count;
}
