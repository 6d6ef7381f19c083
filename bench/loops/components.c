typedef struct { long *at, size, room; } List;
static void add(List *l, long v) {
  if (l->size == l->room) l->at = realloc(l->at, (l->room = l->room ? 2 * l->room : 4) * 8);
  l->at[l->size++] = v;
}
static double run(long n) {
  List *out = calloc(n, sizeof(List)), *into = calloc(n, sizeof(List)), order = {0};
  for (long i = 0; i < n; ++i)
    for (long k = 1; k < 4; ++k) {
      long j = (i * (2 * k + 1) + k * k * 7) % n;
      add(&out[i], j); add(&into[j], i);
    }
  long *seen = calloc(n, 8), *part = malloc(n * 8), parts = 0;
  for (long s = 0; s < n; ++s) {
    if (seen[s]) continue;
    List stack = {0}, place = {0};
    add(&stack, s); add(&place, 0); seen[s] = 1;
    while (stack.size > 0) {
      long u = stack.at[stack.size - 1];
      if (place.at[place.size - 1] < out[u].size) {
        long v = out[u].at[place.at[place.size - 1]++];
        if (!seen[v]) { seen[v] = 1; add(&stack, v); add(&place, 0); }
      } else { add(&order, u); --stack.size; --place.size; }
    }
    free(stack.at); free(place.at);
  }
  for (long i = 0; i < n; ++i) part[i] = -1;
  for (long k = n - 1; k >= 0; --k) {
    long s = order.at[k];
    if (part[s] >= 0) continue;
    List stack = {0};
    add(&stack, s); part[s] = parts;
    while (stack.size > 0) {
      long u = stack.at[--stack.size];
      for (long e = 0; e < into[u].size; ++e) { long v = into[u].at[e]; if (part[v] < 0) { part[v] = parts; add(&stack, v); } }
    }
    free(stack.at);
    ++parts;
  }
  long h = parts;
  for (long i = 0; i < n; ++i) h = (h * 31 + part[i]) % 1000003;
  for (long i = 0; i < n; ++i) { free(out[i].at); free(into[i].at); }
  free(out); free(into); free(order.at); free(seen); free(part);
  return h;
}
