/* CWE 369, 457, 476, 561: values that are missing, null, 0, or known. */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "held_out.h"

void bad_476_host(const void *address, char *name, size_t size) {
  struct hostent *found = gethostbyaddr(address, 4, AF_INET);
  strncpy(name, found->h_name, size); /* BAD 476 */
}
void good_476_host(const void *address, char *name, size_t size) {
  struct hostent *found = gethostbyaddr(address, 4, AF_INET);
  if (found == NULL) return;
  strncpy(name, found->h_name, size);
}
int bad_476_environment(void) {
  const char *command = getenv("EDITOR");
  return command[0] == 'v'; /* BAD 476 */
}
int good_476_environment(void) {
  const char *command = getenv("EDITOR");
  if (!command) command = "vi";
  return command[0] == 'v';
}
void bad_476_separator(char *line) {
  char *at = strchr(line, '=');
  *at = 0; /* BAD 476 */
}
void good_476_separator(char *line) {
  char *at = strchr(line, '=');
  if (at != NULL) *at = 0;
}
static struct entry *lookup(struct entry *from, int key) {
  for (struct entry *e = from; e; e = e->next)
    if (e->key == key) return e;
  return NULL;
}
int bad_476_list(struct entry *from, int key) { return lookup(from, key)->count; } /* BAD 476 */
int good_476_list(struct entry *from, int key) {
  struct entry *e = lookup(from, key);
  return e ? e->count : -1;
}

static int average_of(int total, int n) { return total / n; } /* BAD 369 */
static int safe_average(int total, int n) { return n > 0 ? total / n : 0; }
int bad_369_average(const char *text) { return average_of(100, atoi(text)); }
int good_369_average(const char *text) { return safe_average(100, atoi(text)); }
int bad_369_counted(const int *values, int n) {
  int sum = 0, count = 0;
  for (int i = 0; i < n; i++)
    if (values[i] > 0) { sum += values[i]; count++; }
  return sum / count; /* BAD 369 */
}
int good_369_counted(const int *values, int n) {
  int sum = 0, count = 0;
  for (int i = 0; i < n; i++)
    if (values[i] > 0) { sum += values[i]; count++; }
  return count ? sum / count : 0;
}
int bad_369_mode(int mode) {
  int step = 0;
  switch (mode) { case 1: step = 2; break; case 2: step = 4; break; default: break; }
  return 1024 % step; /* BAD 369 */
}
int good_369_mode(int mode) {
  int step = 1;
  switch (mode) { case 1: step = 2; break; case 2: step = 4; break; default: break; }
  return 1024 % step;
}

int bad_457_default(int control, int i) {
  int a, b;
  switch (control) {
    case -1: a = 0; b = 0; break;
    case 0: a = i; b = -i; break;
    case 1: a = i + 5; b = 5 - i; break;
    default: a = -1; a = -1; break;
  }
  return repaint(a, b); /* BAD 457 */
}
int good_457_default(int control, int i) {
  int a, b;
  switch (control) {
    case -1: a = 0; b = 0; break;
    case 0: a = i; b = -i; break;
    case 1: a = i + 5; b = 5 - i; break;
    default: a = -1; b = -1; break;
  }
  return repaint(a, b);
}
void bad_457_text(int i, int error) {
  const char *text;
  if (i != error) text = "Hello World!";
  puts(text); /* BAD 457 */
}
void good_457_text(int i, int error) {
  const char *text = "Done on the first pass";
  if (i != error) text = "Hello World!";
  puts(text);
}
int bad_457_field(int x) {
  struct point p;
  p.x = x;
  if (x > 3) p.y = 1;
  return p.x + p.y; /* BAD 457 */
}
int good_457_field(int x) {
  struct point p;
  p.x = x;
  p.y = x > 3 ? 1 : 0;
  return p.x + p.y;
}
static int parsed(const char *text, int *into) {
  if (*text < '0' || *text > '9') return -1;
  *into = *text - '0';
  return 0;
}
int bad_457_failed(const char *text) {
  int value;
  parsed(text, &value);
  return value; /* BAD 457 */
}
int good_457_failed(const char *text) {
  int value;
  if (parsed(text, &value) < 0) return 0;
  return value;
}

int bad_561_sign(unsigned n) {
  unsigned left = n % 10;
  if (left > 20)
    return repaint(1, 2); /* BAD 561 */
  return (int)left;
}
int good_561_sign(unsigned n) {
  unsigned left = n % 30;
  if (left > 20)
    return repaint(1, 2);
  return (int)left;
}
int bad_561_flag(int n) {
  const char *text = NULL;
  int done = 0;
  if (n > 5) { text = "yes"; done = 1; }
  if (done && text == NULL)
    return repaint(3, n);
  if (n > 5 && n < 4)
    return repaint(4, n); /* BAD 561 */
  return done;
}
int good_561_flag(int n) {
  const char *text = NULL;
  int done = 0;
  if (n > 5) { text = "yes"; done = n > 7; }
  if (done && text == NULL)
    return repaint(3, n);
  if (n > 5 && n < 8)
    return repaint(4, n);
  return done;
}
