static double run(long n) {
  char *picture = malloc(n * n);
  long *label = calloc(n * n, 8), (*stack)[2] = malloc((4 * n * n + 4) * 16), areas = 0, most = 0;
  for (long i = 0; i < n * n; ++i) picture[i] = i * 7919 % 1009 % 5 < 3;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      if (!picture[i * n + j] || label[i * n + j]) continue;
      ++areas;
      stack[0][0] = i, stack[0][1] = j;
      long top = 1, size = 0;
      while (top > 0) {
        --top;
        long a = stack[top][0], b = stack[top][1];
        if (a < 0 || a >= n || b < 0 || b >= n || !picture[a * n + b] || label[a * n + b]) continue;
        label[a * n + b] = areas;
        ++size;
        stack[top][0] = a + 1, stack[top][1] = b;
        stack[top + 1][0] = a - 1, stack[top + 1][1] = b;
        stack[top + 2][0] = a, stack[top + 2][1] = b + 1;
        stack[top + 3][0] = a, stack[top + 3][1] = b - 1;
        top += 4;
      }
      if (size > most) most = size;
    }
  free(picture), free(label), free(stack);
  return areas * 1000 + most;
}
