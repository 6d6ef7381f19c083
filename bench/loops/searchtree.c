typedef struct { long key, left, right, count; } Node;
static Node *t; static long size, room;
static void add(long key) {
  if (size == room) t = realloc(t, (room = room ? 2 * room : 16) * sizeof(Node));
  t[size++] = (Node){key, -1, -1, 1};
}
static void insert(long key) {
  if (size == 0) { add(key); return; }
  long at = 0;
  while (1) {
    t[at].count += 1;
    if (key < t[at].key) {
      if (t[at].left < 0) { t[at].left = size; break; }
      at = t[at].left;
    } else {
      if (t[at].right < 0) { t[at].right = size; break; }
      at = t[at].right;
    }
  }
  add(key);
}
typedef struct { long depth, total; } Pair;
static Pair measure(long at) {
  if (at < 0) return (Pair){0, 0};
  Pair a = measure(t[at].left), b = measure(t[at].right);
  return (Pair){1 + (a.depth > b.depth ? a.depth : b.depth), a.total + b.total + t[at].key % 1000 * t[at].count};
}
static double run(long n) {
  long seed = 11;
  t = 0; size = room = 0;
  for (long i = 0; i < n; ++i) { seed = (seed * 1103515245 + 12345) % 2147483648; insert(seed / 8); }
  Pair p = measure(0);
  free(t);
  return p.depth * 1000003 + p.total;
}
