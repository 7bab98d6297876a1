/* Each function stands alone: lengths of strings. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern int unknown(void);
extern void others(void);
char name[8] = "name";

char *copied(const char *s) {
  char *p = malloc(strlen(s) + 1);
  if (p) strcpy(p, s);  // expect: safe bounds
  return p;
}

char *copied_too_short(const char *s) {
  char *p = malloc(strlen(s));
  if (p) strcpy(p, s);  // expect: fails always bounds
  return p;
}

char *copied_later(const char *s) {
  char *p = malloc(strlen(s) + 1);
  others();
  if (p) strcpy(p, s);  // expect: may fail bounds
  return p;
}

int printed(const char *given) {
  char a[16];
  snprintf(a, sizeof a, "%s", given);
  int i;
  for (i = 0; a[i]; i++) continue;  // expect: safe bounds
  assert((unsigned long)i <= strlen(a));  // expect: safe assert
  return i;
}

int not_ended(int n) {
  char a[4] = {'a', 'b', 'c', 'd'};
  a[3] = (char)n;
  int i;
  for (i = 0; a[i]; i++) continue;  // expect: may fail bounds
  return i;
}

void parts(void) {
  char a[8];
  strcpy(a, "abc");  // expect: safe bounds
  assert(strlen(a) == 3);  // expect: safe assert
  strcat(a, "def");  // expect: safe bounds
  assert(strlen(a) == 6);  // expect: safe assert
  a[2] = 0;
  assert(strlen(a) == 2);  // expect: safe assert
  a[2] = 'x';
  assert(strlen(a) >= 3);  // expect: safe assert
  assert(strlen(a) == 6);  // expect: may fail assert
}

void too_much(void) {
  char a[8] = "abcd";
  strcat(a, "efgh");  // expect: fails always bounds
}

int measured_twice(const char *s, int k) {
  char mine[8];
  int n = (int)strlen(s);
  mine[k & 7] = 0;
  assert(n == (int)strlen(s));  // expect: safe assert
  name[k & 7] = 0;
  assert(n == (int)strlen(s));  // expect: may fail assert
  return n + mine[0];
}

void global_strings(int k) {
  assert(strlen(name) <= 7);  // expect: safe assert
  name[k & 3] = 0;
  assert(strlen(name) <= 3);  // expect: safe assert
  others();
  assert(strlen(name) <= 3);  // expect: may fail assert
}

void lines(void) {
  char line[32];
  while (fgets(line, 32, stdin)) assert(strlen(line) <= 31);  // expect: safe assert
  assert(strlen(line) <= 30);  // expect: may fail assert
}

void another_each_time(char **all, int n) {
  unsigned long before = strlen(name);
  for (int i = 0; i < n; i++) {
    const char *s = all[i];
    unsigned long now = strlen(s);
    if (i > 0) assert(now == before);  // expect: may fail assert
    before = now;
  }
}
