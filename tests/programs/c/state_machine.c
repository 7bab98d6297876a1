/* States as functions that return the next state, inside a struct; the work is resumed by steps. */
#include <stdio.h>

#include "alias.h"

struct machine;
struct state {
  struct state (*next)(struct machine *);
};
struct machine {
  const char *input;
  int *counter;
  int letters, digits;
};
static struct state in_word(struct machine *m);
static struct state in_number(struct machine *m);

static struct state choose(struct machine *m) {
  if (!*m->input) return (struct state){NULL};
  m->counter = *m->input <= '9' ? &m->digits : &m->letters;
  return (struct state){*m->input <= '9' ? in_number : in_word};
}
static struct state step(struct machine *m) {
  ++*m->counter;
  m->input++;
  return choose(m);
}
static struct state in_word(struct machine *m) { return step(m); }
static struct state in_number(struct machine *m) { return step(m); }

int main(void) {
  struct machine m = {"ab12c", NULL, 0, 0};
  for (struct state s = choose(&m); s.next;) s = s.next(&m);
  MAYALIAS(m.counter, &m.letters);
  MAYALIAS(m.counter, &m.digits);
  NOALIAS(m.counter, &m.input);
  printf("%d %d\n", m.letters, m.digits);
  return m.letters == 3 && m.digits == 2 ? 0 : 1;
}
