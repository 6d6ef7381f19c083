static double run(long n) {
  long *key = calloc(n, 8), *left = malloc(n * 8), *right = malloc(n * 8), *stack = calloc(n, 8), seed = 11;
  for (long i = 0; i < n; ++i)
    left[i] = right[i] = -1;
  for (long i = 0; i < n; ++i) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    key[i] = seed / 8;
    if (i > 0) {
      long at = 0;
      for (;;)
        if (key[i] < key[at]) {
          if (left[at] < 0) {
            left[at] = i;
            break;
          }
          at = left[at];
        } else {
          if (right[at] < 0) {
            right[at] = i;
            break;
          }
          at = right[at];
        }
    }
  }
  long top = 1, total = 0;
  while (top > 0) {
    long v = stack[--top];
    if (key[v] > 1000000 && key[v] < 200000000)
      total += key[v] % 1000;
    if (left[v] >= 0)
      stack[top++] = left[v];
    if (right[v] >= 0)
      stack[top++] = right[v];
  }
  free(key);
  free(left);
  free(right);
  free(stack);
  return total;
}
