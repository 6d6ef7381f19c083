typedef struct { double time; long kind, who; } E;
static E *q; static long nq, cap;
static void insert(E e) {
  if (nq == cap) q = realloc(q, (cap *= 2) * sizeof(E));
  q[nq++] = e;
  long i = nq - 1;
  while (i > 0 && q[i - 1].time < q[i].time) { E t = q[i]; q[i] = q[i - 1]; q[i - 1] = t; --i; }
}
static double run(long n) {
  cap = 4; q = malloc(cap * sizeof(E)); nq = 1; q[0] = (E){0, 0, 0};
  long busy[10] = {0}, served = 0, seed = 7; double clock_ = 0;
  for (long t = 0; t < n; ++t) {
    E e = q[--nq];
    clock_ = e.time;
    seed = (seed * 1103515245 + 12345) % 2147483648;
    double dt = (double)(seed % 1000) / 1000.0;
    if (e.kind == 0) {
      insert((E){clock_ + dt, 0, e.who + 1});
      long k = e.who % 10;
      if (!busy[k]) { busy[k] = 1; insert((E){clock_ + 2.0 * dt, 1, k}); }
    } else { busy[e.who] = 0; ++served; }
  }
  free(q);
  return clock_ + served;
}
