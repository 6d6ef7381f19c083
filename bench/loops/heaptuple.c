typedef struct { long d, x, y; } T;
static double run(long n) {
  long *cost = malloc(n*n*8), *dist = malloc(n*n*8);
  for (long i = 0; i < n; ++i) for (long j = 0; j < n; ++j) { cost[i*n+j] = 1 + (i*31+j*17+i*j)%9; dist[i*n+j] = 1000000000; }
  dist[0] = 0;
  long cap = 16, size = 1, done = 0; T *h = malloc(cap*sizeof(T)); h[0] = (T){0,0,0};
  while (size > 0) {
    T f = h[0]; --size; T last = h[size]; long i = 0;
    while (2*i+1 < size) {
      long c = 2*i+1;
      if (c+1 < size && h[c+1].d < h[c].d) ++c;
      if (last.d <= h[c].d) break;
      h[i] = h[c]; i = c;
    }
    if (size > 0) h[i] = last;
    if (f.d > dist[f.x*n+f.y]) continue;
    ++done;
    for (int k = 0; k < 4; ++k) {
      long a = f.x + (k==0) - (k==1), b = f.y + (k==2) - (k==3);
      if (a < 0 || a >= n || b < 0 || b >= n) continue;
      long e = f.d + cost[a*n+b];
      if (e < dist[a*n+b]) {
        dist[a*n+b] = e;
        if (size == cap) h = realloc(h, (cap *= 2)*sizeof(T));
        h[size] = (T){e,a,b};
        long j = size++;
        while (j > 0 && h[(j-1)/2].d > h[j].d) { T t = h[j]; h[j] = h[(j-1)/2]; h[(j-1)/2] = t; j = (j-1)/2; }
      }
    }
  }
  double s = dist[n*n-1] + done;
  free(cost); free(dist); free(h);
  return s;
}
