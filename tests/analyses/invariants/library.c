/* Each function stands alone: what the models of library functions say. */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
extern int unknown(void);

void copies(const char *from, unsigned long n) {
  char to[16];
  memcpy(to, from, 16);  // expect: may fail null, safe bounds, may fail bounds
  memcpy(to, from, 17);  // expect: fails always bounds, may fail bounds
}

void copies_as_many(const char *from, unsigned long n) {
  char to[16];
  if (n <= 16) memcpy(to, from, n);      // expect: safe bounds, may fail bounds
  if (n < 20) memmove(to + 1, from, n);  // expect: may fail bounds
}

void signed_length(const char *from, int n) {
  char to[16];
  if (n <= 16) memcpy(to, from, n);            // expect: may fail bounds
  if (n >= 0 && n <= 16) memcpy(to, from, n);  // expect: safe bounds
}

int too_short_source(int i) {
  char to[16], from[8] = "abc";
  if (i < 0 || i > 7) return 0;
  from[i] = 0;
  memcpy(to, from, 16);  // expect: fails always bounds, safe bounds
  return to[i];
}

int sets(int i) {
  int to[4];
  if (i < 0 || i > 3) return 0;
  memset(to, 0, sizeof to);      // expect: safe bounds
  to[i] = 1;
  memset(to, 0, sizeof to + 1);  // expect: fails always bounds
  return to[i];
}

void heap_is_filled(int n) {
  if (n < 1 || n > 1000) return;
  char *to = malloc(n);
  if (!to) return;
  memset(to, 1, n);         // expect: safe null, safe bounds
  memset(to, 1, n + 1);     // expect: fails always bounds
}

void length(void) {
  char text[10] = "abc";
  text[unknown() & 7] = 0;
  unsigned long n = strlen(text);
  assert(n < 10);         // expect: safe assert
  text[n] = 'x';          // expect: safe bounds
  text[n + 1] = 0;        // expect: safe bounds
}

void length_up_to(const char *text) {
  unsigned long n = strnlen(text, 20);
  char to[21];
  to[n] = 0;  // expect: safe bounds
}

void reads(int file) {
  char to[100];
  long n = read(file, to, sizeof to);  // expect: safe bounds
  if (n < 0) return;
  assert(n <= 100);  // expect: safe assert
  to[n] = 0;         // expect: may fail bounds
}

void reads_one_less(int file) {
  char to[100];
  long n = read(file, to, sizeof to - 1);
  if (n >= 0) to[n] = 0;  // expect: safe bounds
}

void reads_without_test(int file) {
  char to[100];
  long n = read(file, to, 99);
  to[n] = 0;                  // expect: may fail bounds
  n = read(file, to, 101);    // expect: may fail bounds
}

void reads_items(FILE *file) {
  int to[8];
  unsigned long n = fread(to, sizeof(int), 8, file);  // expect: safe bounds
  for (unsigned long i = 0; i < n; i++) to[i]++;      // expect: safe bounds
  fread(to, sizeof(int), 9, file);                    // expect: may fail bounds
}

void reads_a_line(FILE *file) {
  char line[80];
  if (fgets(line, sizeof line, file)) line[79] = 0;  // expect: safe bounds
  fgets(line, 81, file);                             // expect: may fail bounds
}

void line_or_null(FILE *file) {
  char line[8];
  char *p = fgets(line, 8, file);
  *p = 0;          // expect: may fail null, safe bounds
}

void prints(int x) {
  char to[20];
  snprintf(to, sizeof to, "%d", x);      // expect: safe bounds
  snprintf(to, sizeof to + 1, "%d", x);  // expect: may fail bounds
  sprintf(to, "%d", x);                  // expect: safe bounds
  sprintf(to, "x = %10d", x);            // expect: safe bounds
  sprintf(to, "x = %20d", x);            // expect: may fail bounds
}

void prints_texts(const char *text) {
  char to[20];
  sprintf(to, "%s", text);     // expect: may fail bounds
  sprintf(to, "%.19s", text);  // expect: safe bounds
  sprintf(to, "%.20s", text);  // expect: may fail bounds
}

int global;
void printing_changes_nothing(int x) {
  global = 4;
  printf("%d\n", x);
  assert(global == 4);  // expect: safe assert
}

void counting_may(const char *format) {
  global = 4;
  printf("%d%n\n", 1, &global);
  assert(global == 4);  // expect: may fail assert
}

