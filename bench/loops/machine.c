typedef struct { long reg[8], pc, steps; } Machine;
static void step(Machine *m, const long (*code)[4]) {
  long op = code[m->pc][0], a = code[m->pc][1], b = code[m->pc][2], c = code[m->pc][3];
  m->steps += 1; m->pc += 1;
  if (op == 0) m->reg[a] = b;
  else if (op == 1) m->reg[a] = m->reg[b] + m->reg[c];
  else if (op == 2) { long r = m->reg[b] * m->reg[c] % 1000003; m->reg[a] = r < 0 ? r + 1000003 : r; }
  else if (op == 3) { if (m->reg[a] < m->reg[b]) m->pc = c; }
  else m->reg[a] = m->reg[b] - m->reg[c];
}
static double run(long n) {
  long code[10][4] = {{0, 0, 0, 0}, {0, 1, 1, 0}, {0, 2, 0, 0}, {0, 3, 7, 0}, {1, 2, 2, 1}, {2, 4, 2, 3}, {1, 5, 5, 4}, {4, 6, 5, 2}, {1, 0, 0, 6}, {3, 2, 7, 4}};
  Machine m = {{0}, 0, 0};
  m.reg[7] = n;
  while (m.pc < 10) step(&m, code);
  long r = m.reg[0] % 1000003; if (r < 0) r += 1000003;
  return r + m.reg[5] + m.steps;
}
