typedef struct {
  double x, y, z;
} P;
static P step(P p, double h) {
  P q = {10.0 * (p.y - p.x), p.x * (28.0 - p.z) - p.y, p.x * p.y - 8.0 / 3.0 * p.z};
  return (P){p.x + h * q.x, p.y + h * q.y, p.z + h * q.z};
}
static double run(long n) {
  P p = {1, 1, 1};
  for (long i = 0; i < n; ++i)
    p = step(p, 0.001);
  return p.x + p.y + p.z;
}
