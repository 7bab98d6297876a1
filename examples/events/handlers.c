/* What happens on an event: one table of handlers, and a handler that can be exchanged. */
#include "event.h"

#include <stdio.h>

static void redraw(void *context) {
  struct window *window = context;
  printf("%s: %d keys, %d clicks\n", window->title, window->n_keys, window->n_clicks);
}

static void on_key(struct event *event) {
  event->target->n_keys += event->value;
  later(redraw, event->target);
}

static void on_click(struct event *event) {
  event->target->n_clicks++;
  later(redraw, event->target);
}

static void ignore(struct event *event) { (void)event; }

static handler *const table[N_KINDS] = {[KEY] = on_key, [CLICK] = on_click};
static handler *fallback = ignore;

void on_error(handler *handler) { fallback = handler; }

handler *handler_of(enum kind kind) {
  handler *found = table[kind];
  return found ? found : fallback;
}
