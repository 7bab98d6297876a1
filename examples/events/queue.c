/* Jobs left for later: a list of callbacks, each with what it is given. */
#include "event.h"

#include <stdlib.h>

struct entry {
  job *run;
  void *context;
  struct entry *next;
};

static struct entry *first;

void later(job *run, void *context) {
  struct entry *entry = malloc(sizeof *entry);
  if (!entry) abort();
  entry->run = run;
  entry->context = context;
  entry->next = first;
  first = entry;
}

void run_all(void) {
  while (first) {
    struct entry *entry = first;
    first = entry->next;
    entry->run(entry->context);
    free(entry);
  }
}
