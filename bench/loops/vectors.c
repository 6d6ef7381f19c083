static double run(long n) {
  double p[4][3] = {{0.0, 0.0, 0.0}, {1.0, 0.1, 0.0}, {-1.5, 0.3, 0.2}, {0.4, 2.0, -0.3}};
  double v[4][3] = {{0.0, 0.0, 0.0}, {0.0, 1.0, 0.1}, {0.1, -0.8, 0.0}, {-0.7, 0.1, 0.2}};
  double m[] = {1.0, 0.01, 0.02, 0.005};
  for (long step = 0; step < n; ++step) {
    for (int i = 0; i < 4; ++i) {
      double force[3] = {0, 0, 0};
      for (int j = 0; j < 4; ++j)
        if (j != i) {
          double d[3], q[3];
          for (int k = 0; k < 3; ++k) {
            d[k] = p[j][k] - p[i][k];
            q[k] = d[k] * d[k];
          }
          double r2 = q[0] + q[2] + q[1] + 1e-3, f = m[j] / (r2 * sqrt(r2));
          for (int k = 0; k < 3; ++k)
            force[k] += d[k] * f;
        }
      for (int k = 0; k < 3; ++k)
        v[i][k] += 0.001 * force[k];
    }
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 3; ++k)
        p[i][k] += 0.001 * v[i][k];
  }
  double s[3];
  for (int k = 0; k < 3; ++k)
    s[k] = p[0][k] + p[1][k] + p[2][k] + p[3][k];
  return s[0] + s[2] + s[1];
}
