/* Events, who handles them, and the jobs that handlers leave for later. */
#ifndef EVENT_H
#define EVENT_H

enum kind { KEY, CLICK, TIMER, N_KINDS };

struct window {
  char title[16];
  int n_keys, n_clicks;
};

struct event {
  enum kind kind;
  int value;
  struct window *target;
};

typedef void handler(struct event *event);
typedef void job(void *context);

/* handlers.c: one handler for each kind of event */
handler *handler_of(enum kind kind);
void on_error(handler *handler);

/* queue.c: jobs run once, newest first; whoever asks for one says what it is given */
void later(job *run, void *context);
void run_all(void);

#endif
