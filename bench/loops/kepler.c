typedef struct { double x, y, u, v; } State;
static State slope(State s) {
  double r2 = s.x * s.x + s.y * s.y, r3 = r2 * sqrt(r2);
  return (State){s.u, s.v, -s.x / r3, -s.y / r3};
}
static State moved(State s, State d, double h) {
  return (State){s.x + h * d.x, s.y + h * d.y, s.u + h * d.u, s.v + h * d.v};
}
static double run(long n) {
  State s = {1.0, 0.0, 0.0, 0.9};
  double h = 0.001;
  for (long i = 0; i < n; ++i) {
    State a = slope(s), b = slope(moved(s, a, 0.5 * h)), c = slope(moved(s, b, 0.5 * h)), d = slope(moved(s, c, h));
    s = (State){s.x + h / 6 * (a.x + 2 * b.x + 2 * c.x + d.x), s.y + h / 6 * (a.y + 2 * b.y + 2 * c.y + d.y),
                s.u + h / 6 * (a.u + 2 * b.u + 2 * c.u + d.u), s.v + h / 6 * (a.v + 2 * b.v + 2 * c.v + d.v)};
  }
  return s.x + s.y;
}
