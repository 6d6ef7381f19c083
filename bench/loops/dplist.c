static double run(long n) {
  long *a = malloc(n * 8), *b = malloc(n * 8), **dp = malloc((n + 1) * sizeof *dp);
  for (long i = 0; i < n; ++i) { a[i] = (i * i * 7 + i * 3) % 26; b[i] = (i * i * 5 + i * 11) % 26; }
  for (long i = 0; i <= n; ++i) { dp[i] = malloc((n + 1) * 8); for (long j = 0; j <= n; ++j) dp[i][j] = 0; }
  for (long i = 1; i <= n; ++i)
    for (long j = 1; j <= n; ++j)
      if (a[i - 1] == b[j - 1]) dp[i][j] = dp[i - 1][j - 1] + 1;
      else dp[i][j] = dp[i - 1][j] > dp[i][j - 1] ? dp[i - 1][j] : dp[i][j - 1];
  double r = dp[n][n];
  for (long i = 0; i <= n; ++i) free(dp[i]);
  free(dp); free(a); free(b);
  return r;
}
