typedef struct { double hares, lynxes; } State;
static State slope(State s) {
  return (State){1.1 * s.hares - 0.4 * s.hares * s.lynxes, 0.1 * s.hares * s.lynxes - 0.4 * s.lynxes};
}
static State moved(State s, State d, double h) { return (State){s.hares + h * d.hares, s.lynxes + h * d.lynxes}; }
static double run(long n) {
  State s = {10, 5};
  double h = 0.001, most = 0;
  for (long i = 0; i < n; ++i) {
    State a = slope(s), b = slope(moved(s, a, 0.5 * h)), c = slope(moved(s, b, 0.5 * h)), d = slope(moved(s, c, h));
    s = (State){s.hares + h / 6.0 * (a.hares + 2.0 * b.hares + 2.0 * c.hares + d.hares),
                s.lynxes + h / 6.0 * (a.lynxes + 2.0 * b.lynxes + 2.0 * c.lynxes + d.lynxes)};
    most = most > s.hares ? most : s.hares;
  }
  return s.hares + s.lynxes + most;
}