void any_format_may(const char *format) {
  global = 4;
  printf(format, 1, &global);
  assert(global == 4);  // expect: may fail assert
}

void scans(void) {
  int x = 7, y = 8;
  char word[10];
  int n = scanf("%d %9s", &x, word);  // expect: safe bounds
  assert(x == 7);                     // expect: may fail assert
  assert(y == 8);                     // expect: safe assert
  assert(n <= 2);                     // expect: safe assert
  scanf("%10s", word);                // expect: may fail bounds
}

void scans_any_word(void) {
  char word[10];
  scanf("%s", word);  // expect: may fail bounds
}

void scans_too_wide(void) {
  int x;
  scanf("%ld", (long *)&x);  // expect: may fail bounds
}

void characters(void) {
  static int counts[256];
  int c = getchar();
  if (c != EOF) counts[c]++;     // expect: safe bounds
  counts[getchar()] = 1;         // expect: may fail bounds
}

void numbers_by_chance(void) {
  int x = rand();
  assert(x >= 0);  // expect: safe assert
  x = rand() % 6;
  assert(x < 6);   // expect: safe assert
}

void upper(char c) {
  int up = toupper((unsigned char)c);
  assert(up <= 255);  // expect: safe assert
}

void found_inside(void) {
  char text[8] = "abcdefg";
  char *p = strchr(text, 'd');
  if (p) *p = 'x';   // expect: safe bounds
  if (p) p[1] = 'x'; // expect: may fail bounds
}

void pointer_that_was_found(void) {
  char text[2] = {'a', 0};
  text[0] = 'a';
  char *found = strchr(text, 'a');
  if (found) *found = 'b';
  assert(text[0] == 'a');  // expect: may fail assert
}

void kept_pointer(void) {
  char text[4] = "12";
  char *end;
  text[0] = '1';
  strtol(text, &end, 10);
  *end = 'x';
  assert(text[0] == '1');  // expect: may fail assert
}

void copied_text(const char *given) {
  char to[4];
  to[0] = 'a';
  strncpy(to, given, 4);  // expect: safe bounds
  assert(to[0] == 'a');   // expect: may fail assert
  strncpy(to, given, 5);  // expect: fails always bounds
}

void now(void) {
  time_t t = 5;
  time(0);
  assert(t == 5);  // expect: safe assert
  time(&t);
  assert(t == 5);  // expect: may fail assert
}

void zeroed(int i) {
  int *p = calloc(4, sizeof *p);
  if (p && i >= 0 && i < 4) p[i] = 1;  // expect: safe bounds
  if (p) p[4] = 1;                     // expect: fails always bounds
}

void larger(int n) {
  int *p = malloc(4 * sizeof *p);
  int *q = realloc(p, 8 * sizeof *p);
  if (q) q[7] = 1;  // expect: safe bounds
}

void whole_strings(const char *given, const char *format) {
  char to[8], other[4] = "abc";
  strcpy(to, "1234567");                     // expect: safe bounds
  strcpy(to, other);                         // expect: safe bounds
  strcpy(other, to);                         // expect: safe bounds
  strcpy(to, given);                         // expect: may fail bounds
  strcat(to, given);                         // expect: may fail bounds, safe bounds
  sprintf(to, format, 1);                    // expect: may fail bounds
  sprintf(to, "%s", given);                  // expect: may fail bounds
  sprintf(to, "%.7s", given);                // expect: safe bounds
  scanf("%s", to);                           // expect: may fail bounds
}

void whole_strings_of_the_heap(const char *given) {
  char *p = malloc(4), *q = malloc(8);
  if (!p || !q || !given) return;
  memcpy(p, "abc", 4);     // expect: safe bounds
  strcpy(q, p);            // expect: safe bounds
  strcpy(p, q);            // expect: safe bounds
  fwrite(p, 2, 2, stdout);  // expect: safe bounds
  fwrite(q, 2, 5, stdout);  // expect: fails always bounds, safe bounds
}

int streams(const char *name) {
  char to[4];
  FILE *file = fopen(name, "r");
  int n = fgetc(file);                    // expect: may fail null
  n += (int)fread(to, 0, 1, file);        // expect: safe null
  fprintf(stdout, "%d", n);               // expect: safe null
  fclose(file);                           // expect: safe null
  fputs("x", (FILE *)0);                  // expect: fails always null
  return n;
}
