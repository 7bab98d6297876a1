/* Faults across functions and files, by structs, callbacks, heap, loops, early exits and goto. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "styles.h"

/* -- 476 */
int bad_476_cleanup(size_t n) {
  int status = -1;
  struct queue *q = malloc(sizeof *q);
  char *text = NULL;
  if (!q) goto out;
  text = malloc(n);
  if (!text) goto out;
  memset(text, 0, n);
  status = 0;
out:
  q->n = 0; /* BAD 476 */
  free(q);
  free(text);
  return status;
}
int good_476_cleanup(size_t n) {
  int status = -1;
  struct queue *q = malloc(sizeof *q);
  char *text = NULL;
  if (!q) goto out;
  text = malloc(n);
  if (!text) goto release;
  memset(text, 0, n);
  status = 0;
release:
  q->n = 0;
  free(q);
out:
  free(text);
  return status;
}
int bad_476_log(const char *name) {
  struct log log;
  open_log(&log, name);
  return fgetc(log.file); /* BAD 476 */
}
int good_476_log(const char *name) {
  struct log log;
  if (open_log(&log, name) < 0) return -1;
  return fgetc(log.file);
}
static int has_id(const struct item *one, const void *id) { return one->id == *(const int *)id; }
int bad_476_callback(struct item *all, int id) {
  struct item *found = first_match(all, has_id, &id);
  return found->weight; /* BAD 476 */
}
int good_476_callback(struct item *all, int id) {
  struct item *found = first_match(all, has_id, &id);
  return found != NULL ? found->weight : 0;
}
int bad_476_empty(int k) {
  struct queue *q = calloc(1, sizeof *q);
  if (!q) return 0;
  q->n = k;
  int got = q->head->weight; /* BAD 476 */
  free(q);
  return got;
}
int good_476_empty(int k) {
  struct item one = {k, 2 * k, "one", 0};
  struct queue *q = calloc(1, sizeof *q);
  if (!q) return 0;
  q->n = k;
  q->head = &one;
  int got = q->head->weight;
  free(q);
  return got;
}
char bad_476_last(const char *path) {
  const char *slash = NULL;
  for (const char *at = path; *at; at++)
    if (*at == '/') slash = at;
  return slash[1]; /* BAD 476 */
}
char good_476_last(const char *path) {
  const char *slash = NULL;
  for (const char *at = path; *at; at++)
    if (*at == '/') slash = at;
  if (!slash) slash = path;
  return slash[0];
}
int bad_476_noticed(size_t n) {
  char *at = region(n);
  if (at == NULL) fputs("no room\n", stderr);
  at[0] = 'x'; /* BAD 476 */
  return at[0];
}
int good_476_noticed(size_t n) {
  char *at = region(n);
  if (at == NULL) fail("no room\n");
  at[0] = 'x';
  return at[0] + checked_region(n)[0];
}

/* -- 78 */
void bad_78_job(void) {
  struct job job = {"true", "environment", launch};
  const char *wanted = getenv("JOB");
  if (wanted) job.program = wanted;
  job.start(&job);
}
void good_78_job(void) {
  struct job job = {"true", "environment", launch_known};
  const char *wanted = getenv("JOB");
  if (wanted && strcmp(wanted, "sync") == 0) job.program = "sync";
  job.start(&job);
}
static void push(struct queue *q, char *label) {
  struct item *one = calloc(1, sizeof *one);
  if (!one) exit(1);
  one->label = label;
  one->next = q->head;
  q->head = one;
}
void bad_78_queue(FILE *in) {
  struct queue q = {0};
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, in) > 0) push(&q, strdup(line));
  for (struct item *one = q.head; one; one = one->next) system(one->label); /* BAD 78 */
  free(line);
}
void good_78_queue(FILE *in) {
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, in) > 0) puts(line);
  const char *steps[] = {"sync", "true"};
  for (int k = 0; k < 2; k++) system(steps[k]);
  free(line);
}
int bad_78_shell(int from) {
  char text[200];
  ssize_t n = read(from, text, sizeof text - 1);
  if (n < 0) return 1;
  text[n] = 0;
  char *words[] = {"sh", "-c", text, NULL};
  return execvp(words[0], words); /* BAD 78 */
}
int good_78_shell(int from) {
  char text[200];
  ssize_t n = read(from, text, sizeof text - 1);
  if (n < 0) return 1;
  char *words[] = {"sh", "-c", n > 3 ? "sync" : "true", NULL};
  return execvp(words[0], words);
}

