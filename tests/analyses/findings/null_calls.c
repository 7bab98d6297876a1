/* Calls through pointers that nothing sets, and calls like them that are fine. */
#include <stdlib.h>

typedef void action(void);

struct plugin {
  action *start, *stop;
};

static int n_runs;
static void run(void) { n_runs++; }

action *never;
static action *hook, *late;
static struct plugin plugins[2];

static void guarded(struct plugin *p) {
  if (p->start)
    p->start();
  if (p->stop != NULL && n_runs > 3) {
    n_runs = 0;
    p->stop(); // expect: points-to/dead-call
  }
  if (hook == NULL)
    return;
  for (int i = 0; i < n_runs; i++)
    hook(); // expect: points-to/dead-call
}

static void set(void) { late = run; }

static action *nothing(void) { return NULL; }

int main(int argc, char **argv) {
  (void)argv;
  action *fresh;
  struct plugin *made = malloc(sizeof *made);
  plugins[0].start = run;
  guarded(&plugins[argc & 1]);
  set();
  late(); /* may be null before set(): only some runs, so nothing is said */
  if (argc == 2)
    never(); // expect: points-to/null-call
  if (argc == 3)
    made->stop(); // expect: points-to/null-call
  if (argc == 4)
    nothing()(); // expect: points-to/null-call
  if (argc == 5)
    fresh(); // expect: points-to/null-call
  if (hook)
    never(); // expect: points-to/null-call
  if (argc == 6)
    ((action *)0x4000)(); /* an address that the program knows better */
  return n_runs;
}
