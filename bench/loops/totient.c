static double run(long n) {
  long *least = calloc(n + 1, 8), *phi = malloc((n + 1) * 8), *primes = malloc(n * 8), count = 0, i = 2;
  for (long j = 0; j <= n; ++j)
    phi[j] = 1;
  while (i <= n) {
    if (least[i] == 0) {
      least[i] = i;
      phi[i] = i - 1;
      primes[count++] = i;
    }
    long k = 0;
    while (k < count && primes[k] <= least[i] && primes[k] * i <= n) {
      long p = primes[k];
      least[p * i] = p;
      phi[p * i] = phi[i] * (p == least[i] ? p : p - 1);
      ++k;
    }
    ++i;
  }
  long s = 0;
  for (long j = 1; j <= n; ++j)
    s += phi[j];
  free(least);
  free(phi);
  free(primes);
  return s + count;
}