/* -- 134 */
void bad_134_wrapper(FILE *in) {
  char line[100];
  if (fgets(line, sizeof line, in)) complain(line);
}
static void complain_text(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  vfprintf(stderr, format, rest);
  va_end(rest);
}
void good_134_wrapper(FILE *in) {
  char line[100];
  if (fgets(line, sizeof line, in)) complain_text("%s", line);
}
static struct { char text[128]; int n; } status;
static void note(int from) {
  status.n = (int)read(from, status.text, sizeof status.text - 1);
  if (status.n < 0) status.n = 0;
  status.text[status.n] = 0;
}
void bad_134_status(int from) {
  note(from);
  printf(status.text); /* BAD 134 */
}
void good_134_status(int from) {
  note(from);
  printf("%.*s", status.n, status.text);
}
void bad_134_twice(void) {
  char text[160];
  const char *user = getenv("USER");
  if (user == NULL) user = "nobody";
  snprintf(text, sizeof text, "hello %s\n", user);
  fprintf(stdout, text); /* BAD 134 */
}
void good_134_twice(void) {
  char text[160];
  const char *user = getenv("USER");
  if (user == NULL) user = "nobody";
  snprintf(text, sizeof text, "hello %zu\n", strlen(user));
  fprintf(stdout, "%s", text);
}

/* -- 190 */
void *bad_190_shift(FILE *in) {
  unsigned n;
  if (fscanf(in, "%u", &n) != 1) return NULL;
  return malloc(n << 4); /* BAD 190 */
}
void *good_190_shift(FILE *in) {
  unsigned n;
  if (fscanf(in, "%u", &n) != 1) return NULL;
  if (n >= 1u << 20) return NULL;
  return malloc(n << 4);
}
void *bad_190_record(FILE *in) {
  struct record r;
  return fread(&r, sizeof r, 1, in) == 1 ? rows_of(&r) : NULL;
}
void *good_190_record(FILE *in) {
  struct record r;
  return fread(&r, sizeof r, 1, in) == 1 ? checked_rows_of(&r) : NULL;
}
void *bad_190_header(int from) {
  uint16_t n;
  if (read(from, &n, sizeof n) != sizeof n) return NULL;
  uint16_t total = n + 12; /* BAD 190 */
  return malloc(total);
}
void *good_190_header(int from) {
  uint16_t n;
  if (read(from, &n, sizeof n) != sizeof n) return NULL;
  uint32_t total = n + 12u;
  return malloc(total);
}
void *bad_190_wide(const char *text) {
  size_t n = strtoul(text, NULL, 10);
  struct item *all = malloc(n * sizeof *all); /* BAD 190 */
  return all;
}
void *good_190_wide(const char *text) {
  size_t n = strtoul(text, NULL, 10);
  if (n > (1u << 28) / sizeof(struct item)) return NULL;
  struct item *all = malloc(n * sizeof *all);
  return all;
}

/* -- 369 */
static struct grid *new_grid(unsigned width) {
  struct grid *g = calloc(1, sizeof *g);
  if (!g) exit(1);
  g->width = width;
  return g;
}
unsigned bad_369_grid(unsigned x) {
  struct grid *g = new_grid(x);
  unsigned place = x % g->cell; /* BAD 369 */
  free(g);
  return place;
}
unsigned good_369_grid(unsigned x) {
  struct grid *g = new_grid(x);
  g->cell = 8;
  unsigned place = x % g->cell;
  free(g);
  return place;
}
int bad_369_countdown(int total) {
  int sum = 0;
  for (int n = 4; n >= 0; n--) sum += total / n; /* BAD 369 */
  return sum; /* BAD 561 */
}
int good_369_countdown(int total) {
  int sum = 0;
  for (int n = 4; n > 0; n--) sum += total / n;
  return sum;
}
static int per_unit(char unit) {
  switch (unit) {
    case 'k': return 1000;
    case 'm': return 1000000;
    default: return 0;
  }
}
int bad_369_unit(int n, char unit) { return n / per_unit(unit); } /* BAD 369 */
int good_369_unit(int n, char unit) {
  int by = per_unit(unit);
  return by ? n / by : n;
}
int bad_369_parts(int total) {
  const char *text = getenv("PARTS");
  return text ? share(total, strtol(text, NULL, 10)) : total;
}
int good_369_parts(int total) {
  const char *text = getenv("PARTS");
  return text ? checked_share(total, strtol(text, NULL, 10)) : total;
}

