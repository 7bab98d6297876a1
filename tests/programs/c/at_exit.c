/* Handlers that run when main has returned, and see what it stored. */
#include <stdio.h>
#include <stdlib.h>

#include "alias.h"

static int *kept;
static struct log {
  const char *lines[4];
  int n;
} log_;

static void note(const char *line) { log_.lines[log_.n++] = line; }
static void last(void) {
  for (int i = 0; i < log_.n; i++) puts(log_.lines[i]);
  if (log_.n != 3 || *kept != 7) _Exit(1);
  free(kept);
}
static void first(void) { note("first"); }

int main(void) {
  if (atexit(last) || atexit(first)) return 1;
  kept = malloc(sizeof *kept);
  if (!kept) return 1;
  *kept = 7;
  NOALIAS(kept, log_.lines[0]);
  note("main");
  note("end");
  return 0;
}
