typedef struct {
  double v[4];
} State;
static State slope(State s) {
  double r2 = s.v[0] * s.v[0] + s.v[1] * s.v[1], f = -1.0 / (r2 * sqrt(r2));
  return (State){{s.v[2], s.v[3], f * s.v[0], f * s.v[1]}};
}
static State step(State s, double h, State d) {
  for (int i = 0; i < 4; ++i)
    s.v[i] = s.v[i] + h * d.v[i];
  return s;
}
static double run(long n) {
  State s = {{1.0, 0.0, 0.0, 0.9}};
  double h = 0.001;
  for (long i = 0; i < n; ++i) {
    State a = slope(s), b = slope(step(s, h / 2, a)), c = slope(step(s, h / 2, b)), d = slope(step(s, h, c));
    for (int k = 0; k < 4; ++k)
      s.v[k] = s.v[k] + h / 6 * (a.v[k] + 2 * b.v[k] + 2 * c.v[k] + d.v[k]);
  }
  return s.v[0] + s.v[1];
}
