static double run(long n) {
  long S = 10;
  double tr[100], em[60], al[10], nx[10], ll = 0;
  for (long i = 0; i < S; ++i) {
    for (long j = 0; j < S; ++j)
      tr[i * S + j] = (1.0 + (double)((i * 7 + j * 3) % 11)) / 60.0;
    for (long k = 0; k < 6; ++k)
      em[i * 6 + k] = (1.0 + (double)((i * 5 + k * 11) % 13)) / 40.0;
    al[i] = 0.1;
  }
  for (long t = 0; t < n; ++t) {
    long o = t * 7919 % 10007 % 6;
    for (long s = 0; s < S; ++s) {
      double sum = 0;
      for (long r = 0; r < S; ++r)
        sum += al[r] * tr[r * S + s];
      nx[s] = sum * em[s * 6 + o];
    }
    double c = 0;
    for (long s = 0; s < S; ++s)
      c += nx[s];
    for (long s = 0; s < S; ++s)
      al[s] = nx[s] / c;
    ll += log(c);
  }
  return ll;
}
