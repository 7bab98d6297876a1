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
  strcat(a, "efgh");  // expect: fails always bounds, safe bounds
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

void walk_to_the_end(void) {
  char text[8] = "abc";
  char *p = text;
  while (*p++) {  // expect: safe bounds
  }
  assert(p - text <= 4);  // expect: safe assert
  const char *q;
  for (q = text; *q; q++) {  // expect: safe bounds
  }
  assert(q - text <= 3);  // expect: safe assert
  assert(*q == 0);
}

void walk_too_far(int k) {
  char text[4] = "abc";
  text[3] = (char)k;
  for (char *p = text; *p; p++) {  // expect: may fail bounds
  }
}

int sum_between(void) {
  int cells[8], sum = 0;
  for (int *p = cells; p < cells + 8; p++) *p = 1;  // expect: safe bounds
  for (int *p = cells; p != cells + 8; p++) sum += *p & 1;  // expect: safe bounds
  for (int *p = cells + 7; p >= cells; p--) sum ^= *p;  // expect: safe bounds
  for (int *p = cells; p <= cells + 8; p++) *p = 0;  // expect: may fail bounds
  return sum;
}

void chosen_place(int k) {
  char text[8] = "abcdefg";
  char *p = k > 3 ? text + 1 : k < 0 ? text : 0;
  if (p) p[6] = 'x';  // expect: safe bounds, safe null
  if (p) p[7] = 'x';  // expect: may fail bounds
  *p = 0;             // expect: may fail null
}

void fresh_in_a_loop(int n) {
  char *last = 0;
  for (int k = 1; k < n; k++) {
    char *now = malloc((unsigned)k);
    if (!now) return;
    if (last) last[k - 2] = 1;  // expect: may fail bounds
    now[k - 1] = 1;             // expect: safe bounds
    last = now;
  }
}

void without_an_end(const char *given, int k) {
  char four[4], five[5] = "abcde", six[6];
  strncpy(four, given, 4);
  puts(four);         // expect: may fail bounds
  four[3] = 0;
  puts(four);         // expect: safe bounds
  strncmp(five, given, 5);  // expect: safe bounds
  strncmp(five, given, 6);  // expect: may fail bounds
  memset(six, 'x', 6);
  int at = k & 7;
  six[at] = 0;        // expect: may fail bounds
  printf("%d %.6s", k, six);  // expect: safe bounds
  puts(six);          // expect: safe bounds
  if (strlen(six) == at) puts(six + at);  // expect: safe bounds
  puts(six + (k & 3) + 3);  // expect: may fail bounds
}

void print_without_an_end(void) {
  char five[5] = "abcde";
  printf("%s", five);  // expect: may fail bounds
}

void found_in_a_string(void) {
  char text[12] = "key=value";
  char *end = strchr(text, '=');
  if (!end) return;
  assert(end - text <= 9);  // expect: safe assert
  *end++ = 0;               // expect: safe bounds
  assert(end - text <= 10);  // expect: safe assert
  assert(strlen(text) <= 9);  // expect: safe assert
  assert(end - text <= 7);  // expect: may fail assert
}

char *duplicated(const char *given, int n) {
  char *all = strdup(given), *some = strndup(given, 5);
  if (!all || !some) return 0;
  assert(strlen(all) == strlen(given));  // expect: safe assert
  all[strlen(given)] = 0;                // expect: safe bounds
  assert(strlen(some) <= 5);             // expect: safe assert
  some[n & 15] = 0;                      // expect: may fail bounds
  all[strlen(given) + 1] = 0;            // expect: fails always bounds
  return all;
}

int printed_text(int x, const char *name) {
  char text[16], most[24];
  int n = snprintf(text, sizeof text, "%d", x);
  if (n >= 0) text[n] = 'x';  // expect: safe bounds
  n = snprintf(text, sizeof text, "%s", name);
  if (n >= 0) text[n] = 'x';  // expect: may fail bounds
  n = snprintf(text, sizeof text, "%s", name);
  if (n >= 0 && n < 16) text[n] = 'x';  // expect: safe bounds
  strcpy(text, "abc");
  sprintf(most, "%s%s%d", text, text, x);  // expect: safe bounds
  assert(strlen(most) <= 17);              // expect: safe assert
  sprintf(most, "%s%s%9d%%", text, most, x);  // expect: may fail bounds, safe bounds
  return n;
}

static char form[] = "%d";
void changed_format(int *p) {
  int x = 3;
  printf(form, &x);
  assert(x == 3);  // expect: may fail assert
}

void length_of_a_parameter(char *s, char *t, int n) {
  for (char *p = s; *p; p++) {  // expect: safe bounds, may fail null
    *p = 'x';                   // expect: safe bounds
  }
  if (t[n & 7]) t[0] = 0;  // expect: may fail bounds, safe bounds
}

void in_front_of_a_string(char *s) {
  int n = (int)strlen(s);
  s[-1] = 0;
  assert(n == (int)strlen(s));  // expect: safe assert
  s[1] = 0;
  assert(strlen(s) <= 1);  // expect: safe assert
  s[0] = 'x';
  assert(strlen(s) <= 1);  // expect: may fail assert
}
