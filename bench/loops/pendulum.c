typedef struct { double q1, q2, p1, p2; } State;
static State slope(State s) {
  State d = {s.p1, s.p2, -s.q1 - 0.1 * s.q1 * s.q1 * s.q1 + 0.2 * (s.q2 - s.q1) - 0.01 * s.p1,
             -s.q2 + 0.2 * (s.q1 - s.q2) - 0.01 * s.p2};
  return d;
}
static State moved(State s, State d, double h) {
  State r = {s.q1 + h * d.q1, s.q2 + h * d.q2, s.p1 + h * d.p1, s.p2 + h * d.p2};
  return r;
}
static double run(long n) {
  State s = {1.0, 0.0, 0.0, 0.5};
  double h = 0.01;
  for (long i = 0; i < n; ++i) {
    State a = slope(s), b = slope(moved(s, a, h / 2)), c = slope(moved(s, b, h / 2)), d = slope(moved(s, c, h));
    s = moved(moved(moved(moved(s, a, h / 6), b, h / 3), c, h / 3), d, h / 6);
  }
  return s.q1 + s.q2 + s.p1 + s.p2;
}