/* -- 457 */
enum colour { RED, GREEN, BLUE };
int bad_457_switch(enum colour c) {
  int code;
  switch (c) {
    case RED: code = 10; break;
    case GREEN: code = 20; break;
    case BLUE: break;
  }
  return code + 1; /* BAD 457 */
}
int good_457_switch(enum colour c) {
  int code;
  switch (c) {
    case RED: code = 10; break;
    case GREEN: code = 20; break;
    default: code = 0;
  }
  return code + 1;
}
int bad_457_scan(const char *text) {
  int n;
  scan_number(text, &n);
  return n; /* BAD 457 */
}
int good_457_scan(const char *text) {
  int n, m;
  scan_or_zero(text, &n);
  if (!scan_number(text, &m)) return n;
  return n + m;
}
int bad_457_goto(int k) {
  struct { int a, b; } pair;
  if (k > 3) goto done;
  pair.a = k;
  pair.b = 2 * k;
done:
  return pair.a; /* BAD 457 */
}
int good_457_goto(int k) {
  struct { int a, b; } pair;
  pair.a = 0;
  if (k > 3) goto done;
  pair.b = 2 * k;
  pair.a = pair.b;
done:
  return pair.a;
}
int bad_457_loop(const int *values, int n) {
  int best;
  for (int i = 0; i < n; i++)
    if (values[i] > 9) best = i;
  return best; /* BAD 457 */
}
int good_457_loop(const int *values, int n) {
  int best = -1;
  for (int i = 0; i < n; i++)
    if (values[i] > 9) best = i;
  return best;
}

/* -- 561 */
static int verbose;
static int depth;
int bad_561_option(int n) {
  if (verbose)
    n = printf("%d\n", n); /* BAD 561 */
  return n;
}
int good_561_option(int n) {
  depth = n;
  if (depth)
    n = printf("%d\n", n);
  return n;
}
int bad_561_bits(unsigned n) {
  unsigned low = n & 7;
  if (low == 8)
    return puts("eight"); /* BAD 561 */
  return (int)low;
}
int good_561_bits(unsigned n) {
  unsigned low = n & 15;
  if (low == 8)
    return puts("eight");
  return (int)low;
}
int bad_561_failed(int n) {
  if (n < 0) {
    fail("negative");
    puts("not here"); /* BAD 561 */
  }
  return n;
}
int good_561_failed(int n) {
  if (n < 0) {
    puts("here");
    fail("negative");
  }
  return n;
}

int styles(int argc, char **argv) {
  const char *text = argc > 1 ? argv[1] : "1";
  int k = rand(), values[3] = {rand(), rand(), rand()}, sum = 0;
  struct item last = {rand(), 1, 0, 0}, all = {rand(), 2, 0, &last};
  sum += bad_476_cleanup(k) + good_476_cleanup(k) + bad_476_log(text) + good_476_log(text);
  sum += bad_476_callback(&all, k) + good_476_callback(&all, k);
  sum += bad_476_empty(k) + good_476_empty(k) + bad_476_last(text) + good_476_last(text);
  sum += bad_476_noticed(k) + good_476_noticed(k);
  sum += bad_476_method(k) + good_476_method(k);
  bad_78_job();
  good_78_job();
  bad_78_queue(stdin);
  good_78_queue(stdin);
  sum += bad_78_shell(k) + good_78_shell(k);
  bad_78_string(text);
  good_78_string(text);
  bad_134_wrapper(stdin);
  good_134_wrapper(stdin);
  bad_134_status(k);
  good_134_status(k);
  bad_134_twice();
  good_134_twice();
  free(bad_190_shift(stdin));
  free(good_190_shift(stdin));
  free(bad_190_record(stdin));
  free(good_190_record(stdin));
  free(bad_190_header(k));
  free(good_190_header(k));
  free(bad_190_wide(text));
  free(good_190_wide(text));
  sum += bad_369_grid(k) + good_369_grid(k) + bad_369_countdown(k) + good_369_countdown(k);
  sum += bad_369_unit(k, *text) + good_369_unit(k, *text) + bad_369_parts(k) + good_369_parts(k);
  sum += bad_369_method(text) + good_369_method(text);
  sum += bad_457_switch(k % 3) + good_457_switch(k % 3) + bad_457_scan(text) + good_457_scan(text);
  sum += bad_457_goto(k) + good_457_goto(k) + bad_457_loop(values, 3) + good_457_loop(values, 3);
  sum += bad_457_member(k) + good_457_member(k);
  sum += bad_561_option(k) + good_561_option(k) + bad_561_bits(k) + good_561_bits(k);
  sum += bad_561_failed(k) + good_561_failed(k);
  return sum;
}
