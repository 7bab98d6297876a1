/* The other file: what is made or used here comes from, or gets to, styles.c. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "styles.h"

char *region(size_t n) {
  static char pool[4096];
  if (n > sizeof pool) return NULL;
  return pool;
}
char *checked_region(size_t n) {
  char *found = region(n);
  if (found == NULL) fail("too large");
  return found;
}
struct item *first_match(struct item *from, match wanted, const void *with) {
  while (from) {
    if (wanted(from, with)) break;
    from = from->next;
  }
  return from;
}
int open_log(struct log *log, const char *name) {
  log->level = 1;
  log->file = fopen(name, "a");
  return log->file ? 0 : -1;
}
int launch(struct job *job) {
  puts(job->title);
  return system(job->program); /* BAD 78 */
}
int launch_known(struct job *job) {
  puts(job->title);
  return system(job->program);
}
void *rows_of(const struct record *r) {
  uint32_t bytes = r->count * r->size; /* BAD 190 */
  return malloc(bytes); /* BAD 190 */
}
void *checked_rows_of(const struct record *r) {
  if (r->count > 1024 || r->size > 1024) return NULL;
  uint32_t bytes = r->count * r->size;
  return malloc(bytes);
}
int share(int total, long parts) {
  long each = total / parts; /* BAD 369 */
  return (int)each;
}
int checked_share(int total, long parts) {
  if (parts <= 0) return total;
  return (int)(total / parts);
}
void complain(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  vfprintf(stderr, format, rest); /* BAD 134 */
  va_end(rest);
}
void fail(const char *why) {
  fputs(why, stderr);
  exit(2);
}
int scan_number(const char *text, int *to) {
  char *end;
  long n = strtol(text, &end, 10);
  if (end == text) return 0;
  *to = (int)n;
  return 1;
}
int scan_or_zero(const char *text, int *to) {
  if (!scan_number(text, to)) *to = 0;
  return 1;
}
