static double run(long n) {
  long code[64], seed = 3, depth = 0, total = 0;
  for (long i = 0; i < 64; ++i) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    if (depth < 2 || (seed / 1024 % 2 == 0 && depth < 8)) { code[i] = seed / 4096 % 9 + 1; depth += 1; }
    else { code[i] = -(seed / 4096 % 4) - 1; depth -= 1; }
  }
  for (long turn = 0; turn < n; ++turn) {
    long *stack = malloc(64 * 8), top = 0;
    for (long i = 0; i < 64; ++i) {
      long c = code[i];
      if (c > 0) stack[top++] = c + turn;
      else {
        long b = stack[--top], a = stack[--top];
        if (c == -1) stack[top++] = a + b;
        else if (c == -2) stack[top++] = a - b;
        else if (c == -3) { long m = a * b % 1000003; stack[top++] = m < 0 ? m + 1000003 : m; }
        else stack[top++] = a > b ? a : b;
      }
    }
    long r = stack[top - 1] % 1000;
    total += r < 0 ? r + 1000 : r;
    free(stack);
  }
  return total;
}
