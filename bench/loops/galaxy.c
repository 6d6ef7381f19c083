typedef struct { double x, y, z, u, v, w, m; } Body;
static void kick(Body *b, long n, double h) {
  for (long i = 0; i < n; ++i)
    for (long j = i + 1; j < n; ++j) {
      double dx = b[j].x - b[i].x, dy = b[j].y - b[i].y, dz = b[j].z - b[i].z;
      double r = dx * dx + dy * dy + dz * dz + 0.01, f = h / (r * sqrt(r));
      b[i].u += f * b[j].m * dx; b[i].v += f * b[j].m * dy; b[i].w += f * b[j].m * dz;
      b[j].u -= f * b[i].m * dx; b[j].v -= f * b[i].m * dy; b[j].w -= f * b[i].m * dz;
    }
  for (long i = 0; i < n; ++i) { b[i].x += h * b[i].u; b[i].y += h * b[i].v; b[i].z += h * b[i].w; }
}
static double run(long n) {
  Body *b = malloc(32 * sizeof(Body));
  for (long i = 0; i < 32; ++i) b[i] = (Body){i * 7 % 32, i * 11 % 32, i * 13 % 32, 0, 0, 0, 1.0 + i % 3};
  for (long t = 0; t < n; ++t) kick(b, 32, 0.01);
  double e = 0;
  for (long i = 0; i < 32; ++i) e += 0.5 * b[i].m * (b[i].u * b[i].u + b[i].v * b[i].v + b[i].w * b[i].w);
  free(b);
  return e;
}
