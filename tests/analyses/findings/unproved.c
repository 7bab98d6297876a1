/* Checks that are not proved, one of them silenced. */
int table[4];

int read_any(int i) {
  return table[i]; // expect: invariants/may-fail
}

int read_beyond(void) {
  int i = 4;
  return table[i]; // expect: invariants/fails
}

int read_trusted(int i) {
  return table[i]; // kleene: ignore[invariants/may-fail] callers know
}

int read_first(void) {
  return table[0];
}

struct link { struct link *next; int value; };

int second_value(struct link *first) {
  if (!first || !first->next) return 0;  // expect: invariants/unknown-pointer
  return 0;
}
