/* Two windows get some events; the handlers run at once, their jobs at the end. */
#include "event.h"

#include <stdio.h>
#include <stdlib.h>

static struct window editor = {.title = "editor"}, clock = {.title = "clock"};

static void complain(struct event *event) {
  fprintf(stderr, "%s: no handler for %d\n", event->target->title, (int)event->kind);
}

static int by_kind(const void *left, const void *right) {
  const struct event *a = left, *b = right;
  return (int)a->kind - (int)b->kind;
}

int main(void) {
  struct event events[] = {
      {CLICK, 0, &editor},
      {KEY, 3, &editor},
      {TIMER, 0, &clock},
  };
  int n_events = sizeof events / sizeof *events;
  on_error(complain);
  qsort(events, n_events, sizeof *events, by_kind);
  for (int i = 0; i < n_events; i++) {
    handler *handle = handler_of(events[i].kind);
    handle(&events[i]);
  }
  run_all();
  return 0;
}
