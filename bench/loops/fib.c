static long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static double run(long n) { return fib(n); }
