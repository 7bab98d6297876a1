/* Each function stands alone: what was written, what is freed, and what arrays hold. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern int unknown(void);

int all_written(int at) {
  int a[10];
  for (int i = 0; i < 10; i++) a[i] = i * 2;
  if (at < 0 || at > 9) return 0;
  int x = a[at];               // expect: safe uninitialised
  assert(x >= 0 && x <= 18);   // expect: safe assert
  assert(x <= 17);             // expect: may fail assert
  return x;
}

int written_up_to(int n) {
  int a[10];
  if (n < 1 || n > 10) return 0;
  for (int i = 0; i < n; i++) a[i] = 7;
  assert(a[n - 1] == 7);  // expect: safe uninitialised, safe assert
  return a[0];            // expect: safe uninitialised
}

int one_too_few(int n) {
  int a[10];
  if (n < 1 || n > 9) return 0;
  for (int i = 0; i < n; i++) a[i] = 1;
  return a[n];  // expect: safe bounds, may fail uninitialised
}

int never_written(int at) {
  int a[4];
  return a[at & 3];  // expect: may fail uninitialised
}

int written_by_memset(int at) {
  int a[4];
  memset(a, 0, sizeof a);
  int x = a[at & 3];  // expect: safe uninitialised
  assert(x == 0);     // expect: safe assert
  a[at & 3] = 5;
  x = a[(at + 1u) & 3];
  assert(x >= 0 && x <= 5);  // expect: safe assert
  return x;
}

int written_in_part(int at) {
  int a[4];
  memset(a, 0, 2 * sizeof(int));
  return a[at & 3];  // expect: may fail uninitialised
}

int read_from_a_file(int file) {
  char a[64];
  long n = read(file, a, sizeof a);
  int sum = 0;
  for (long i = 0; i < n; i++) sum ^= a[i];  // expect: safe uninitialised
  return sum;
}

int read_too_much_of_a_file(int file) {
  char a[64];
  long n = read(file, a, sizeof a);
  int sum = 0;
  for (long i = 0; i <= n && i < 64; i++) sum ^= a[i];  // expect: may fail uninitialised
  return sum;
}

int zeros(int at) {
  int *a = calloc(8, sizeof *a);
  if (!a) return 0;
  int x = a[at & 7];  // expect: safe uninitialised
  assert(x == 0);     // expect: safe assert
  free(a);            // expect: safe freed
  return x;
}

int heap_without_value(int at) {
  int *a = malloc(8 * sizeof *a);
  if (!a) return 0;
  a[0] = 1;
  return a[at & 7];  // expect: may fail uninitialised
}

int no_value(int c) {
  int x, y = 1;
  if (c) x = unknown() & 3;
  if (c) y = 2;
  return x * y;  // expect: may fail uninitialised
}

int value_by_flag(int c) {
  int x = 0, has = 0;
  if (c) { x = unknown() & 3; has = 1; }
  return has ? x + 1 : 0;  // expect: safe overflow
}

static const int table[6] = {2, 3, 5, 7, 11, 13};
static const struct { char c; short n; } rows[3] = {{'a', 10}, {'b', 20}, {'c', 30}};
static const char word[] = "hello";

int constant_tables(unsigned at) {
  int x = table[at % 6];
  assert(x >= 2 && x <= 13);  // expect: safe assert
  assert(x != 4 || x == 4);
  x = rows[at % 3].n;
  assert(x >= 10 && x <= 30);  // expect: safe assert
  x = word[at % 6];
  assert(x >= 0 && x <= 'o');  // expect: safe assert
  return 100 / table[at % 6];  // expect: safe division
}

int used_after_free(void) {
  int *p = malloc(sizeof *p);
  if (!p) return 0;
  *p = 3;     // expect: safe freed
  free(p);    // expect: safe freed
  return *p;  // expect: fails always freed
}

void freed_twice(int c) {
  int *p = malloc(4);
  if (c) free(p);  // expect: safe freed
  free(p);         // expect: may fail freed
}

void freed_once(int c) {
  int *p = malloc(4);
  if (c) { free(p); p = 0; }
  if (!c) free(p);
}

void freed_in_a_loop(int n) {
  for (int i = 0; i < n; i++) {
    char *p = malloc(10);
    if (!p) return;
    p[0] = 1;  // expect: safe freed
    free(p);   // expect: safe freed
  }
}

void not_allocated(void) {
  int x[2] = {1, unknown()};
  free(x);  // expect: fails always freed
}

void not_the_start(void) {
  char *p = malloc(10);
  if (p) free(p + 1);  // expect: fails always freed
}

extern char *keeper;
void freed_through_another_pointer(void) {
  char *p = malloc(10);
  if (!p) return;
  keeper = p;
  free(keeper);
  p[0] = 1;  // expect: fails always freed
}

void grown(int n) {
  char *p = malloc(4);
  char *q = realloc(p, 8);
  if (q) {
    q[7] = 1;   // expect: safe freed
    free(q);    // expect: safe freed
  } else {
    free(p);    // expect: safe freed
  }
}

void old_one_after_realloc(void) {
  char *p = malloc(4);
  if (!p) return;
  char *q = realloc(p, 8);
  if (q) p[0] = 1;  // expect: fails always freed
}

int of_one_of_two(int n) {
  int *p = n > 1 ? malloc(8) : malloc(4);
  if (!p) return 0;
  p[1] = 3;  // expect: may fail bounds
  free(p);
  return 0;
}

int of_an_unknown_object(int **table, int i) {
  if (!table || !*table) return 0;
  return (*table)[5];  // expect: may fail bounds, safe bounds
}

extern int of_known_size[4], of_any_size[];

int declared(void) {
  return of_known_size[3] +  // expect: safe bounds
         of_any_size[3];     // expect: may fail bounds
}

static _Atomic int ready;
static int message;
extern void start(void (*)(void *), void *);

static void send(void *p) {
  message = 7;
  ready = 1;
}

int received(void) {
  start(send, 0);
  message = 0;
  ready = 0;
  assert(ready == 0);  // expect: may fail assert
  message = 0;
  while (!ready) {
  }
  assert(message == 0);  // expect: may fail assert
  return 0;
}

struct three { char a, b, c; };
struct six { short a, b, c; };
struct seven { char bytes[7]; };
struct __attribute__((packed)) fourteen { double real; short a, b, c; };

static int of_three(struct three s) { return s.c; }
static int of_six(struct six s) { return s.c; }
static int of_seven(struct seven s) { return s.bytes[6]; }
static int of_fourteen(struct fourteen s) { return s.c; }
static struct three turned(struct three s) {
  struct three r = {s.c, s.b, s.a};
  return r;
}

int structs_of_odd_sizes(void) {
  struct three x = {1, 2, 3};
  struct six y = {4, 5, 6};
  struct seven z = {{0, 0, 0, 0, 0, 0, 7}};
  struct fourteen w = {1.5, 8, 9, 10};
  int a = of_three(x);
  int b = of_six(y);
  int c = of_seven(z);
  int d = of_fourteen(w);  // expect: safe bounds
  struct three t = turned(x);
  assert(t.b == 2);      // expect: may fail assert
  assert(t.b != 2);      // expect: fails always assert
  return a + b + c + d;
}

struct mixed { char kind; short values[2]; int number; };

int fields_filled_in_a_loop(int at) {
  struct mixed m[4];
  for (int i = 0; i < 4; i++) {
    m[i].number = i;
    m[i].kind = 1;
  }
  at &= 3;
  return m[at].number + m[at].kind +  // expect: safe uninitialised
         m[at].values[1];             // expect: may fail uninitialised
}

int begun_with_zeros(int at) {
  struct mixed m[4] = {0};
  m[1].number = 3;
  return m[at & 3].number + m[at & 3].values[at & 1];  // expect: safe uninitialised
}

int never_written_members(int at) {
  struct { int n; struct mixed m[4]; } all;
  all.n = 1;
  return all.m[at & 3].kind;  // expect: may fail uninitialised
}

int elements_copied_in_a_loop(int at) {
  struct mixed m[4], one = {1, {2, 3}, 4};
  for (int i = 0; i < 4; i++) m[i] = one;
  return m[at & 3].number;  // expect: safe uninitialised
}

int elements_copied_but_the_first(int at) {
  struct mixed m[4], one = {1, {2, 3}, 4};
  for (int i = 1; i < 4; i++) m[i] = one;
  return m[at & 3].number;  // expect: may fail uninitialised
}

static int sum(struct six s) { return s.a + s.c; }
int filled_and_passed(void) {
  struct six s;
  short *all = &s.a;
  for (int i = 0; i < 3; i++) all[i] = i;
  return sum(s);  // expect: safe uninitialised
}

int half_filled_and_passed(void) {
  struct six s;
  short *all = &s.a;
  for (int i = 0; i < 2; i++) all[i] = i;
  return sum(s);  // expect: may fail uninitialised
}
